"""Registrations by operator with the slots that they fill; in their order; backend fallbacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from dispatch_cli.answers.shared.report_parts import StartsFrom, starts_from
from dispatch_cli.answers.shared.slot_row import PythonKernelRow
from dispatch_cli.engine.dispatcher.dump import alias_analysis_text, kernel_flags
from dispatch_cli.engine.history import all_declarations
from dispatch_cli.engine.rules import PRECEDENCE
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.changes.registration_names import NamedRegistration, RegistrationIndex
from dispatch_cli.model.conditions.condition import all_text
from dispatch_cli.model.declarations import Fallback, Implement, Settle
from dispatch_cli.model.kernel import FakeImpl, Redispatch, Wrapped
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import OWN, Origin, Span

if TYPE_CHECKING:
    from dispatch_cli.answers.table.higher_order_report import HigherOrderImpls
    from dispatch_cli.model.higher_order import HigherOrderOperator


FILLS_UNDEFINED = frozenset(row.alias for row in PRECEDENCE if row.fills_undefined)
"""Alias keys that fill one slot beyond those of the runtime keys they cover."""


class KernelRow(NamedTuple):
    """One registered kernel.

    kernel: its name, or what a dump shows; debug: what a dump shows.
    active: False when a newer one has taken its place at the same key. alias: the key is an alias key.
    fills: slots of the computed table that hold this kernel. covers: slots that the key reaches, Undefined among them.
    flags: the words of a dump's brackets. python: declared as a Python function.
    origin: through what it came, beyond its place. redispatches: the declared field, if any.
    fake: of the kernel of a fake implementation, what that is. wraps: the user's function that PyTorch made it of.
    when: the conditions of its registration, here as in the other rows; None where it has none.
    """

    key: str
    alias: bool
    kernel: str
    debug: str
    active: bool
    fills: int
    covers: int
    signature: str | None
    flags: tuple[str, ...]
    python: bool
    redispatches: Redispatch | None
    span: Span | None
    origin: Origin = OWN
    fake: FakeImpl | None = None
    wraps: Wrapped | None = None
    when: str | None = None


class OperatorRegistrations(NamedTuple):
    """One operator: its schema, None when it is dangling, and its kernels in the order of PyTorch's dump.

    origin: through what the schema came, beyond its place.
    """

    operator: str
    schema: str | None
    debug: str | None
    alias_analysis: str | None
    tags: tuple[str, ...]
    span: Span | None
    origin: Origin
    kernels: tuple[KernelRow, ...]
    python_kernels: tuple[PythonKernelRow, ...]


class BackendFallback(NamedTuple):
    """A backend fallback.

    kernel: its name, or what a dump shows; debug: what a dump shows. core: it is PyTorch's own. when: the conditions of
    its registration; None where it has none.
    """

    key: str
    kernel: str
    debug: str
    fallthrough: bool
    core: bool
    span: Span | None
    origin: Origin = OWN
    when: str | None = None


@dataclass(frozen=True, slots=True)
class RegistrationsReport(StartsFrom):
    """The registrations asked for; the operators are computed as they are read.

    core_fallbacks: how many backend fallbacks are PyTorch's own. fallbacks: those that the declarations add.
    """

    REPORT: ClassVar[str] = "registrations"

    core_fallbacks: int
    fallbacks: tuple[BackendFallback, ...]
    higher_order_operators: tuple[HigherOrderImpls, ...]
    operators: Iterator[OperatorRegistrations]


def registrations_report(
    state: State, names: Collection[OperatorName], higher_order: tuple[HigherOrderOperator, ...] = ()
) -> RegistrationsReport:
    """The registrations of *names*, the fallbacks that the declarations add, and *higher_order* operators."""
    dispatcher = state.dispatcher
    order = dispatcher.universe.slot
    fallbacks = sorted(dispatcher.fallbacks.values(), key=lambda registration: order[registration.key])
    declared = [registration for registration in fallbacks if registration.kernel.span is not None]
    impls: tuple[HigherOrderImpls, ...] = ()
    if higher_order:  # else their module is not imported
        from dispatch_cli.answers.table.higher_order_report import impls_of

        impls = impls_of(state, higher_order)
    return RegistrationsReport(
        *starts_from(state, names),
        core_fallbacks=len(fallbacks) - len(declared),
        fallbacks=tuple(fallback_of(state, registration) for registration in declared),
        higher_order_operators=impls,
        operators=(_operator(state, name) for name in names),
    )


def _operator(state: State, name: OperatorName) -> OperatorRegistrations:
    dispatcher = state.dispatcher
    operator, universe = dispatcher.operator(name), dispatcher.universe
    fills = Counter(decision.source for decision in dispatcher.table(name).plan.decisions)
    rows = []
    for key in sorted(operator.kernels, key=universe.ids.__getitem__):
        for position, registration in enumerate(operator.kernels[key]):
            kernel = registration.kernel
            rows.append(
                KernelRow(
                    key=key,
                    alias=universe.is_alias(key),
                    kernel=kernel.label,
                    debug=kernel.debug,
                    active=position == 0,
                    fills=0 if position else fills[key],
                    covers=len(universe.covered_by(key)) + (key in FILLS_UNDEFINED),
                    signature=None if kernel.signature is None else str(kernel.signature),
                    flags=tuple(kernel_flags(kernel).split()),
                    python=kernel.python,
                    redispatches=kernel.redispatches,
                    span=kernel.span,
                    origin=state.origin(registration),
                    fake=kernel.fake,
                    wraps=kernel.wraps,
                    when=kernel.when,
                )
            )
    definition = operator.definition
    return OperatorRegistrations(
        operator=str(name),
        schema=str(definition.schema) if definition else None,
        debug=definition.debug if definition else None,
        alias_analysis=alias_analysis_text(definition) if definition else None,
        tags=definition.tags if definition else (),
        span=definition.span if definition else None,
        origin=state.operator_origin(name),
        kernels=tuple(rows),
        python_kernels=tuple(
            PythonKernelRow(kernel.dispatch_key, kernel.kernel, kernel.span, all_text(kernel.when) or None)
            for kernel in state.python_kernels(name)
        ),
    )


class OrderedRegistration(NamedTuple):
    """A registration. python: for the Python dispatcher. kernel: as of `KernelRow`. captured: of an embedded state or a
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
        kernel=entry.step.kernel.label if isinstance(entry.step, Implement | Fallback) else entry.kernel,
        function=entry.function,
        fallthrough=entry.fallthrough,
        captured=entry.captured is not None,
        span=entry.span,
        when=None if entry.step is None or isinstance(entry.step, Settle) else all_text(entry.step.when) or None,
    )


@dataclass(frozen=True, slots=True)
class BackendFallbacksReport(StartsFrom):
    """All backend fallbacks, or those at the keys that were asked for, in the order of the slots."""

    REPORT: ClassVar[str] = "backend-fallbacks"

    fallbacks: tuple[BackendFallback, ...]


def backend_fallbacks_report(state: State, keys: Collection[str] | None = None) -> BackendFallbacksReport:
    """The backend fallbacks at *keys*; None for all."""
    dispatcher = state.dispatcher
    fallbacks = dispatcher.fallbacks
    return BackendFallbacksReport(
        *starts_from(state),
        fallbacks=tuple(
            fallback_of(state, fallbacks[key])
            for key in dispatcher.universe.slots
            if key in fallbacks and (keys is None or key in keys)
        ),
    )


def fallback_of(state: State, registration: Registration) -> BackendFallback:
    """A backend fallback as a row."""
    kernel = registration.kernel
    return BackendFallback(
        key=registration.key,
        kernel=kernel.label,
        debug=kernel.debug,
        fallthrough=kernel.fallthrough,
        core=kernel.span is None,
        span=kernel.span,
        origin=state.origin(registration),
        when=kernel.when,
    )
