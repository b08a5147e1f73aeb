"""Macros of headers that stand for a registration block, where they are the only sign of one in a file."""

from __future__ import annotations

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
    ['#include "u/ops.h"', "#include <u/ops.h>", '#include "../include/u/ops.h"', '#include "made/by/build.h"'],
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


def test_a_long_name_takes_linear_time(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("X" + "_LIBRARY" * 100_000)
    start = time.process_time()
    project = CppProject(Sources({SourceKind.CPP: [str(tmp_path / "a.cpp")]}))
    assert not project.mains and time.process_time() - start < 3
