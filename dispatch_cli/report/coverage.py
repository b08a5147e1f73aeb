"""What serves each operator on one backend, and whether it trains there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

from dispatch_cli.engine.coverage.answers import Covered, Gradient, NoService, Passage, Reach, Service, Training
from dispatch_cli.engine.coverage.backend import CoveredBackend
from dispatch_cli.engine.coverage.coverage import Classifier
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.origin import OWN, Origin
from dispatch_cli.model.span import Span


class CoverageRow(NamedTuple):
    """An operator. family: its name without overload, and without the ``_`` of a variant that works in place.

    kernel: the one that serves it; span, origin: its place. The other fields are those of
    `Covered`.
    """

    operator: str
    family: str
    served: bool | None
    service: Service
    source: str | None
    kernel: str | None
    slot: str
    rule: Rule
    lack: NoService | None
    reach: Reach
    training: Training
    autograd_rule: Rule | None
    autograd_source: str | None
    gradient: Gradient | None
    blockers: tuple[str, ...]
    bypassed: bool
    autocast: Passage | None
    vmap: Passage | None
    span: Span | None
    origin: Origin = OWN


class ServiceCount(NamedTuple):
    """How many operators have a service. source: of COMPOSITE and ABOVE, the key. percent: of all chosen.

    served: those that no broken autograd slot keeps calls from.
    """

    service: Service
    source: str | None
    lack: NoService | None
    operators: int
    served: int
    percent: float


class TrainingCount(NamedTuple):
    """How many operators train in one way. gradient: of NONE. served: those that are served. percent: of all chosen."""

    training: Training
    gradient: Gradient | None
    operators: int
    served: int
    percent: float


class PassageCount(NamedTuple):
    """How many operators get through autocast or vmap in one way. percent: of all chosen."""

    passage: Passage
    operators: int
    percent: float


class CoverageOrder(Enum):
    """How the operators are sorted."""

    NAME = "name"
    SERVICE = "service"
    TRAINING = "training"


@dataclass(frozen=True, slots=True)
class CoverageReport:
    """The operators of a state on a backend.

    over: the embedded states that it starts from. over_assumed: as in `ExplainReport`. chosen: how many operators were
    asked for; served: how many of them are; not_known: of how many that is not known.
    percent: how many are served, of those of which it is known; None where there are none.
    missing_only: the operators are those that are not served. autocast, vmap: None where they were not asked for.
    """

    REPORT: ClassVar[str] = "coverage"

    universe: str
    over: tuple[str, ...]
    over_assumed: bool
    backend: CoveredBackend
    tags: tuple[str, ...]
    chosen: int
    served: int
    not_known: int
    percent: float | None
    services: tuple[ServiceCount, ...]
    trainings: tuple[TrainingCount, ...]
    autocast: tuple[PassageCount, ...] | None
    vmap: tuple[PassageCount, ...] | None
    missing_only: bool
    operators: tuple[CoverageRow, ...]

    def is_under(self, wanted: float) -> bool:
        """Whether fewer percent of the operators are served; those of which it is not known do not count."""
        return 100 * self.served < wanted * (self.chosen - self.not_known)


def coverage_report(
    state: State,
    backend: CoveredBackend,
    names: Iterable[OperatorName],
    tags: tuple[str, ...] = (),
    *,
    missing: bool = False,
    order: CoverageOrder = CoverageOrder.NAME,
    autocast: bool = False,
    vmap: bool = False,
) -> CoverageReport:
    """What serves *names* on a backend. missing: list those only that are not served; the counts are of all."""
    classifier = Classifier(state.dispatcher, backend, autocast, vmap)
    found = [(name, classifier.of(name)) for name in names]
    answers = [answer for _, answer in found]
    total = len(found)
    counted = Counter(answer.served for answer in answers)
    listed = [one for one in found if not missing or one[1].served is False]
    if order is not CoverageOrder.NAME:
        listed.sort(key=lambda one: _ranks(one[1], order))
    return CoverageReport(
        universe=state.dispatcher.universe.name,
        over=state.over,
        over_assumed=state.over_assumed,
        backend=backend,
        tags=tags,
        chosen=total,
        served=counted[True],
        not_known=counted[None],
        percent=percent(counted[True], counted[True] + counted[False]),
        services=_services(answers),
        trainings=_trainings(answers),
        autocast=_passages([one.autocast for one in answers]) if autocast else None,
        vmap=_passages([one.vmap for one in answers]) if vmap else None,
        missing_only=missing,
        operators=tuple(_row(state, name, answer) for name, answer in listed),
    )


def percent(part: int, whole: int) -> float | None:
    """A share as percent with one digit, never rounded up to 100 or down to 0; None of nothing."""
    if not whole:
        return None
    found = round(100 * part / whole, 1)
    if part and not found:
        return 0.1
    return 99.9 if part < whole and found == 100 else found


def with_tags(state: State, names: Sequence[OperatorName], tags: tuple[str, ...]) -> list[OperatorName]:
    """Those of the operators that have one of the tags."""
    wanted = frozenset(tags)
    return [name for name in names if not wanted.isdisjoint(tags_of(state, name))]


def known_tags(state: State, names: Iterable[OperatorName]) -> frozenset[str]:
    """The tags that some of the operators have."""
    return frozenset(tag for name in names for tag in tags_of(state, name))


def tags_of(state: State, name: OperatorName) -> Sequence[str]:
    """The tags of an operator; one of a base is not taken in for that."""
    dispatcher = state.dispatcher
    if dispatcher.base is not None and dispatcher.is_untouched(name):
        return dispatcher.base.listing(str(name)).tags
    definition = dispatcher.operator(name).definition
    return () if definition is None else definition.tags


def family_of(operator: str) -> str:
    """The name without overload, and without the ``_`` of a variant that works in place."""
    name = operator.partition(".")[0]
    return name[:-1] if name.endswith("_") and not name.endswith(("__", ":_")) else name


def _row(state: State, name: OperatorName, answer: Covered) -> CoverageRow:
    registration = None
    if answer.source is not None:
        if answer.rule is Rule.FALLBACK:
            registration = state.dispatcher.fallbacks.get(answer.source)
        else:
            registration = state.dispatcher.active(name).get(answer.source)
    kernel = None if registration is None else registration.kernel
    operator = str(name)
    return CoverageRow(
        operator=operator,
        family=family_of(operator),
        served=answer.served,
        service=answer.service,
        source=answer.source,
        kernel=None if kernel is None else kernel.label,
        slot=answer.slot,
        rule=answer.rule,
        lack=answer.lack,
        reach=answer.reach,
        training=answer.training,
        autograd_rule=answer.autograd_rule,
        autograd_source=answer.autograd_source,
        gradient=answer.gradient,
        blockers=answer.blockers,
        bypassed=answer.bypassed,
        autocast=answer.autocast,
        vmap=answer.vmap,
        span=None if kernel is None else kernel.span,
        origin=OWN if registration is None else state.origin(registration),
    )


_SERVICES = (*(Service.NOTHING, Service.NOT_KNOWN, Service.FALLBACK, Service.ABOVE, Service.COMPOSITE, Service.KERNEL),)
_TRAININGS = (*(Training.BROKEN, Training.NONE, Training.MATH, Training.GENERIC, Training.OWN, Training.NO_TENSORS),)
_LACKS = (None, *NoService)
_GRADIENTS = (None, *Gradient)


def _ranks(answer: Covered, order: CoverageOrder) -> tuple[int | str, ...]:
    service = (_SERVICES.index(answer.service), answer.source or "", _LACKS.index(answer.lack))
    training = (_TRAININGS.index(answer.training), _GRADIENTS.index(answer.gradient))
    return (*service, *training) if order is CoverageOrder.SERVICE else (*training, *service)


def _services(answers: Sequence[Covered]) -> tuple[ServiceCount, ...]:
    with_source = (Service.COMPOSITE, Service.ABOVE)
    keys = [(one.service, one.source if one.service in with_source else None, one.lack) for one in answers]
    counts, served = Counter(keys), Counter(key for key, one in zip(keys, answers, strict=True) if one.served)
    counted = (
        ServiceCount(*key, number, served[key], percent(number, len(answers)) or 0) for key, number in counts.items()
    )
    return tuple(
        sorted(counted, key=lambda one: (-_SERVICES.index(one.service), one.source or "", _LACKS.index(one.lack)))
    )


def _trainings(answers: Sequence[Covered]) -> tuple[TrainingCount, ...]:
    counts = Counter((one.training, one.gradient) for one in answers)
    served = Counter((one.training, one.gradient) for one in answers if one.served)
    counted = (
        TrainingCount(*key, number, served[key], percent(number, len(answers)) or 0) for key, number in counts.items()
    )
    order = [*Training]
    return tuple(sorted(counted, key=lambda one: (order.index(one.training), _GRADIENTS.index(one.gradient))))


def _passages(found: Sequence[Passage | None]) -> tuple[PassageCount, ...]:
    counts = Counter(one for one in found if one is not None)
    return tuple(
        PassageCount(one, counts[one], percent(counts[one], len(found)) or 0) for one in Passage if counts[one]
    )
