"""The work that a run over sources may do. A few hundred bytes can ask for any amount of it.

Every reader spends from one budget, wherever it makes, visits or compares something. One unit is the work of a token or
of an evaluated expression, about a microsecond or two. Each file has a share, which grows with its size; where that is
spent, the rest of the file is not understood, and the run goes on with the next file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from contextlib import contextmanager

from dispatch_cli.model.span import Span

RUN_UNITS = 30_000_000
"""Units of a run."""
FREE_UNITS, UNITS_PER_BYTE = 1_000_000, 20
"""Units of a file whatever its size, and for each of its bytes."""
FILE_UNITS = 8_000_000
"""Units of one file, however large it is."""
MAX_MADE = 1 << 20
"""Characters of a text that is made of others, and parts of one construct, such as tokens of a block."""
CHARACTERS = 64
"""So many characters that are made cost one unit."""


class OverWork(Exception):
    """A budget is spent, or one thing is larger than any may be; with bound=False, a construct does not end.

    The rest of the file is not read. why, bound: as in `NotUnderstood`; why has no full stop. at: the place of the
    construct, where it is known.
    """

    def __init__(self, why: str, at: Span | None = None, bound: bool = True) -> None:
        super().__init__(why)
        self.why, self.at, self.bound = why, at, bound


def check_size(parts: Sized) -> None:
    """Refuse a construct with more parts than any may have. Errors: OverWork."""
    if len(parts) > MAX_MADE:
        raise OverWork(f"this has more than {MAX_MADE:,} parts")


class WorkBudget:
    """The units that a run may still spend.

    spent: the units of each file that had a share, by its name.
    """

    def __init__(self, units: int = RUN_UNITS) -> None:
        self.spent: dict[str, int] = {}
        self._run = units
        self._units = units
        self._sizes: dict[str, int] = {}
        self._allowed: dict[str, int] = {}
        self._grown_by: set[tuple[str, str]] = set()
        self._file: str | None = None
        self._begun = 0
        self._left = units

    def note(self, name: str, size: int) -> None:
        """Note the bytes of a file."""
        self._sizes[name] = size

    @contextmanager
    def file(self, name: str) -> Iterator[None]:
        """Spend from the share of a file. Within the share of another, as an include or an import, that one grows."""
        outer = self._file
        if outer is not None:
            self._grow(outer, name)
            yield
            return
        self._file = name
        self._grow(name, name)
        spent = self.spent.setdefault(name, 0)
        self._begun = self._left = min(self._units, self._allowed[name] - spent)
        try:
            yield
        finally:
            used = self._begun - self._left
            self._file = None
            self.spent[name] += used
            self._units -= used
            self._left = self._units

    def spend(self, units: int = 1) -> None:
        """Count units. Errors: OverWork."""
        self._left -= units
        if self._left < 0:
            raise OverWork(self._why())

    def make(self, characters: int) -> None:
        """Count a text that is made, before it is. Errors: OverWork."""
        if characters > MAX_MADE:
            raise OverWork(f"a text of more than {MAX_MADE:,} characters is made here")
        self.spend(characters // CHARACTERS + 1)

    def _grow(self, file: str, by: str) -> None:
        """The share of a file grows with the size of one that is read for it."""
        if (file, by) in self._grown_by:
            return
        self._grown_by.add((file, by))
        before = self._allowed.get(file, FREE_UNITS)
        self._allowed[file] = min(FILE_UNITS, before + UNITS_PER_BYTE * self._sizes.get(by, 0))
        if file != by:
            more = min(self._allowed[file] - before, self._units - self._begun)
            self._begun += more
            self._left += more

    def _why(self) -> str:
        file = self._file
        if file is None or self._begun == self._units:
            return f"the files together take more than {self._run:,} steps to read"
        return f"this file takes more than {self._allowed[file]:,} steps to read, too many for its size"
