"""Service of each operator on one backend, and its training there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.coverage.counts import (
    NOTHING_NEEDED,
    BackendNeed,
    NeedCount,
    Needed,
    OlderState,
    ServiceCount,
    TrainingCount,
    coverage_counts,
    need_counts,
)
from dispatch_cli.answers.shared.operator_list import own_names
from dispatch_cli.answers.shared.report_parts import StartsFrom, starts_from
from dispatch_cli.answers.table.slot_notes import overlay_of
from dispatch_cli.engine.backend_answers import Covered, CoveredBackend, Service, schema_kind
from dispatch_cli.engine.coverage import Classifier
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import OWN, Origin, Span

SCHEMA = "schema:"
"""Prefix of the word for a kind of schema, among tags."""


class CoverageRow(NamedTuple):
    """An operator. family: its name without overload, and without the ``_`` of a variant that works in place.

    kernel: the one that serves it; span, origin: its place. needs: what the newer state asks
    for. schema, schema_before: both, where they differ.
    """

    operator: str
    family: str
    served: bool | None
    covered: Covered
    kernel: str | None
    needs: tuple[BackendNeed, ...]
    schema: str | None
    schema_before: str | None
    span: Span | None
    origin: Origin = OWN


@dataclass(frozen=True, slots=True)
class CoverageReport(StartsFrom):
    """The operators of a state on a backend.

    chosen: how many operators were asked for; served: how many of them are; not_known: of how many that is not known.
    percent: how many are served, of those of which it is known; None where there are none.
    against: the older embedded states; None without. needs: the counts of what the newer one needs.
    overlay: the embedded overlay that has kernels of the backend, where it is not loaded.
    served_by: the operators that are listed are served in one of these ways; the counts are of all.
    """

    REPORT: ClassVar[str] = "coverage"

    backend: CoveredBackend
    tags: tuple[str, ...]
    chosen: int
    served: int
    not_known: int
    percent: float | None
    services: tuple[ServiceCount, ...]
    trainings: tuple[TrainingCount, ...]
    against: tuple[str, ...] | None
    needs: tuple[NeedCount, ...]
    overlay: str | None
    served_by: tuple[Service, ...]
    operators: tuple[CoverageRow, ...]


def coverage_report(
    state: State,
    backend: CoveredBackend,
    names: Iterable[OperatorName],
    tags: tuple[str, ...] = (),
    *,
    served_by: tuple[Service, ...] = (),
    against: State | None = None,
) -> CoverageReport:
    """Services of *names* on a backend, those of the files first.

    served_by: list those only that are served in one of these ways; the counts are of all.
    against: an older state; then those only are listed of which the newer one needs what that did not need.
    """
    classifier = Classifier(state.dispatcher, backend)
    own = own_names(state)
    covered = [(name, classifier.of(name)) for name in sorted(names, key=lambda name: str(name) not in own)]
    counts = coverage_counts(Counter(answer for _, answer in covered))
    listed = [pair for pair in covered if not served_by or pair[1].service in served_by]
    needed: dict[OperatorName, Needed] = {}
    if against is not None:
        older = OlderState(state, against, backend)
        needed = {name: needs for name, answer in covered if (needs := older.needed(name, answer)).needs}
        listed = [pair for pair in listed if pair[0] in needed]
    return CoverageReport(
        *starts_from(state, (name for name, _ in covered)),
        backend=backend,
        tags=tags,
        **counts._asdict(),
        against=None if against is None else against.over,
        needs=need_counts(covered, needed),
        overlay=overlay_of(state.dispatcher, backend.key),
        served_by=served_by,
        operators=tuple(_row(state, name, answer, needed.get(name, NOTHING_NEEDED)) for name, answer in listed),
    )


def with_tags(state: State, names: Sequence[OperatorName], tags: tuple[str, ...]) -> list[OperatorName]:
    """Operators that have one of the tags, or kinds of schemas."""
    wanted = frozenset(tags)
    return [name for name in names if not wanted.isdisjoint(groups_of(state, name))]


def known_tags(state: State, names: Iterable[OperatorName]) -> frozenset[str]:
    """The tags, and kinds of schemas, that some of the operators have."""
    return frozenset(tag for name in names for tag in groups_of(state, name))


def groups_of(state: State, name: OperatorName) -> Iterator[str]:
    """The tags of an operator, and the kind of its schema as one of them."""
    yield from _tags(state, name)
    if (schema := state.dispatcher.header(name).schema) is not None:
        yield f"{SCHEMA}{schema_kind(schema).value}"


def _tags(state: State, name: OperatorName) -> Sequence[str]:
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


def _row(state: State, name: OperatorName, answer: Covered, needed: Needed) -> CoverageRow:
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
        covered=answer,
        kernel=None if kernel is None else kernel.label,
        needs=needed.needs,
        schema=needed.schema,
        schema_before=needed.before,
        span=None if kernel is None else kernel.span,
        origin=OWN if registration is None else state.origin(registration),
    )
