"""Counts of the operators of a backend, by service, training, class and need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, TypeVar

from dispatch_cli.engine.backend_answers import (
    Covered,
    CoveredBackend,
    Gradient,
    NoService,
    Service,
    Training,
    backend_named,
    backend_of,
)
from dispatch_cli.engine.comparison.operators import compare_operator
from dispatch_cli.engine.comparison.sides import Side
from dispatch_cli.engine.comparison.slots import SlotComparison
from dispatch_cli.engine.coverage import Classifier, OperatorSlots
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import backend_keys

_TRAINS = (Training.OWN, Training.GENERIC, Training.MATH)


class ServiceCount(NamedTuple):
    """Number of operators that have a service. source: of COMPOSITE and ABOVE, the key. lack: of NOTHING, why.

    otherwise: of NOT_KNOWN. served: those that no broken autograd slot keeps calls from. percent: of all chosen.
    """

    service: Service
    source: str | None
    lack: NoService | None
    otherwise: Service | None
    operators: int
    served: int
    percent: float


class TrainingCount(NamedTuple):
    """Number of operators that train in one way. gradient: of NONE. served: those that are. percent: of all chosen."""

    training: Training
    gradient: Gradient | None
    operators: int
    served: int
    percent: float


class CoverageCounts(NamedTuple):
    """Number of operators by kind of service: fields of `CoverageReport`."""

    chosen: int
    served: int
    not_known: int
    percent: float | None
    services: tuple[ServiceCount, ...]
    trainings: tuple[TrainingCount, ...]


_SERVICES = (Service.KERNEL, Service.COMPOSITE, Service.ABOVE, Service.FALLBACK, Service.NOT_KNOWN, Service.NOTHING)
"""Order of services, from what is not needed to what is needed most."""
_Key = TypeVar("_Key")
_LACKS = (None, *NoService)
_GRADIENTS = (None, *Gradient)
_OTHERWISE = (None, *Service)
_WITH_SOURCE = (Service.COMPOSITE, Service.ABOVE)


def service_counts(answers: Mapping[Covered, int], total: int) -> tuple[ServiceCount, ...]:
    """A count for each service, the own kernels first. answers: how many operators have each. total: of how many."""
    counts = _counted(answers, _service_of)
    counted = [ServiceCount(*key, number, served, _share(number, total)) for key, (number, served) in counts.items()]
    return tuple(
        sorted(
            counted,
            key=lambda count: (
                _SERVICES.index(count.service),
                _OTHERWISE.index(count.otherwise),
                count.source or "",
                _LACKS.index(count.lack),
            ),
        )
    )


def training_counts(answers: Mapping[Covered, int], total: int) -> tuple[TrainingCount, ...]:
    """A count for each way to train, in the order of `Training`. Arguments: as of `service_counts`."""
    counts = _counted(answers, lambda answer: (answer.training, answer.gradient))
    counted = [TrainingCount(*key, number, served, _share(number, total)) for key, (number, served) in counts.items()]
    order = [*Training]
    return tuple(sorted(counted, key=lambda count: (order.index(count.training), _GRADIENTS.index(count.gradient))))


def _service_of(answer: Covered) -> tuple[Service, str | None, NoService | None, Service | None]:
    source = answer.source if answer.service in _WITH_SOURCE else None
    return answer.service, source, answer.lack, answer.otherwise


def _counted(answers: Mapping[Covered, int], key_of: Callable[[Covered], _Key]) -> dict[_Key, tuple[int, int]]:
    """Number of operators for each key, and of those that are served."""
    counts: dict[_Key, tuple[int, int]] = {}
    for answer, number in answers.items():
        operators, served = counts.get(key_of(answer), (0, 0))
        counts[key_of(answer)] = operators + number, served + (number if answer.served else 0)
    return counts


def coverage_counts(answers: Mapping[Covered, int]) -> CoverageCounts:
    """The counts of all answers. answers: how many operators have each."""
    counted = Counter[bool | None]()
    for answer, number in answers.items():
        counted[answer.served] += number
    total = counted.total()
    return CoverageCounts(
        chosen=total,
        served=counted[True],
        not_known=counted[None],
        percent=percent(counted[True], counted[True] + counted[False]),
        services=service_counts(answers, total),
        trainings=training_counts(answers, total),
    )


def percent(part: int, whole: int) -> float | None:
    """A share as percent, not rounded; None of nothing."""
    return 100 * part / whole if whole else None


def _share(number: int, total: int) -> float:
    return percent(number, total) or 0.0


class OperatorClasses:
    """Operators, each with the number of its class.

    sizes: how many operators each class has. backends: those that can be asked for, the dense ones first.
    """

    def __init__(self, state: State, names: Sequence[OperatorName]) -> None:
        self._dispatcher = dispatcher = state.dispatcher
        universe = dispatcher.universe
        self.backends = [backend_of(universe, key) for key in backend_keys(universe)]
        self.backends.sort(key=lambda backend: backend.key not in universe.backends)
        slots = [OperatorSlots(dispatcher, name) for name in names]
        classes: dict[Hashable, int] = {}
        self.numbers = [classes.setdefault(of_name.likeness, len(classes)) for of_name in slots]
        self.sizes = Counter(self.numbers)
        self._slots = [*dict(zip(self.numbers, slots, strict=True)).values()]

    def answers(self, backend: CoveredBackend) -> list[Covered]:
        """The answer for each class."""
        classifier = Classifier(self._dispatcher, backend)
        return [classifier.of_slots(slots) for slots in self._slots]


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
