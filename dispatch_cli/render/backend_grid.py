"""Something about every key that is per backend, as a grid: functionalities down, backends across."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dispatch_cli.render.document import Block, Gap, Paragraph, ParagraphKind, Run, Tone
from dispatch_cli.render.text_safety import safe

Line = tuple[str, Sequence[tuple[Run, ...]]]
"""A label, and a cell for each backend."""

MAX_HEAD = 4
"""Columns that the head of a backend takes where its whole name has no room."""
_INITIALS = re.compile(r"[A-Z0-9]")


class BackendGrid:
    """Lines of cells, one for each backend; heads are shortened, and the grid is cut, where the width asks for it.

    lines: their cells have at most a few characters. width: of the terminal, None for no limit.
    """

    def __init__(self, backends: Sequence[str], lines: Sequence[Line], width: int | None) -> None:
        self._backends = backends
        self._lines = [(safe(label), cells) for label, cells in lines]
        self._room = width
        self._label_width = max((len(label) for label, _ in self._lines), default=0)
        self._heads = self._chosen_heads()

    def blocks(self) -> Iterator[Block]:
        """The grid, in as many parts as the width asks for, a gap after each."""
        start, used = 0, self._label_width
        for position, head in enumerate(self._heads):
            width = 1 + _cell_width(head)
            if self._room is not None and position > start and used + width > self._room:
                yield from self._block(start, position)
                start, used = position, self._label_width
            used += width
        if self._heads:
            yield from self._block(start, len(self._heads))

    def abbreviations(self) -> Iterator[Block]:
        """What the shortened heads stand for."""
        pairs = zip(self._backends, self._heads, strict=True)
        shortened = [f"{head} {name}" for name, head in pairs if head != safe(name)]
        if shortened:
            yield Paragraph(Run(", ".join(shortened), Tone.DIM))

    def _chosen_heads(self) -> list[str]:
        """The head of each backend: its name where all have room, an abbreviation otherwise."""
        names = [safe(name) for name in self._backends]
        if self._room is None or self._label_width + sum(1 + _cell_width(name) for name in names) <= self._room:
            return names
        taken = [_abbreviation(name) for name in names]
        return [short if taken.count(short) == 1 else name for name, short in zip(names, taken, strict=True)]

    def _block(self, start: int, stop: int) -> Iterator[Block]:
        heads = self._heads[start:stop]
        head = "".join(f" {short:<{_cell_width(short)}}" for short in heads)
        found = [Run(f"{'':<{self._label_width}}{head}".rstrip(), Tone.HEAD)]
        for label, cells in self._lines:
            found.append(Run(f"{label:<{self._label_width}}", breaks=True))
            blanks = 1
            for cell, short in zip(cells[start:stop], heads, strict=True):
                found += [Run(" " * blanks), *cell]
                blanks = 1 + _cell_width(short) - sum(len(run.text) for run in cell)
        yield Paragraph(tuple(found), kind=ParagraphKind.CODE)
        yield Gap()


def _abbreviation(name: str) -> str:
    """``PrivateUse1`` is PU1: capitals and digits of a long name, or its beginning where that says too little."""
    if len(name) <= MAX_HEAD:
        return name
    initials = "".join(_INITIALS.findall(name))
    return initials if 2 <= len(initials) <= MAX_HEAD else name[:MAX_HEAD]


def _cell_width(head: str) -> int:
    return max(len(head), 2)
