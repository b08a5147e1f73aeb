"""Reading a project as ``extract`` does."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

from dispatch_cli.extract.cpp import extract_cpp
from dispatch_cli.extract.settings import ReadSettings
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.extracted import Extraction, SourceKind
from tests.extract.projects.project import Project

SUFFIXES = {
    SourceKind.PYTHON: {".py"},
    SourceKind.CPP: {".cpp", ".cc", ".c", ".cu", ".mm", ".h", ".hpp", ".cuh"},
}


def sources_of(project: Project, root: Path) -> Sources:
    """The files of a project that are in the recorded build, with their settings."""

    def name(path: Path) -> str:
        return path.relative_to(root).as_posix()

    files: dict[SourceKind, list[str]] = {SourceKind.PYTHON: [], SourceKind.CPP: []}
    for path in sorted(root.rglob("*")):
        for kind, suffixes in SUFFIXES.items():
            if path.suffix in suffixes and not any(fnmatch(name(path), glob) for glob in project.excluded):
                files[kind].append(str(path))

    def settings(file: str) -> ReadSettings:
        return project.settings_of(name(Path(file)))

    return Sources(files, headers=frozenset(files[SourceKind.CPP]), settings=settings)


def extract(project: Project, sources: Sources) -> list[Extraction]:
    """Extractions of its sources; Python only if the recording has Python."""
    extractions = [extract_cpp(sources)]
    if project.python:
        from dispatch_cli.extract.python import extract_python

        extractions.append(extract_python(sources))
    return extractions
