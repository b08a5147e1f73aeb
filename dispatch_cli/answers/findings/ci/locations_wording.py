"""Places as the formats of CI systems want them: paths relative to the root of the run, with forward slashes."""

from __future__ import annotations

from pathlib import Path, PurePath

from dispatch_cli.model.span import Span

STANDARD_INPUT = "-"
"""The file of a span that comes from standard input; no CI system can show it."""


def relative_path(file: str, root: Path) -> str:
    """*file* relative to *root*, where it lies below it; otherwise the absolute path. Symbolic links are kept."""
    parts: list[str] = []
    absolute = PurePath(root, file)
    for part in absolute.parts:
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part != "..":
            parts.append(part)
    path = PurePath(*parts)
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def place_text(span: Span, root: Path) -> str:
    """File, line and column of a place."""
    file = span.file if span.file == STANDARD_INPUT else relative_path(span.file, root)
    return f"{file}:{span.line}:{span.column}"
