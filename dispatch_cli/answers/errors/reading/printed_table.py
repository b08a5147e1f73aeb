"""The part of an operator's dispatch table that a text shows. People paste first lines, ends, and parts in between."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from dispatch_cli.answers.errors.read import ErrorText
from dispatch_cli.answers.errors.reading.printed_keys import are_indices, is_old, key_named
from dispatch_cli.answers.errors.reading.table_lines import DumpLine
from dispatch_cli.engine.keys.autograd import autograd_key_of
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.universe import AUTOGRAD, BACKEND_SELECT, Universe


class PrintedTable(NamedTuple):
    """A table in a text, by the keys of the universe.

    lines: those of the table. listed: the keys that the first line lists; None where it lists none, or wrong ones.
    whole_table, whole_list: the text shows all of it. reaches: the slots from Undefined to the last that the text
    shows; of these it is known what they hold.
    """

    lines: dict[str, DumpLine]
    listed: frozenset[str] | None
    whole_table: bool
    whole_list: bool
    reaches: frozenset[str]

    def kernels(self, universe: Universe) -> tuple[str, ...] | None:
        """The backend keys where the text shows a kernel of the operator, in the order of tables; None: it shows none.

        A list of keys does not say which of them hold a backend fallback: Meta is left out then, where PyTorch has one.
        """
        if self.lines and (self.listed is None or not self.whole_list):
            shown = {key for key, line in self.lines.items() if line.rule is not Rule.FALLBACK}
        elif self.listed is not None:
            core = {fallback.key for fallback in universe.fallbacks if fallback.key not in self.lines}
            fallen = {key for key, line in self.lines.items() if line.rule is Rule.FALLBACK}
            shown = {*self.listed} - core - fallen
        else:
            return None
        kernels = [key for key in universe.runtime if key in shown and autograd_key_of(universe, key) is not None]
        return tuple(kernels) if kernels or self.shows_backends(universe) else None

    def shows_backends(self, universe: Universe) -> bool:
        """True if the text tells of every backend key whether there is a kernel."""
        return all(key in self.reaches for key in universe.runtime if autograd_key_of(universe, key) is not None)

    def may_have(self, key: str) -> bool:
        """True for a listed key at which the text does not tell a kernel of the operator from a fallback."""
        return self.lists(key) and key not in self.lines

    def has_autograd(self, universe: Universe) -> bool:
        """True if the text shows a kernel of the operator at autograd keys, and not PyTorch's fallbacks alone."""
        core = {fallback.key for fallback in universe.fallbacks}
        keys = universe.covered_by(AUTOGRAD)
        shown = (key for key, line in self.lines.items() if line.rule is not Rule.FALLBACK)
        return any(key in keys for key in shown) or any(self.lists(key) for key in keys if key not in core)

    def lists(self, key: str) -> bool:
        """True if the first line names a key."""
        return self.listed is not None and key in self.listed


def printed_table(universe: Universe, text: ErrorText) -> PrintedTable:
    """The table in an error text."""
    lines = {key: line for name, line in text.dump.items() if (key := _slot(universe, name))}
    listed = None
    if text.available is not None and not are_indices(text.available):
        listed = frozenset(key for name in text.available if (key := _slot(universe, name)))
    whole_list = listed is not None and _is_whole_list(universe, text)
    whole_table = bool(lines) and _is_whole(universe, lines, listed if whole_list else None)
    # of a list that was shortened by hand it is not known what is left out
    listed_to = [listed or ()] if text.available_cut else []
    begins = bool(lines) and min(universe.slot[key] for key in lines) <= universe.slot[BACKEND_SELECT]
    cut = [*([lines] if begins else []), *listed_to]
    whole = whole_list or whole_table
    reached = universe.slots if whole else (*_up_to(universe, cut), *lines, *(listed or ()))
    return PrintedTable(lines, listed, whole_table, whole_list, frozenset(reached))


def _slot(universe: Universe, name: str) -> str | None:
    key = key_named(universe, name)
    return key if key in universe.slot else None


def _is_whole(universe: Universe, lines: Collection[str], listed: frozenset[str] | None) -> bool:
    """A table has a line for each key of a whole list, or else reaches the last of PyTorch's fallbacks."""
    if listed is not None:
        return listed.issubset(lines)
    slots = [universe.slot[key] for key in lines]
    fallbacks = [universe.slot[fallback.key] for fallback in universe.fallbacks]
    return max(slots) >= max(fallbacks) and min(slots) <= universe.slot[BACKEND_SELECT]


def _is_whole_list(universe: Universe, text: ErrorText) -> bool:
    """True for a list of keys as PyTorch wrote it, not shortened by hand.

    Every PyTorch since 1.6 ends it with fallbacks at keys above those of autograd; older ones have names of their own.
    """
    if text.available_cut or not text.available:
        return False
    last = key_named(universe, text.available[-1]) or ""
    above = max(universe.slot[key] for key in universe.covered_by(AUTOGRAD))
    return is_old(text.available[-1]) or universe.slot.get(last, 0) > above


def _up_to(universe: Universe, shown: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """The slots up to the last that is shown. Lines are in the order of slots, and a cut text begins with the first."""
    last = max((universe.slot[key] for keys in shown for key in keys), default=-1)
    return universe.slots[: last + 1]
