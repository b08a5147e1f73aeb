"""A state as it is compared with another one: views of its operators, and what their slots hold."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.engine.comparison.identity import (
    NOTHING_SHARED,
    KernelView,
    SharedParts,
    captured_kernel,
    kernel_view,
)
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.engine.table.table import plan
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span

DEFAULT_ALIAS_ANALYSIS = "CONSERVATIVE (default)"
"""Text of a dump for an alias analysis kind that was left at its default."""
_NO_PYTHON_KERNELS: Mapping[str, str] = {}


class StaleSlot(NamedTuple):
    """Content of a slot of PyTorch's live table that differs from what the registrations determine.

    kernel: None where there is none. cause, cause_key: the kernel after whose registration the slot was left behind,
    and the key of it.
    """

    decision: Decision
    kernel: KernelView | None
    cause: KernelView
    cause_key: str


_NOTHING_STALE: Mapping[str, StaleSlot] = {}


class OperatorView(NamedTuple):
    """An operator of a state as it is compared.

    schema: as text; None where it is not known, or nothing defines the operator. defined: whether something does.
    span: where it is declared; None of a captured operator. alias_analysis: as a dump says it; empty without a schema.
    kernels: per key the registered ones, newest first; the first one is active. registered: the bits of their keys in
    the layout of the state. python_kernels: dispatch key → function. stale: the slots in which the order of the
    registrations left something else than they determine.
    """

    name: str
    schema: str | None
    defined: bool
    span: Span | None
    alias_analysis: str
    tags: frozenset[str]
    kernels: Mapping[str, tuple[KernelView, ...]]
    registered: int
    python_kernels: Mapping[str, str]
    stale: Mapping[str, StaleSlot] = _NOTHING_STALE


class HeldSlot(NamedTuple):
    """Content of a slot. kernel: None where it is missing or ambiguous."""

    decision: Decision
    kernel: KernelView | None


class Side:
    """A state as it is compared. fallbacks: the backend fallbacks, by runtime key."""

    def __init__(self, state: State, shared: SharedParts = NOTHING_SHARED) -> None:
        """shared: what the other side is made of, too."""
        self.state = state
        self._shared = shared
        self.dispatcher = state.dispatcher
        self.universe = self.dispatcher.universe
        self.layout = self.dispatcher.layout
        self.fallbacks: Mapping[str, KernelView] = {
            key: kernel_view(fallback.kernel, fallback.kernel.span is None, shared)
            for key, fallback in self.dispatcher.fallbacks.items()
        }
        self._bits = self.layout.registered_bit

    @cached_property
    def names(self) -> Mapping[str, OperatorName]:
        """The operators, by name, sorted."""
        return {name: OperatorName.parse(name) for name in self.dispatcher.names()}

    def view(self, name: str) -> OperatorView | None:
        """An operator; None where the state has none of that name."""
        known: Mapping[str, OperatorName] | None = vars(self).get("names")  # of one operator, not all names are parsed
        parsed = OperatorName.parse(name) if known is None else known.get(name)
        if parsed is None or (known is None and parsed not in self.dispatcher):
            return None
        base = self.dispatcher.base
        if base is None or not self.dispatcher.is_untouched(parsed):
            return self._declared(parsed)
        listing = base.listing(name)
        kernels: dict[str, tuple[KernelView, ...]] = {}
        registered, bits = 0, self._bits
        for key, debug, fallthrough in listing.kernels:
            view = captured_kernel(debug, fallthrough)
            kernels[key] = (view, *kernels[key]) if key in kernels else (view,)
            registered |= bits[key]
        python_kernels = (
            {kernel[0]: kernel[1] for kernel in listing.python_kernels}
            if listing.python_kernels
            else _NO_PYTHON_KERNELS
        )
        if parsed in self._own_python_kernels:
            python_kernels = {kernel.dispatch_key: kernel.kernel for kernel in self.state.python_kernels(parsed)}
        return OperatorView(
            name,
            listing.schema,
            listing.schema is not None,
            None,
            listing.alias_analysis or DEFAULT_ALIAS_ANALYSIS,
            frozenset(listing.tags),
            kernels,
            registered,
            python_kernels,
        )

    def slot(self, view: OperatorView, key: str) -> HeldSlot:
        """Content of a slot, for a call, at a runtime key or Undefined. Errors: KeyError for a key without a slot."""
        stale = view.stale.get(key)
        if stale is not None:
            return HeldSlot(stale.decision, stale.kernel)
        slot = self.universe.slot[key]
        shared = plan(self.layout, view.registered, self.dispatcher.fallback_bits)
        decision = shared.decisions[slot]
        return HeldSlot(decision, self.kernel_of(view, key, decision))

    def kernel_of(self, view: OperatorView, key: str, decision: Decision) -> KernelView | None:
        """The kernel that a decision puts into the slot of *key*; None where it is missing or ambiguous."""
        if decision.source is not None:
            return view.kernels[decision.source][0]
        return self.fallbacks.get(key) if decision.rule is Rule.FALLBACK else None

    @cached_property
    def _own_python_kernels(self) -> frozenset[OperatorName]:
        """The operators for which files declare Python kernels."""
        return frozenset(kernel.operator for kernel in self.state.declarations.python_kernels)

    def _declared(self, name: OperatorName) -> OperatorView:
        operator = self.dispatcher.operator(name)
        definition = operator.definition
        schema = None if definition is None else definition.known_schema
        kernels = {key: tuple(self._registered(kernel) for kernel in group) for key, group in operator.kernels.items()}
        kind = "" if definition is None else DEFAULT_ALIAS_ANALYSIS
        if definition is not None and definition.alias_analysis is not None:
            kind = definition.alias_analysis.value
        return OperatorView(
            str(name),
            None if schema is None else str(schema),
            definition is not None,
            None if definition is None else definition.span,
            kind,
            frozenset(() if definition is None else definition.tags),
            kernels,
            operator.registered,
            {kernel.dispatch_key: kernel.kernel for kernel in self.state.python_kernels(name)},
            {entry.canonical.key: self._stale_slot(entry) for entry in self.dispatcher.stale_entries(name)}
            or _NOTHING_STALE,
        )

    def _stale_slot(self, entry: StaleEntry) -> StaleSlot:
        live, cause = entry.live, entry.cause
        kernel = None if live.registration is None else self._registered(live.registration)
        return StaleSlot(live.decision, kernel, self._registered(cause.cause), cause.key)

    def _registered(self, registration: Registration) -> KernelView:
        return kernel_view(registration.kernel, registration.captured, self._shared)
