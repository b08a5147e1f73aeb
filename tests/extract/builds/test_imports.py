"""Imports of Python modules, as the text says them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dispatch_cli.extract.builds.imports import ModuleImports
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.extracted import SourceKind

TEXTS = (
    "from " + "." * 200_000 + "x",
    "from a import (\n" * 100_000,
    "from a import b" + " " * 200_000 + "c",
    "import " + "a." * 100_000 + "b",
    "from " + "." * 50_000 + " import " + ", ".join(f"a{number}" for number in range(5_000)),
)


@pytest.mark.parametrize("text", TEXTS)
def test_reading_takes_linear_time(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.py").write_text(text)
    files = [str(tmp_path / "a.py"), str(tmp_path / "b.py")]
    (tmp_path / "b.py").write_text("from . import a")
    start = time.process_time()
    assert ModuleImports(Sources({SourceKind.PYTHON: files})).load_both(*files)
    assert time.process_time() - start < 3
