"""Where a table that a text prints differs from the one here, as far as the text shows it."""

from __future__ import annotations

from collections.abc import Container, Iterator
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import Table, TableEntry
from dispatch_cli.model.debug_text import source_file
from dispatch_cli.model.universe import UNDEFINED
from dispatch_cli.report.error_lines import DumpLine
from dispatch_cli.report.printed_table import PrintedTable


class DifferenceKind(Enum):
    """How the printed table differs from ours; the value is the name in machine formats.

    NO_KEY: the universe does not know the key.
    """

    ONLY_THERE = "only-there"
    ONLY_HERE = "only-here"
    RULE = "rule"
    KERNEL = "kernel"
    NO_KEY = "no-key"


class TextDifference(NamedTuple):
    """Slots that differ in one way. there: what the text says; None where it has nothing. here: what we say."""

    kind: DifferenceKind
    keys: tuple[str, ...]
    there: DumpLine | None
    here: DumpLine | None


def text_differences(table: Table, shown: PrintedTable, ignored: Container[str]) -> Iterator[TextDifference]:
    """What differs at the keys that the text shows. ignored: keys that are not compared."""
    groups: dict[tuple[object, ...], list[tuple[DifferenceKind, str, DumpLine | None, DumpLine | None]]] = {}
    for key in table:
        if key in ignored or not shown.sure_of(key) or (key == UNDEFINED and key not in shown.lines):
            continue  # Undefined is in no list
        there, here = shown.lines.get(key), _line(table[key])
        kind = _kind(there, here) if there is not None or not shown.lists(key) else _kind_of_listed(table[key])
        if kind is not None:
            kernels = (there and source_file(there.kernel), here and source_file(here.kernel))
            answer = (kind, there and there[1:], here and here[1:], kind is DifferenceKind.KERNEL and kernels)
            groups.setdefault(answer, []).append((kind, key, there, here))
    for found in groups.values():
        kind, _, there, here = found[0]
        yield TextDifference(kind, tuple(key for _, key, _, _ in found), there, here)
    unknown = tuple(key for key in shown.unknown if key not in ignored)
    if unknown:
        yield TextDifference(DifferenceKind.NO_KEY, unknown, None, None)


def _kind_of_listed(entry: TableEntry) -> DifferenceKind | None:
    """A key that a list names holds something; the list does not say what."""
    return DifferenceKind.ONLY_THERE if entry.rule is Rule.MISSING else None


def _line(entry: TableEntry) -> DumpLine | None:
    return None if entry.kernel is None else DumpLine(entry.kernel.debug, entry.is_fallthrough, entry.rule)


def _kind(there: DumpLine | None, here: DumpLine | None) -> DifferenceKind | None:
    if there is None or here is None:
        return None if there is here else DifferenceKind.ONLY_HERE if there is None else DifferenceKind.ONLY_THERE
    if (there.rule, there.fallthrough) != (here.rule, here.fallthrough):
        return DifferenceKind.RULE
    files = (source_file(there.kernel), source_file(here.kernel))
    return DifferenceKind.KERNEL if all(files) and files[0] != files[1] else None
