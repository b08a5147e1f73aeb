"""Number of operators of a backend by kind of service, and by kind of training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dispatch_cli.engine.coverage.answers import Covered, Gradient, NoService, Passage, Service, Training


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


class PassageCount(NamedTuple):
    """Number of operators that get through autocast or vmap in one way. percent: of all chosen."""

    passage: Passage
    operators: int
    percent: float


class CoverageCounts(NamedTuple):
    """Number of operators by kind of service: fields of `CoverageReport`."""

    chosen: int
    served: int
    not_known: int
    percent: float | None
    services: tuple[ServiceCount, ...]
    trainings: tuple[TrainingCount, ...]


SERVICES = (*(Service.NOTHING, Service.NOT_KNOWN, Service.FALLBACK, Service.ABOVE, Service.COMPOSITE, Service.KERNEL),)
"""Order of services, from what is needed most to what is not needed."""
_ServiceKey = tuple[Service, str | None, NoService | None, Service | None]
_LACKS = (None, *NoService)
_GRADIENTS = (None, *Gradient)
_OTHERWISE = (None, *Service)
_WITH_SOURCE = (Service.COMPOSITE, Service.ABOVE)


def service_rank(answer: ServiceCount) -> tuple[int | str, ...]:
    """Sort key of services."""
    return (
        SERVICES.index(answer.service),
        _OTHERWISE.index(answer.otherwise),
        answer.source or "",
        _LACKS.index(answer.lack),
    )


def service_counts(answers: Mapping[Covered, int], total: int) -> tuple[ServiceCount, ...]:
    """A count for each service, the own kernels first. answers: how many operators have each. total: of how many."""
    counts, served = Counter[_ServiceKey](), Counter[_ServiceKey]()
    for answer, number in answers.items():
        key = (answer.service, answer.source if answer.service in _WITH_SOURCE else None, answer.lack, answer.otherwise)
        counts[key] += number
        served[key] += number if answer.served else 0
    counted = [ServiceCount(*key, number, served[key], _share(number, total)) for key, number in counts.items()]
    ranks = {count: service_rank(count) for count in counted}
    return tuple(sorted(counted, key=lambda count: (-SERVICES.index(count.service), *ranks[count][1:])))


def training_counts(answers: Mapping[Covered, int], total: int) -> tuple[TrainingCount, ...]:
    """A count for each way to train, in the order of `Training`. Arguments: as of `service_counts`."""
    counts, served = Counter[tuple[Training, Gradient | None]](), Counter[tuple[Training, Gradient | None]]()
    for answer, number in answers.items():
        key = (answer.training, answer.gradient)
        counts[key] += number
        served[key] += number if answer.served else 0
    counted = [TrainingCount(*key, number, served[key], _share(number, total)) for key, number in counts.items()]
    order = [*Training]
    return tuple(sorted(counted, key=lambda count: (order.index(count.training), _GRADIENTS.index(count.gradient))))


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


def passage_counts(passages: Sequence[Passage | None]) -> tuple[PassageCount, ...]:
    """A count for each way through autocast or vmap."""
    counts = Counter(passages)
    return tuple(PassageCount(way, counts[way], _share(counts[way], len(passages))) for way in Passage if counts[way])


def percent(part: int, whole: int) -> float | None:
    """A share as percent, not rounded; None of nothing."""
    return 100 * part / whole if whole else None


def _share(number: int, total: int) -> float:
    return percent(number, total) or 0.0
