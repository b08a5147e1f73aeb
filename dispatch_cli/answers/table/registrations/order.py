"""The registrations of operators in their order, on which it depends what is active, and what is stale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.shared.starting_state import StartsFrom, starts_from
from dispatch_cli.engine.history.apply import all_declarations
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.condition import all_text
from dispatch_cli.model.declarations import Settle
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.registration_names import NamedRegistration, RegistrationIndex
from dispatch_cli.model.span import Span


class OrderedRegistration(NamedTuple):
    """A registration. python: for the Python dispatcher. kernel: what a dump shows. captured: of an embedded state or a
    capture, which do not say in which order kernels at different keys were registered. when: its conditions; None where
    it has none. All registrations are there, whatever holds.
    """

    key: str
    python: bool
    kernel: str
    function: str | None
    fallthrough: bool
    captured: bool
    span: Span | None
    when: str | None


class OperatorOrder(NamedTuple):
    """The registrations of an operator, the first one first; those for the Python dispatcher behind the others."""

    operator: str
    registrations: tuple[OrderedRegistration, ...]


@dataclass(frozen=True, slots=True)
class RegistrationOrderReport(StartsFrom):
    """The registrations of the operators that were asked for; they are computed as they are read."""

    REPORT: ClassVar[str] = "registration-order"

    operators: Iterator[OperatorOrder]


def registration_order_report(state: State, names: Iterable[OperatorName]) -> RegistrationOrderReport:
    """The registrations of *names*."""
    index = RegistrationIndex(all_declarations(state), state.source)
    return order_report(
        state, ((name, [entry for python in (False, True) for entry in index.of(name, python)]) for name in names)
    )


def order_report(
    state: State, registrations: Iterable[tuple[OperatorName, Sequence[NamedRegistration]]]
) -> RegistrationOrderReport:
    """The registrations that were found of operators, in their order, as a report."""
    return RegistrationOrderReport(
        *starts_from(state),
        operators=(OperatorOrder(str(name), tuple(map(_ordered, there))) for name, there in registrations),
    )


def _ordered(entry: NamedRegistration) -> OrderedRegistration:
    return OrderedRegistration(
        key=entry.name.key,
        python=entry.name.python,
        kernel=entry.kernel,
        function=entry.function,
        fallthrough=entry.fallthrough,
        captured=entry.captured is not None,
        span=entry.span,
        when=None if entry.step is None or isinstance(entry.step, Settle) else all_text(entry.step.when) or None,
    )
