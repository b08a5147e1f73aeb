"""The work that a run over sources may do. A few hundred bytes can ask for any amount of it.

Every reader spends from one budget, wherever it makes, visits or compares something. One unit is the work of a token or
of an evaluated expression, about a microsecond or two. Each file has a share; where that is spent, the rest of the file
is not understood, and the run goes on with the next file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from contextlib import contextmanager

from dispatch_cli.model.span import Span

RUN_UNITS = 30_000_000
"""Units of a run."""
FILE_UNITS = 4_000_000
"""Units of one file."""
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
        self._run = self._units = self._left = units
        self._is_in_file, self._is_of_run = False, True

    @contextmanager
    def file(self, name: str) -> Iterator[None]:
        """Spend from the share of a file; within that of another, as an include or an import, from that one."""
        if self._is_in_file:
            yield
            return
        self._is_in_file = True
        spent = self.spent.setdefault(name, 0)
        begun = self._left = min(self._units, FILE_UNITS - spent)
        self._is_of_run = begun == self._units
        try:
            yield
        finally:
            self._is_in_file = False
            self.spent[name] += begun - self._left
            self._units -= begun - self._left
            self._left, self._is_of_run = self._units, True

    def spend(self, units: int = 1) -> None:
        """Count units. Errors: OverWork."""
        self._left -= units
        if self._left < 0:
            if self._is_of_run:
                raise OverWork(f"the files together take more than {self._run:,} steps to read")
            raise OverWork(f"this file takes more than {FILE_UNITS:,} steps to read")

    def make(self, characters: int) -> None:
        """Count a text that is made, before it is. Errors: OverWork."""
        if characters > MAX_MADE:
            raise OverWork(f"a text of more than {MAX_MADE:,} characters is made here")
        self.spend(characters // CHARACTERS + 1)
