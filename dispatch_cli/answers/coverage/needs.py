"""Needs that a newer state has of a backend, and an older one did not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.comparison.operators import compare_operator
from dispatch_cli.engine.comparison.sides import Side
from dispatch_cli.engine.comparison.slots import SlotComparison
from dispatch_cli.engine.coverage.answers import Covered, CoveredBackend, Training, backend_named
from dispatch_cli.engine.coverage.coverage import Classifier
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.names import OperatorName


class BackendNeed(Enum):
    """A need.

    NEW: the operator is new. SCHEMA: its schema is another one. SERVICE: nothing serves it any longer. TRAINING: it had
    a derivative and has none, or its autograd slot is broken now.
    """

    NEW = "new"
    SCHEMA = "schema-changed"
    SERVICE = "service-lost"
    TRAINING = "training-lost"


class NeedCount(NamedTuple):
    """Number of operators that have a need. served: those of them that are served in the newer state."""

    need: BackendNeed
    operators: int
    served: int


class Needed(NamedTuple):
    """Needs of an operator. schema, before: both schemas, where they differ."""

    needs: tuple[BackendNeed, ...] = ()
    schema: str | None = None
    before: str | None = None


NOTHING_NEEDED = Needed()
_TRAINS = (Training.OWN, Training.GENERIC, Training.MATH)


class OlderState:
    """An older state, with which operators of a newer one are compared on a backend."""

    def __init__(self, newer: State, older: State, backend: CoveredBackend) -> None:
        universe = older.dispatcher.universe
        there = backend_named(universe, backend.key)
        self._classifier = None if there is None else Classifier(older.dispatcher, there)
        self._sides = Side(older), Side(newer)
        self._slots = SlotComparison(*self._sides)

    def needed(self, name: OperatorName, answer: Covered) -> Needed:
        """Needs of an operator in the newer state. answer: its service there."""
        before, after = (side.view(str(name)) for side in self._sides)
        if before is None:
            return Needed((BackendNeed.NEW,))
        change = compare_operator(before, after, self._slots)
        if change is None or self._classifier is None:
            return NOTHING_NEEDED
        needs = []
        schema = change.schema if change.schema is not None and change.schema.schema_differs else None
        if schema is not None:
            needs.append(BackendNeed.SCHEMA)
        was = self._classifier.of(name)
        if was.served and answer.served is False:
            needs.append(BackendNeed.SERVICE)
        elif answer.training in (Training.NONE, Training.BROKEN) and was.training in _TRAINS:
            needs.append(BackendNeed.TRAINING)
        return Needed(tuple(needs), *(() if schema is None else (schema.new, schema.old)))


def need_counts(
    rows: Iterable[tuple[OperatorName, Covered]], needed: Mapping[OperatorName, Needed]
) -> tuple[NeedCount, ...]:
    """A count for each need."""
    counts = Counter(need for entry in needed.values() for need in entry.needs)
    served = Counter(need for name, answer in rows if answer.served and name in needed for need in needed[name].needs)
    return tuple(NeedCount(need, counts[need], served[need]) for need in BackendNeed if counts[need])
