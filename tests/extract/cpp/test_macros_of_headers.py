"""Macros of headers that stand for a registration block, where they are the only sign of one in a file."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from dispatch_cli.extract.cpp import extract_cpp
from dispatch_cli.extract.cpp.project import CppProject
from dispatch_cli.extract.kinds import is_header
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.extracted import ExtractedKernel, Extraction, SourceKind

REG = "#pragma once\n#define REG(K, E, F) TORCH_LIBRARY_IMPL({}, K, m) {{ m.impl(E, F); }}\n"


def kernels(folder: Path, files: Mapping[str, str]) -> list[tuple[object, object, object]]:
    extraction = extracted(folder, files)
    assert extraction.not_understood == ()
    return [(item.operator, item.key, item.kernel) for item in extraction.found if isinstance(item, ExtractedKernel)]


def extracted(folder: Path, files: Mapping[str, str]) -> Extraction:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    names = {name: str(folder / name) for name in files}
    sources = [path for name, path in names.items() if not is_header(name)]
    return extract_cpp(Sources({SourceKind.CPP: sources}, frozenset(names.values())))


@pytest.mark.parametrize(
    "include",
    ['#include "u/ops.h"', '#include "made/by/build.h"'],
)
def test_a_macro_of_a_header(tmp_path: Path, include: str) -> None:
    """Also where no ``#include`` is known to lead to the header."""
    files = {"include/u/ops.h": REG.format("my"), "src/a.cu": f'#include {include}\nREG(CUDA, "f", f_cuda)\n'}
    assert kernels(tmp_path, files) == [("my::f", "CUDA", "f_cuda")]


def test_a_macro_of_a_header_that_uses_those_of_another(tmp_path: Path) -> None:
    files = {
        "a/base.h": REG.format("my"),
        "a/more.h": '#include "base.h"\n#define BOTH(E, F) \\\n  REG(CPU, E, F) \\\n  REG(CUDA, E, F)\n',
        "src/a.cpp": 'BOTH("f", f)\n',
    }
    assert kernels(tmp_path, files) == [("my::f", "CPU", "f"), ("my::f", "CUDA", "f")]


def test_the_included_header_counts_and_else_the_nearest(tmp_path: Path) -> None:
    files = {
        "a/reg.h": REG.format("of_a"),
        "b/reg.h": REG.format("of_b"),
        "b/src/included.cpp": '#include "../../a/reg.h"\nREG(CPU, "f", f)\n',
        "b/src/near.cpp": 'REG(CPU, "g", g)\n',
        "b/src/own.cpp": f'{REG.format("own")}REG(CPU, "h", h)\n',
    }
    assert [name for name, _, _ in kernels(tmp_path, files)] == ["of_a::f", "of_b::g", "own::h"]


def test_other_macros_of_headers_are_not_looked_for(tmp_path: Path) -> None:
    files = {"a.h": "#define REG(K) run_all(K);\n#define OTHER REG\n", "b.cpp": 'REG("TORCH")\nOTHER("x")\n'}
    assert kernels(tmp_path, files) == []


# Macros that stand for registration blocks through many others.


COUNT = 1_500


def test_a_long_chain_of_macros_takes_linear_time(tmp_path: Path) -> None:
    chain = "".join(f"#define M{number}(a, b) M{number + 1}(a, b)\n" for number in range(COUNT))
    (tmp_path / "a.h").write_text(f"{chain}#define M{COUNT}(a, b) TORCH_LIBRARY(a, b)\n")
    (tmp_path / "a.cpp").write_text("M0(my, m) {}\n")
    (tmp_path / "b.cpp").write_text("M(my, m) {}\n")
    files = [str(tmp_path / name) for name in ("a.cpp", "b.cpp")]
    start = time.process_time()
    project = CppProject(Sources({SourceKind.CPP: files}, frozenset((*files, str(tmp_path / "a.h")))))
    assert project.mains == files[:1]
    assert time.process_time() - start < 3


# The macros of PyTorch's headers that are known as data, against the headers.


