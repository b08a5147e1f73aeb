"""Operators that certainly have another name in another state: those whose functions are known by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dispatch_cli.engine.comparison.operators import OperatorChange
from dispatch_cli.engine.comparison.sides import OperatorView


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
