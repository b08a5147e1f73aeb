"""Helpers of the tests of declarations."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.declarations.loader import load
from dispatch_cli.model.declarations import Declarations
from dispatch_cli.model.problem import InputError, Problem


def write(folder: Path, text: str | bytes, name: str = "x.yaml") -> str:
    """Write a file and give its path."""
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def read(folder: Path, text: str, name: str = "x.yaml") -> Declarations:
    """The declarations of one file."""
    return load([write(folder, text, name)])


def refused(*paths: str, **options: str | list[str]) -> tuple[Problem, ...]:
    """The problems of files that must have some."""
    with pytest.raises(InputError) as caught:
        load(paths, **options)  # type: ignore[arg-type]
    return caught.value.problems


def shown(folder: Path, problems: tuple[Problem, ...]) -> str:
    """Problems, whole, one after the other, without the folder of their files."""
    return "".join(_shown(problem) for problem in problems).replace(f"{folder}/", "")


def _shown(problem: Problem) -> str:
    lines = [f"{problem.span} {problem.code}: {problem.message}"]
    if problem.line_text is not None:
        lines.append(f"  | {problem.line_text}")
    if problem.hint is not None:
        lines.append(f"  hint: {problem.hint}")
    lines += [f"  see {related.span}: {related.message}" for related in problem.related]
    return "\n".join([*lines, ""])
