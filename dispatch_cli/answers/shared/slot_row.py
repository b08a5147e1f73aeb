"""One slot as answers show it, whichever resolver decides it, and kernels of the Python dispatcher.

Slots are folded so that a person can read them: equal neighbours become one row, and what says little goes below.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.span import OWN, Origin, Span

if TYPE_CHECKING:
    from dispatch_cli.answers.shared.divergences import PythonDifference
    from dispatch_cli.engine.python.higher_order import Slot


class Before(NamedTuple):
    """Content of a slot in the state that the files are laid over."""

    rule: Rule
    kernel: str | None
    fallthrough: bool


class Otherwise(NamedTuple):
    """Content of a slot that is not known, if there is no kernel but those that are known."""

    rule: Rule
    rule_number: int
    kernel: str | None
    fallthrough: bool
    source: str | None
    span: Span | None


class SlotRow(NamedTuple):
    """One slot, as one of the three resolvers decides it.

    key: runtime key or Undefined. rule, rule_number: what decided. kernel: its name or dump text, or None.
    source: the key the kernel is registered at, an alias perhaps; None for ambiguous, fallback and missing slots, and
    for those that are not known.
    core_fallback: the kernel is one of PyTorch's own backend fallbacks.

    Of the C++ table alone:
    blockers: the keys whose kernels made the slot ambiguous, or took it away from the math kernel; of one that is not
    known, the incomplete keys on which it depends.
    stale: PyTorch's live table holds something else. live_kernel: what it holds; None when it holds nothing.
    before: what the slot held in the base, where the files have changed it.
    origin: through what the kernel came, beyond its place. when: the conditions of its registration; None for none.
    otherwise: of a slot that is not known, what it holds without kernels that are not known.

    Of ``resolve_key``: error: what PyTorch raises, where it does.
    chosen_key: the key whose kernel runs, in the words of ``resolve_key``; None where it raises an error, and where it
    is not known. python: it is a Python kernel. differs: how the C++ table decides, where it chooses another key.
    slot: what a call of a higher-order operator finds there.
    """

    key: str
    rule: Rule
    rule_number: int
    kernel: str | None
    fallthrough: bool
    source: str | None
    blockers: tuple[str, ...]
    core_fallback: bool
    span: Span | None
    stale: bool = False
    live_kernel: str | None = None
    before: Before | None = None
    origin: Origin = OWN
    when: str | None = None
    otherwise: Otherwise | None = None
    error: str | None = None
    chosen_key: str | None = None
    python: bool = False
    differs: PythonDifference | None = None
    slot: Slot | None = None


class TableRow(SlotRow):
    """A slot of a C++ table."""

    __slots__ = ()


class PythonRow(SlotRow):
    """A slot as Python's ``resolve_key`` decides it for an operator that has a C++ table."""

    __slots__ = ()


class HigherOrderRow(SlotRow):
    """A slot of a higher-order operator."""

    __slots__ = ()
    slot: Slot


def answer_of(row: SlotRow) -> Hashable:
    """Values that must be equal for two rows to be one. PyTorch's own autograd fallbacks differ in their line alone."""
    live = row.stale, row.live_kernel if row.stale else None
    if row.core_fallback:
        return (row.rule, row.fallthrough, bool(row.blockers), live, row.before)
    source = None if row.rule is Rule.KERNEL else row.source
    return (
        row.rule,
        row.rule_number,
        row.kernel,
        row.fallthrough,
        source,
        row.blockers,
        row.span,
        row.when,
        live,
        row.before,
        row.otherwise,
        row.slot,
        row.error,
    )


class PythonKernelRow(NamedTuple):
    """A kernel of the Python dispatcher."""

    key: str
    kernel: str
    span: Span | None
    when: str | None = None


Row = TypeVar("Row", bound=SlotRow)


class KeyRuns(tuple[tuple[str, ...], ...]):
    """Keys in runs of neighbours. In JSON they are one list."""

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys."""
        return tuple(key for run in self for key in run)


@dataclass(frozen=True, slots=True)
class Folded(Generic[Row]):
    """Slots with one answer; *answer* is the row of the first, and speaks for all of them."""

    keys: tuple[str, ...]
    answer: Row


class Folding(Generic[Row]):
    """rows: runs of neighbours, in table order. aside: the slots that are not worth a row, by what they are."""

    def __init__(self, rows: tuple[Folded[Row], ...], aside: Mapping[Hashable, KeyRuns]) -> None:
        self.rows = rows
        self.aside = aside


def fold(
    rows: Iterable[Row],
    answer_of: Callable[[Row], Hashable],
    aside_of: Callable[[Row], Hashable | None],
    missing: Container[Hashable],
) -> Folding[Row]:
    """Fold a table.

    answer_of: what must be equal for two rows to be one. aside_of: what a slot is that is not worth a row; None for one
    that is. missing: what slots are that hold nothing, or not anything known; a run goes on past these, and past no
    others.
    """
    runs: list[list[Row]] = []
    aside: dict[Hashable, list[list[str]]] = {}
    open_run, last = False, None
    for row in rows:
        place = aside_of(row)
        if place is not None:
            key_runs = aside.setdefault(place, [])
            if place == last:
                key_runs[-1].append(row.key)
            else:
                key_runs.append([row.key])
            open_run = open_run and place in missing
        elif open_run and answer_of(runs[-1][0]) == answer_of(row):
            runs[-1].append(row)
        else:
            runs.append([row])
            open_run = True
        last = place
    folded = tuple(Folded(tuple(row.key for row in run), run[0]) for run in runs)
    return Folding(folded, {place: KeyRuns(map(tuple, key_runs)) for place, key_runs in aside.items()})


def unfolded(rows: Iterable[Row]) -> Folding[Row]:
    """Every slot a row of its own, the missing ones too."""
    return Folding(tuple(Folded((row.key,), row) for row in rows), {})


def alike(rows: Iterable[Row], answer_of: Callable[[Row], Hashable]) -> tuple[Folded[Row], ...]:
    """Slots with one answer together, neighbours or not, in the order of the first of each."""
    groups: dict[Hashable, list[Row]] = {}
    for row in rows:
        groups.setdefault(answer_of(row), []).append(row)
    return tuple(Folded(tuple(row.key for row in group), group[0]) for group in groups.values())


def runs_of(keys: Iterable[str], places: Mapping[str, int]) -> KeyRuns:
    """Keys in runs: those that are neighbours in a table together. places: of the slots in the table."""
    runs: list[list[str]] = []
    for key in keys:
        if runs and places.get(key, -1) == places.get(runs[-1][-1], -3) + 1:
            runs[-1].append(key)
        else:
            runs.append([key])
    return KeyRuns(map(tuple, runs))
