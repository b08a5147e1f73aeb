"""Operators that have another name in another state: certainly so, or probably."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.comparison.identity import same_kernel
from dispatch_cli.engine.comparison.operators import OperatorChange
from dispatch_cli.engine.comparison.sides import OperatorView, Side


class Likeness(Enum):
    """Respect in which two operators of different names are alike; the value is the name in machine formats."""

    SCHEMA_AND_KERNELS = "schema-and-kernels"
    """The schema but for the name, and the same kernels at the same keys, some of them known by their source file."""
    NAME_AND_SCHEMA = "name-and-schema"
    """The name but for the overload, and the schema."""


class Rename(NamedTuple):
    """An operator that one state has alone, and the one that may be the same in the other state."""

    old: str
    new: str
    likeness: Likeness


def renames(old: Side, new: Side, name: str) -> tuple[Rename, ...]:
    """The operators of the other side that an operator may be, which one side has alone: those most alike.

    They are alone in the other side, too. No rename is certain: no build says that an operator was renamed.
    """
    gone, came = set(old.names) - set(new.names), set(new.names) - set(old.names)
    if name in gone:
        candidates = [Rename(name, other, how) for other, how in _alike(old, name, new, came)]
    else:
        candidates = [Rename(other, name, how) for other, how in _alike(new, name, old, gone)]
    best = [rename for rename in candidates if rename.likeness is Likeness.SCHEMA_AND_KERNELS]
    return tuple(best or candidates)


def _alike(side: Side, name: str, other: Side, candidates: set[str]) -> Iterator[tuple[str, Likeness]]:
    view = side.view(name)
    if view is None or view.schema is None:
        return
    for candidate in sorted(candidates):
        its = other.view(candidate)
        if its is None or its.schema is None or _signature(its) != _signature(view):
            continue
        if _same_kernels(view, its):
            yield candidate, Likeness.SCHEMA_AND_KERNELS
        elif side.names[name].name == other.names[candidate].name:
            yield candidate, Likeness.NAME_AND_SCHEMA


def _signature(view: OperatorView) -> str:
    """The schema without the name."""
    assert view.schema is not None
    return view.schema.removeprefix(view.name)


def _same_kernels(view: OperatorView, other: OperatorView) -> bool:
    pairs = [(kernels[0], other.kernels.get(key, kernels)[0]) for key, kernels in view.kernels.items()]
    files = any(mine.identity.file is not None and mine.identity == its.identity for mine, its in pairs)
    return view.kernels.keys() == other.kernels.keys() and files and all(same_kernel(*pair) for pair in pairs)


class CertainRename(NamedTuple):
    """One operator under two names."""

    old: str
    new: str


def certain_renames(changes: Iterable[OperatorChange]) -> tuple[CertainRename, ...]:
    """The operators that were only given another name, in the order of the old names.

    This is shown where their schemas are equal but for the names, the same functions are registered by name at the same
    keys, and no other operator that came or went is like them. A source file is no proof: it has many functions.
    """
    gone: dict[object, list[str]] = {}
    added: dict[object, list[str]] = {}
    for change in changes:
        if change.before is None or change.after is None:
            view, names = (change.before, gone) if change.after is None else (change.after, added)
            content = None if view is None else _content(view)
            if content is not None:
                names.setdefault(content, []).append(change.name)
    pairs = ((old, added[content]) for content, old in gone.items() if content in added)
    return tuple(sorted(CertainRename(old[0], new[0]) for old, new in pairs if len(old) == len(new) == 1))


def _content(view: OperatorView) -> object | None:
    """The content that a rename keeps; None where nothing can show that two operators are the same."""
    kernels = [(key, kernel.identity) for key, group in view.kernels.items() for kernel in group]
    if view.schema is None or not any(identity.name for _, identity in kernels):
        return None
    if any(identity.name is None and not identity.fallthrough for _, identity in kernels):
        return None
    python = frozenset(view.python_kernels.items())
    return view.schema.removeprefix(view.name), view.alias_analysis, view.tags, frozenset(kernels), python
