"""Shares of services, for groups of operators on all backends."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.coverage.counts import OperatorClasses, percent
from dispatch_cli.answers.coverage.report import SCHEMA, groups_of
from dispatch_cli.answers.shared.report_parts import StartsFrom, starts_from
from dispatch_cli.engine.backend_answers import Covered, CoveredBackend, Service, backend_of
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import backend_keys

LEAST = 3
"""Percent of the operators that have a kernel for a backend that is shown; or files register one for it."""


class GroupKind(Enum):
    """The feature that the operators of a group share."""

    ALL = "all"
    NAMESPACE = "namespace"
    TAG = "tag"
    SCHEMA = "schema"


class GroupCell(NamedTuple):
    """Operators of a group by service on a backend. served, percent: as in `CoverageReport`.

    command: lists them.
    """

    backend: str
    served: int
    percent: float | None
    kernel: int
    composite: int
    fallback: int
    above: int
    nothing: int
    not_known: int
    command: str


class CoverageGroup(NamedTuple):
    """A group of operators. chosen_by: the options of `coverage` that choose it."""

    kind: GroupKind
    name: str
    operators: int
    chosen_by: tuple[str, ...]
    cells: tuple[GroupCell, ...]


@dataclass(frozen=True, slots=True)
class CoverageOverviewReport(StartsFrom):
    """Groups of operators on backends: those for which some operators, or the files, have kernels.

    chosen: as in `CoverageReport`.
    """

    REPORT: ClassVar[str] = "coverage-overview"

    chosen: int
    backends: tuple[CoveredBackend, ...]
    groups: tuple[CoverageGroup, ...]


def overview_report(
    state: State,
    names: Sequence[OperatorName],
    ops: Sequence[str] = (),
    tags: Sequence[str] = (),
    arguments: Sequence[str] = (),
    classes: OperatorClasses | None = None,
) -> CoverageOverviewReport:
    """The groups of *names*, which *ops* and *tags* chose.

    arguments: those of the command that load the state. classes: of the names, where they are known already.
    """
    classes = classes or OperatorClasses(state, names)
    number = dict(zip(names, classes.numbers, strict=True))
    groups = {group: Counter(number[name] for name in members) for group, members in _groups(state, names, ops, tags)}
    backends = tuple(_backends(state, names))
    cells: dict[_Group, list[GroupCell]] = {group: [] for group in groups}
    for backend in backends:
        answers = classes.answers(backend)
        for group, counts in groups.items():
            command = shlex.join(("dispatch-cli", "coverage", backend.key, *arguments, *group[2]))
            cells[group].append(_cell(backend.key, answers, counts, command))
    return CoverageOverviewReport(
        *starts_from(state, names),
        len(names),
        backends,
        tuple(CoverageGroup(*group[:2], groups[group].total(), group[2], tuple(row)) for group, row in cells.items()),
    )


_Group = tuple[GroupKind, str, tuple[str, ...]]
"""Kind, name, and the options that choose it."""


def _groups(
    state: State, names: Sequence[OperatorName], ops: Sequence[str], tags: Sequence[str]
) -> Iterator[tuple[_Group, list[OperatorName]]]:
    """The groups that options of `coverage` can choose, the largest of a kind first. Several globs choose more, and so
    do several tags: where one is given, no further one narrows the choice.
    """
    given = (*(part for glob in ops for part in ("--op", glob)), *(part for tag in tags for part in ("--tag", tag)))
    groups: dict[tuple[GroupKind, str], list[OperatorName]] = {}
    for name in names:
        if not ops and name.namespace is not None:
            groups.setdefault((GroupKind.NAMESPACE, name.namespace), []).append(name)
        for tag in () if tags else groups_of(state, name):
            kind = GroupKind.SCHEMA if tag.startswith(SCHEMA) else GroupKind.TAG
            groups.setdefault((kind, tag), []).append(name)
    yield (GroupKind.ALL, "all", given), list(names)
    order = list(GroupKind)
    ranks = {group: (order.index(group[0]), -len(members), group[1]) for group, members in groups.items()}
    for kind, common in sorted(groups, key=ranks.__getitem__):
        option = ("--op", f"{common}::*") if kind is GroupKind.NAMESPACE else ("--tag", common)
        yield (kind, common, (*given, *option)), groups[kind, common]


def _backends(state: State, names: Sequence[OperatorName]) -> Iterator[CoveredBackend]:
    dispatcher = state.dispatcher
    universe, bits = dispatcher.universe, dispatcher.layout.registered_bit
    registered = Counter(dispatcher.shape(name)[0] for name in names)
    own = {
        key
        for name in names
        if not dispatcher.is_untouched(name)
        for key, registration in dispatcher.active(name).items()
        if not registration.captured
    }
    for key in backend_keys(universe):
        kernels = sum(count for mask, count in registered.items() if mask & bits.get(key, 0))
        if key in own or (kernels and 100 * kernels >= LEAST * len(names)):
            yield backend_of(universe, key)


def _cell(backend: str, answers: Sequence[Covered], classes: Mapping[int, int], command: str) -> GroupCell:
    """classes: how many operators of the group each class has."""
    counts, served = Counter[Service](), Counter[bool | None]()
    for number, operators in classes.items():
        counts[answers[number].service] += operators
        served[answers[number].served] += operators
    share = percent(served[True], served[True] + served[False])
    return GroupCell(
        backend=backend,
        served=served[True],
        percent=share,
        kernel=counts[Service.KERNEL],
        composite=counts[Service.COMPOSITE],
        fallback=counts[Service.FALLBACK],
        above=counts[Service.ABOVE],
        nothing=counts[Service.NOTHING],
        not_known=counts[Service.NOT_KNOWN],
        command=command,
    )
