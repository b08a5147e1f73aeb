"""PyTorch versions that a project allows, as pyproject.toml, setup.py, setup.cfg and requirements*.txt say.

PyTorch's own sources allow the version in their version.txt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from dispatch_cli.declarations.project import project_folder
from dispatch_cli.declarations.source import MAX_PROJECT_BYTES, SourceError, read_plain
from dispatch_cli.files import paths
from dispatch_cli.model.span import Span

MAX_FILES = 20
"""Files with requirements that are read in one folder."""
MAX_REQUIREMENTS = 100
"""Requirements of one file, and clauses of one."""
Version = tuple[int, ...]
_PACKAGING = ("pyproject.toml", "setup.py", "setup.cfg")
_OF_PYTORCH = frozenset(("version.txt", "aten", "c10"))
"""Names in the folder of PyTorch's own sources."""
_TOP = ("aten", "c10", "torch")
"""Folders of PyTorch's own sources."""
_REQUIREMENTS = re.compile(r"requirements[\w.-]*\.txt")
_REQUIREMENT = re.compile(
    r"""
    (?: ^[ \t]* | ["'] | =[ \t]* )
    (?P<name>torch) (?: \s*\[[\w,. -]*\] )? (?: \s*=\s*["'] )?
    \s* (?P<spec> (?:[<>=!~]=|===|[<>^]) \s* [0-9] [^"';#\n]* )
    """,
    re.MULTILINE | re.VERBOSE,
)
"""A requirement on a line of its own, in a string, behind ``install_requires =``, or as Poetry has it."""
_CLAUSE = re.compile(r"\s*(===|[<>=!~]=|[<>^])\s*([0-9]{1,4}(?:\.[0-9]{1,4}){0,3})(\.\*)?[\w.+-]*\s*")


class Requirement(NamedTuple):
    """A requirement on PyTorch. spec: its clauses as they are written, such as ``>=2.4,<3``. span: its place."""

    spec: str
    span: Span


class AllowedState(NamedTuple):
    """The newest state that a project allows.

    name: of the state. requirement: the one that decides; None where the project has none. allowed: False where it
    allows none of the states; then the state is the nearest one.
    """

    name: str
    requirement: Requirement | None = None
    allowed: bool = True


def newest_allowed(folder: str, states: Sequence[str]) -> AllowedState:
    """The newest of *states* that a project allows.

    folder: of its sources; the nearest folder above them that has a requirement counts, inside the project. states:
    names such as ``torch-2.15``, newest first. Of several requirements, the most permissive one counts.
    """
    requirements = _requirements_above(folder)
    if not requirements:
        return AllowedState(states[0])
    for name in states:
        for requirement in requirements:
            if all(_allows(_minor(name), *clause) for clause in _clauses(requirement.spec)):
                return AllowedState(name, requirement)
    first = requirements[0]
    wanted = _clauses(first.spec)[0][1]
    nearest = min(states, key=lambda name: _distance(_minor(name), wanted))
    return AllowedState(nearest, first, allowed=False)


def is_pytorch(folder: str) -> bool:
    """True for PyTorch's own sources: a folder that has ``aten``, ``c10`` and ``torch``, and what is in these."""
    below = ""
    for above in paths.above(folder):
        if below in ("", *_TOP) and all(paths.is_folder(paths.join(above, name)) for name in _TOP):
            return True
        below = above.rpartition("/")[2]
    return False


def _requirements_above(folder: str) -> list[Requirement]:
    project = project_folder(paths.join(folder, "x"))
    for above in paths.above(folder):
        requirements = list(_requirements_in(above, project))
        if requirements or paths.real(above) == project:
            return requirements
    return []


def _requirements_in(folder: str, project: str) -> Iterator[Requirement]:
    try:
        names = sorted(entry.name for entry in paths.each_entry(folder))
    except OSError:
        return
    listed = [name for name in names if _REQUIREMENTS.fullmatch(name)]
    is_pytorch = _OF_PYTORCH.issubset(names)
    files = ["version.txt"] if is_pytorch else [*(name for name in _PACKAGING if name in names), *listed]
    for name in files[:MAX_FILES]:
        path = paths.join(folder, name)
        try:
            text = read_plain(path, MAX_PROJECT_BYTES, project or None).decode("utf-8-sig", "replace")
        except SourceError:
            continue
        yield from _requirements_of(f"torch=={text}" if is_pytorch else text, paths.shown(path))


def _requirements_of(text: str, file: str) -> Iterator[Requirement]:
    for match in islice(_REQUIREMENT.finditer(text), MAX_REQUIREMENTS):
        spec, start = match["spec"].strip(), match.start("name")
        line_start = text.rfind("\n", 0, start) + 1
        if _clauses(spec) and "#" not in text[line_start:start]:
            yield Requirement(spec, Span(file, text.count("\n", 0, start) + 1, start - line_start + 1))


def _clauses(spec: str) -> list[tuple[str, Version, bool]]:
    """The clauses of a requirement: operator, version, and whether it ends with ``.*``; none if one is not known."""
    clauses = []
    for part in spec.rstrip(" ,").split(",", MAX_REQUIREMENTS):
        match = _CLAUSE.fullmatch(part)
        if match is None:
            return []
        clauses.append((match[1], tuple(map(int, match[2].split("."))), match[3] is not None))
    return clauses


def _allows(version: Version, operator: str, wanted: Version, is_prefix: bool) -> bool:
    """True if a clause allows a release of a minor version, such as 2.4 (PEP 440; ``^`` as in Poetry)."""
    minor = (*wanted, 0)[:2]
    match operator:
        case "==" | "===":
            return version[: len(wanted)] == wanted[:2] if is_prefix else version == minor
        case "!=":
            return not (is_prefix and version[: len(wanted)] == wanted)
        case "<":
            return version < minor or (version == minor and any(wanted[2:]))
        case "<=":
            return version <= minor
        case "~=" | "^":
            same = 1 if operator == "^" else len(wanted) - 1
            return version >= minor and version[:same] == minor[:same]
        case _:
            return version >= minor


def _minor(state: str) -> Version:
    return tuple(map(int, state.removeprefix("torch-").split(".")))


def _distance(version: Version, wanted: Version) -> int:
    major, minor, *_ = (*wanted, 0)
    return abs(100 * (version[0] - major) + version[1] - minor)
