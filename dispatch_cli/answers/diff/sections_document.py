"""Parts that the sections of a comparison share: headings, and rows that are grouped or listed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from dispatch_cli.answers.shared.listing import some_of
from dispatch_cli.render.document import Block, Column, Gap, Narrow, Paragraph, ParagraphKind, Run, TableBlock, Tone

FEW = 12
"""Number of rows that are listed one by one; more are grouped."""
MOST = 15
"""Rows of groups that are shown."""
Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


class Fold:
    """Limits of what is shown. each: everything, one by one. left_out: true if something was not shown."""

    def __init__(self, each: bool) -> None:
        self.each = each
        self.left_out = False

    def lists(self, rows: Sequence[object]) -> bool:
        """True if rows are listed one by one."""
        if self.each or len(rows) <= FEW:
            return True
        self.left_out = True
        return False

    def shown(self, rows: Sequence[Item], most: int = MOST) -> Sequence[Item]:
        """The rows that are shown of those that are there."""
        if self.each or len(rows) <= most + 1:
            return rows
        self.left_out = True
        return rows[:most]

    def names(self, names: Sequence[str], most: int = 3) -> str:
        """Names of operators; the first ones of many."""
        return ", ".join(names) if self.each else some_of(names, most)

    def examples(self, names: Callable[[Any], Sequence[str]]) -> Column[Any]:
        """The column with some of the operators of a row, all where everything is shown."""
        return Column(
            "Operators" if self.each else "Such as",
            lambda row, short: Run(self.names(names(row), 2 if short else 3), Tone.DIM),
            Narrow.BELOW,
        )


def heading(text: str) -> Iterator[Block]:
    """The head of a section."""
    yield Gap()
    yield Paragraph(text, kind=ParagraphKind.SECTION)


def table(columns: Sequence[Column[Any]], rows: Sequence[Any], fold: Fold, what: str) -> Iterator[Block]:
    """Rows, and how many more there are. what: what a row is, in the plural."""
    shown = fold.shown(rows)
    yield TableBlock(columns, shown, indent=2)
    if len(shown) < len(rows):
        yield Paragraph(Run(f"and {len(rows) - len(shown):,} more {what}", Tone.DIM), indent=2)


def grouped(rows: Iterable[Item], key: Callable[[Item], Key]) -> list[tuple[Key, list[Item]]]:
    """Rows by what they have in common, the largest groups first."""
    groups: dict[Key, list[Item]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def namespace(operator: str) -> str:
    """The namespace of an operator's name."""
    return operator.partition("::")[0]