INCLUDES = "#include <ATen/autocast_mode.h>\n#include <ATen/functorch/BatchRulesHelper.h>\n"
MACROS = """
TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  KERNEL_CPU(softmax, int, fp32)
  KERNEL_PRIVATEUSEONE(relu, lower_precision_fp)
  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_CUDA(ADD_NS(norm), "norm.Scalar", S(T), S(T), fp32_append_dtype)
}
TORCH_LIBRARY_IMPL(aten, FuncTorchBatched, m) {
  VMAP_SUPPORT(add, SINGLE_ARG(f<int, 2>));
  VMAP_SUPPORT2(add, Tensor, g);
  OP_DECOMPOSE(foo);
  OP_DECOMPOSE2(foo, bar);
  POINTWISE_BOXED(a);
  POINTWISE_BOXED2(x, y);
  UNARY_POINTWISE(sin);
  VARIADIC_BDIMS(b);
  VARIADIC_BDIMS2(b, out);
  VARIADIC_BDIMS_BOXED(c);
  EXISTING_BDIM(d);
  EXISTING_BDIM2(d, out);
  EXISTING_BDIM_ALL_BOXED(z);
  ALL_TENSORS_HAVE_OPTIONAL_BDIM_BOXED(3, q);
  ALL_TENSORS_HAVE_OPTIONAL_BDIM_BOXED_CONTIG1(3, r, 2);
}
"""
LISTS = """
#define LOWER(...) KERNEL_CUDA(__VA_ARGS__, lower_precision_fp)
#define FULL(...) KERNEL_CUDA(__VA_ARGS__, fp32)
TORCH_LIBRARY_IMPL(aten, Autocast, m) {
  AT_FORALL_LOWER_PRECISION_FP(LOWER)
  AT_FORALL_FP32(FULL)
  AT_FORALL_FP32_SET_OPT_DTYPE(FULL)
  AT_FORALL_PROMOTE(FULL)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
}
"""


def operators(path: Path, text: str, include: tuple[str, ...]) -> list[tuple[object, object, bool, int]]:
    path.write_text(text, encoding="utf-8")
    extraction = extract_cpp(Sources({SourceKind.CPP: [str(path)]}, frozenset(), include))
    assert extraction.not_understood == ()
    kernels = [item for item in extraction.found if isinstance(item, ExtractedKernel)]
    return [(kernel.operator, kernel.key, kernel.boxed_only, kernel.at.line) for kernel in kernels]


def test_they_are_known_without_the_headers(tmp_path: Path) -> None:
    result = operators(tmp_path / "a.cpp", INCLUDES + MACROS, ())
    assert [name for name, key, _, _ in result if key == "AutocastPrivateUse1"] == [
        *("aten::softmax.int", "aten::relu", "aten::norm.Scalar")
    ]
    assert [str(name) for name, _, boxed, _ in result if boxed] == [
        f"aten::{name}" for name in ("a", "x.y", "c", "z", "q", "r")
    ]
    assert ("aten::foo.bar", "FuncTorchBatched", False, 13) in result


def test_a_definition_of_the_project_comes_first(tmp_path: Path) -> None:
    own = '#define OP_DECOMPOSE(op) m.impl("mine::" #op, f);\n'
    result = operators(tmp_path / "a.cpp", own + "TORCH_LIBRARY_IMPL(mine, CPU, m) { OP_DECOMPOSE(x) }\n", ())
    assert result == [("mine::x", "CPU", False, 2)]


@pytest.mark.live
@pytest.mark.parametrize("text", [MACROS, LISTS], ids=["macros", "lists"])
def test_they_register_what_the_headers_say(tmp_path: Path, text: str) -> None:
    python = os.environ.get("DISPATCH_CLI_TORCH_PYTHON")
    if not python:
        pytest.skip("DISPATCH_CLI_TORCH_PYTHON is not set")
    command = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    packages = Path(subprocess.run([python, "-c", command], capture_output=True, text=True, check=True).stdout.strip())
    if text is LISTS and "'2.13." not in (packages / "torch/version.py").read_text(encoding="utf-8"):
        pytest.skip("the lists are those of PyTorch 2.13")
    include = str(packages / "torch" / "include")
    assert operators(tmp_path / "a.cpp", INCLUDES + text, ()) == operators(
        tmp_path / "a.cpp", INCLUDES + text, (include,)
    )
