"""Macros of headers: of PyTorch's, those that are known as data, against the headers; and long chains of them."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from dispatch_cli.extract.cpp.preprocessor.project import CppProject
from dispatch_cli.extract.cpp.run import extract_cpp
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.sources.extracted import ExtractedKernel, SourceKind

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
    kernels = [item for item in extraction.items if isinstance(item, ExtractedKernel)]
    return [(kernel.operator, kernel.key, kernel.boxed_only, kernel.at.line) for kernel in kernels]


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
