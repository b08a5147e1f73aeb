"""Fold slots so that a person can read them: equal neighbours become one row, and what says little goes below."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class HasKey(Protocol):
    """A row about one slot."""

    @property
    def key(self) -> str: ...


Row = TypeVar("Row", bound=HasKey)


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


@dataclass(frozen=True, slots=True)
class Folding(Generic[Row]):
    """rows: runs of neighbours, in table order. aside: the slots that are not worth a row, by what they are."""

    rows: tuple[Folded[Row], ...]
    aside: Mapping[Hashable, KeyRuns]


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
