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

    lines: their cells have at most a few characters. width: of the terminal, None for no limit. heads: of the columns.
    """

    def __init__(self, backends: Sequence[str], lines: Sequence[Line], width: int | None) -> None:
        self._backends = backends
        self._lines = [(safe(label), cells) for label, cells in lines]
        self._room = width
        self.label_width = max((len(label) for label, _ in self._lines), default=0)
        self.heads = self._chosen_heads()

    def blocks(self) -> Iterator[Block]:
        """The grid, in as many parts as the width asks for, a gap after each."""
        for start, stop in self.parts():
            yield from self._block(start, stop)

    def parts(self) -> Iterator[tuple[int, int]]:
        """The parts that the width asks for: the first column, and the one behind the last."""
        start, used = 0, self.label_width
        for position, head in enumerate(self.heads):
            width = 1 + cell_width(head)
            if self._room is not None and position > start and used + width > self._room:
                yield start, position
                start, used = position, self.label_width
            used += width
        if self.heads:
            yield start, len(self.heads)

    def abbreviations(self) -> Iterator[Block]:
        """What the shortened heads stand for."""
        pairs = zip(self._backends, self.heads, strict=True)
        shortened = [f"{head} {name}" for name, head in pairs if head != safe(name)]
        if shortened:
            yield Paragraph(Run(", ".join(shortened), Tone.DIM))

    def _chosen_heads(self) -> list[str]:
        """The head of each backend: its name where all have room, an abbreviation otherwise."""
        names = [safe(name) for name in self._backends]
        if self._room is None or self.label_width + sum(1 + cell_width(name) for name in names) <= self._room:
            return names
        taken = [_abbreviation(name) for name in names]
        return [short if taken.count(short) == 1 else name for name, short in zip(names, taken, strict=True)]

    def _block(self, start: int, stop: int) -> Iterator[Block]:
        heads = self.heads[start:stop]
        head = "".join(f" {short:<{cell_width(short)}}" for short in heads)
        found = [Run(f"{'':<{self.label_width}}{head}".rstrip(), Tone.HEAD)]
        for label, cells in self._lines:
            found.append(Run(f"{label:<{self.label_width}}", breaks=True))
            blanks = 1
            for cell, short in zip(cells[start:stop], heads, strict=True):
                found += [Run(" " * blanks), *cell]
                blanks = 1 + cell_width(short) - sum(len(run.text) for run in cell)
        yield Paragraph(tuple(found), kind=ParagraphKind.CODE)
        yield Gap()


def _abbreviation(name: str) -> str:
    """``PrivateUse1`` is PU1: capitals and digits of a long name, or its beginning where that says too little."""
    if len(name) <= MAX_HEAD:
        return name
    initials = "".join(_INITIALS.findall(name))
    return initials if 2 <= len(initials) <= MAX_HEAD else name[:MAX_HEAD]


def cell_width(head: str) -> int:
    """The width of the cells below a head."""
    return max(len(head), 2)
