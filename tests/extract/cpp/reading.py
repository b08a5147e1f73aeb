"""Sources that exist only in a test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dispatch_cli.extract.cpp import extract_cpp
from dispatch_cli.extract.settings import ReadSettings
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.extracted import Extraction, SourceKind


def extracted(folder: Path, files: Mapping[str, str] | str, settings: ReadSettings | None = None) -> Extraction:
    """Extraction of the C++ files of a project; one text is the file ``a.cpp``."""
    texts = {"a.cpp": files} if isinstance(files, str) else files
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    names = [str(folder / name) for name in texts]
    chosen = settings or ReadSettings()
    return extract_cpp(Sources({SourceKind.CPP: names}, frozenset(names), (str(folder),), lambda _: chosen))
