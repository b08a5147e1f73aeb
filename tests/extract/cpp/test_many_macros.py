"""Macros that stand for registration blocks through many others."""

from __future__ import annotations

import time
from pathlib import Path

from dispatch_cli.extract.cpp.project import CppProject
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.extracted import SourceKind

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
