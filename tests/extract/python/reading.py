"""Reads Python sources that a test writes down."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from dispatch_cli.extract.python import extract_python
from dispatch_cli.extract.settings import ReadSettings
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.extracted import Extraction, SourceKind


def read_files(folder: Path, files: dict[str, str], settings: ReadSettings | None = None) -> Extraction:
    """Extraction of the files. files: their texts by name, below the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    given = settings or ReadSettings()
    paths = tuple(str(folder / name) for name in files)
    return extract_python(Sources({SourceKind.PYTHON: paths}, settings=lambda _: given))


def read_text(folder: Path, text: str, settings: ReadSettings | None = None) -> Extraction:
    """Extraction of one file."""
    return read_files(folder, {"ops.py": text}, settings)


def places(extraction: Extraction) -> list[tuple[str, int]]:
    """The kind and line of each thing that was found."""
    return [(type(item).__name__, item.at.line) for item in extraction.found]
