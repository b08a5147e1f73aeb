"""A state as it is compared with another one: its kernels, views of its operators, and what their slots hold.

Two registrations at one key of one operator are the same kernel if both fall through or neither does, and they are in
the same source file. Lines, folders and numbers of generated files do not count: nearly all differ between builds.
Where one side has only a name (a declared kernel), or its file is not known, operator and key are all that can be
compared; where both have only names, the names are. But where both states are made of the same captured state or file,
a kernel of it that one of them lacks was taken away there, and what is registered in its place is another one. A Python
kernel is not one of a C++ file, also where PyTorch does not say in which file it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.engine.dispatcher.dump import DEFAULT_ALIAS_ANALYSIS, alias_analysis_text
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.engine.table.table import plan
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.debug_text import is_placed, is_python_without_place, source_file


class SharedParts(NamedTuple):
    """Parts that two states share. base: True if both are over the same captured state. files: their names."""

    base: bool
    files: frozenset[str]


NOTHING_SHARED = SharedParts(False, frozenset())


class KernelIdentity(NamedTuple):
    """The part of a kernel that is compared, beside its operator and key.

    file: the source file's name; None where it is not known. name: the function's name, of a kernel that is declared by
    name, or that PyTorch made of a function that a declaration names; else None.
    """

    fallthrough: bool
    file: str | None
    name: str | None


class KernelView(NamedTuple):
    """A registered kernel as it is compared. debug: its debug text. label: what reports call it.

    span: where it is declared; None of a captured one. when: the conditions of its registration.
    captured: it is from a captured state. shares_file: it is of a file that the other side has read, too.
    shares_base: its state is over the same captured one as the other side.
    """

    identity: KernelIdentity
    debug: str
    label: str
    span: Span | None = None
    when: str | None = None
    captured: bool = False
    shares_file: bool = False
    shares_base: bool = False

    @property
    def fallthrough(self) -> bool:
        """True if dispatch skips the key."""
        return self.identity.fallthrough


@lru_cache(maxsize=65536)
def captured_kernel(debug: str, fallthrough: bool) -> KernelView:
    """The view of a kernel of a captured state."""
    file = source_file(debug)
    name = None if file is not None or is_placed(debug) else debug
    return KernelView(KernelIdentity(fallthrough, file, name), debug, debug, captured=True)


def kernel_view(kernel: Kernel, captured: bool, shared: SharedParts = NOTHING_SHARED) -> KernelView:
    """The view of a kernel in a dispatcher.

    captured: it is from a captured state. shared: what both sides of a comparison are made of.
    """
    if captured:
        return captured_kernel(kernel.debug, kernel.fallthrough)
    file, name = source_file(kernel.debug), kernel.function_name
    if kernel.span is not None and kernel.debug.startswith(f"registered at {kernel.span.file}:"):
        file = None  # the file of the declaration, of which the other side has another one
    if name is not None and is_placed(name):
        file, name = source_file(name), None  # a function without a name
    if name is None and file is None and not is_placed(kernel.debug):
        name = kernel.debug
    identity = KernelIdentity(kernel.fallthrough, file, name)
    shares_file = kernel.span is not None and kernel.span.file in shared.files
    return KernelView(
        identity,
        kernel.debug,
        kernel.label,
        kernel.span,
        kernel.when,
        shares_file=shares_file,
        shares_base=shared.base,
    )


def same_kernel(old: KernelView, new: KernelView) -> bool:
    """True if two kernels that are registered at one key of one operator are the same."""
    identity, other = old.identity, new.identity
    if identity == other:
        return True
    if identity.fallthrough != other.fallthrough:
        return False
    known = (identity.file is not None and other.file is not None, identity.name is not None and other.name is not None)
    if known[0] and identity.file != other.file:
        return False
    if known[1] and identity.name != other.name:
        return False
    if not any(known) and (_is_lacking(old, new) or _is_lacking(new, old)):
        return False
    return not (_is_python_alone(old, new) or _is_python_alone(new, old))


def same_active(before: Sequence[KernelView], after: Sequence[KernelView]) -> bool:
    """True if the first kernels of two lists are the same, where the others are those below them.

    Not where one of them is known to be below the other: a declared kernel that overrides a captured one may have only
    a name, but the captured one is still there.
    """
    old, new = before[0], after[0]
    if old.identity == new.identity:
        return True
    overridden = (*(kernel.identity for kernel in before[1:]), *(kernel.identity for kernel in after[1:]))
    return old.identity not in overridden and new.identity not in overridden and same_kernel(old, new)


def _is_lacking(view: KernelView, other: KernelView) -> bool:
    """True if the other state would have the one's kernel, if that had not been taken away there."""
    return view.shares_file or (view.captured and other.shares_base)


def _is_python_alone(view: KernelView, other: KernelView) -> bool:
    """True if the one is registered in Python, without a place, and the other one in a file of another language."""
    file = other.identity.file
    return file is not None and not file.endswith(".py") and is_python_without_place(view.debug)


class ChangeKind(Enum):
    """Kind of change."""

    ADDED = "added"
    REMOVED = "removed"
    REPLACED = "replaced"
    BENEATH = "beneath"
    """For a kernel: the active one is the same; others at its key, which it overrides, came or went."""

    @classmethod
    def of(cls, before: object | None, after: object | None) -> ChangeKind:
        """The kind of change between what two sides have; None for nothing."""
        if before is None:
            return cls.ADDED
        return cls.REMOVED if after is None else cls.REPLACED


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

    def view(self, name: str) -> OperatorView | None:
        """An operator; None where the state has none of that name."""
        parsed = OperatorName.parse(name)
        base = self.dispatcher.base
        if base is None or not self.dispatcher.is_untouched(parsed):
            return self._declared(parsed) if parsed in self.dispatcher else None
        listing = base.listing(name)
        kernels: dict[str, tuple[KernelView, ...]] = {}
        registered, bits = 0, self._bits
        for key, debug, fallthrough in listing.kernels:
            view = captured_kernel(debug, fallthrough)
            kernels[key] = (view, *kernels[key]) if key in kernels else (view,)
            registered |= bits[key]
        python_kernels = {kernel[0]: kernel[1] for kernel in listing.python_kernels}
        if parsed in self.state.declared_python_kernels:
            python_kernels = self._python_kernels(parsed)
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

    def _python_kernels(self, name: OperatorName) -> dict[str, str]:
        return {kernel.dispatch_key: kernel.kernel for kernel in self.state.python_kernels(name)}

    def _declared(self, name: OperatorName) -> OperatorView:
        operator = self.dispatcher.operator(name)
        definition = operator.definition
        schema = None if definition is None else definition.known_schema
        kernels = {key: tuple(self._registered(kernel) for kernel in group) for key, group in operator.kernels.items()}
        return OperatorView(
            str(name),
            None if schema is None else str(schema),
            definition is not None,
            None if definition is None else definition.span,
            "" if definition is None else alias_analysis_text(definition),
            frozenset(() if definition is None else definition.tags),
            kernels,
            operator.registered,
            self._python_kernels(name),
            {entry.canonical.key: self._stale_slot(entry) for entry in self.dispatcher.stale_entries(name)}
            or _NOTHING_STALE,
        )

    def _stale_slot(self, entry: StaleEntry) -> StaleSlot:
        live, cause = entry.live, entry.cause
        kernel = None if live.registration is None else self._registered(live.registration)
        return StaleSlot(live.decision, kernel, self._registered(cause.cause), cause.key)

    def _registered(self, registration: Registration) -> KernelView:
        return kernel_view(registration.kernel, registration.captured, self._shared)
