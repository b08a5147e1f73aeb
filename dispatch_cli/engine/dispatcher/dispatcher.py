"""The dispatcher: operators, kernels, fallbacks and libraries in effect, and the questions about them.

Source of the behaviour: ``aten/src/ATen/core/dispatch/Dispatcher.cpp`` and ``OperatorEntry.cpp``. A refused call
raises `Refused` with PyTorch's text and leaves everything as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from dispatch_cli.engine.dispatcher.registry import Checkpoint, Registry
from dispatch_cli.engine.rules import RuleStep, decide
from dispatch_cli.engine.table.layout import KeyLayout, layout_of
from dispatch_cli.engine.table.live import KernelChange, StaleEntry
from dispatch_cli.engine.table.registration import (
    Definition,
    Handle,
    LibraryHold,
    OperatorHeader,
    Refusal,
    Refused,
    Registration,
    kernel_text,
)
from dispatch_cli.engine.table.table import Table, TableEntry, entry_for, plan
from dispatch_cli.model.kernel import AliasAnalysisKind, Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import CATCH_ALL, UNDEFINED, Universe

if TYPE_CHECKING:
    from dispatch_cli.engine.dispatcher.operator import Operator
    from dispatch_cli.engine.dispatcher.seen import WaitingOperator
    from dispatch_cli.model.captured import StateSource
    from dispatch_cli.model.declarations import CapturedRegistration
    from dispatch_cli.model.schema.model import FunctionSchema


class Dispatcher:
    """A dispatcher of one universe.

    core_fallbacks: whether the universe's own backend fallbacks stand from the beginning, as in PyTorch.
    base: a captured state to continue; its operators are taken in one at a time, when they are first needed.
    without: what is left out of the base and of the universe's own fallbacks, as if it had never been registered.
    """

    def __init__(
        self,
        universe: Universe,
        core_fallbacks: bool = True,
        base: StateSource | None = None,
        without: Iterable[CapturedRegistration] = (),
    ) -> None:
        self.universe = universe
        self.has_core_fallbacks = core_fallbacks
        incomplete = () if base is None else base.incomplete
        # of a complete state the one that key sets have
        self.layout: KeyLayout = layout_of(universe, incomplete) if incomplete else layout_of(universe)
        self._registry = Registry(self.layout)
        self._without = frozenset(without)
        if core_fallbacks:
            for fallback in universe.fallbacks:
                if (None, fallback.key, 1, False) in self._without:
                    continue
                self.fall_back(fallback.key, Kernel(debug=fallback.debug, fallthrough=fallback.fallthrough))
        self._base = base
        if base is not None:
            self._registry.continue_from(base)
            for name in dict.fromkeys(gone.operator for gone in self._without if gone.operator is not None):
                self.find(OperatorName.parse(name))

    # registering

    def open_library(self, namespace: str, debug: str, span: Span | None = None) -> LibraryHold:
        """Take *namespace* for its one DEF library. Errors: Refused when it is taken."""
        earlier = self._registry.now.libraries.get(namespace)
        if earlier is not None:
            raise Refused(
                Refusal.DUPLICATE_LIBRARY,
                f"Only a single TORCH_LIBRARY can be used to register the namespace {namespace}; "
                "please put all of your definitions in a single TORCH_LIBRARY block.  "
                "If you were trying to specify implementations, consider using TORCH_LIBRARY_IMPL "
                "(which can be duplicated).  If you really intended to define operators for a "
                "single namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT to "
                f"explicitly indicate this.  Previous registration of TORCH_LIBRARY was {earlier.debug}; "
                f"latest registration was {debug}",
                earlier,
            )
        hold = self._registry.change().libraries[namespace] = LibraryHold(namespace, debug, span)
        return hold

    def define(
        self,
        schema: FunctionSchema,
        debug: str,
        alias_analysis: AliasAnalysisKind | None = AliasAnalysisKind.FROM_SCHEMA,
        tags: tuple[str, ...] = (),
        span: Span | None = None,
        python_module: tuple[str, str] | None = None,
    ) -> Definition:
        """Give an operator its schema. Errors: Refused for a second one, or one that a kernel contradicts."""
        operator = self.find(schema.name)
        if operator is not None:
            if operator.definition is not None:
                raise Refused(
                    Refusal.DUPLICATE_DEFINITION,
                    f"Tried to register an operator ({schema}) with the same name and overload name multiple times. "
                    "Each overload's schema should only be registered with a single call to def(). "
                    f"Duplicate registration: {debug}. Original registration: {operator.definition.debug}",
                    operator.definition,
                )
            for key_id in operator.visit_order():
                key = self.universe.keys_of_ids[key_id]
                for registration in operator.kernels[key]:
                    _check_signature(schema.name, schema, debug, registration.kernel, registration)
        definition = Definition(schema.name, schema, debug, alias_analysis, tags, span, python_module=python_module)
        operator = self._registry.changing(operator) if operator is not None else self._registry.create(schema.name)
        operator.definition = definition
        operator.holds += 1
        return definition

    def implement(self, name: OperatorName, dispatch_key: str | None, kernel: Kernel) -> Registration:
        """Register a kernel of *name*; the newest at a key is active.

        dispatch_key: a runtime, alias or functionality key; None or Undefined is the catch-all, which stands at
        CompositeImplicitAutograd. Errors: Refused for an unknown key, a signature that contradicts the schema, and a
        fake implementation that ``register_fake`` refuses.
        """
        catch_all = dispatch_key is None or dispatch_key == UNDEFINED
        key = CATCH_ALL if dispatch_key is None or catch_all else self.check_key(dispatch_key)
        operator = self.find(name)
        if kernel.fake is not None:
            from dispatch_cli.engine.dispatcher.fakes import refuse_fake

            refuse_fake(self.universe, name, kernel.fake, operator)
        if operator is not None and operator.definition is not None:
            definition = operator.definition
            _check_signature(name, definition.schema, definition.debug, kernel, definition)
        operator = self._registry.changing(operator) if operator is not None else self._registry.create(name)
        registration = self._add(operator, key, kernel, catch_all)
        operator.live.note(self._change(registration, registration, came=True, full=catch_all))
        return registration

    def fall_back(self, dispatch_key: str, kernel: Kernel) -> tuple[Registration, ...]:
        """Register a backend fallback for every runtime key that *dispatch_key* covers; a functionality covers none.

        Errors: Refused for an unknown key, or when one of the keys has a fallback already that must stay.
        """
        keys = self.universe.covered_by(self.check_key(dispatch_key))
        for key in keys:
            earlier = self.fallbacks.get(key)
            if earlier is not None and key not in self.universe.replaceable_fallbacks:
                raise Refused(
                    Refusal.DUPLICATE_FALLBACK,
                    f"Tried to register multiple backend fallbacks for the same dispatch key {key}; "
                    f"previous registration {earlier.kernel.debug}, new registration {kernel.debug}",
                    earlier,
                )
        registrations = tuple(Registration(None, key, kernel) for key in keys)
        fallbacks = self._registry.change().fallbacks
        for registration in registrations:
            fallbacks.add(registration, 1 << self.universe.slot[registration.key])
            self._registry.note_fallback(self._change(registration, registration, came=True, fallback=True))
        return registrations

    def drop(self, handle: Handle) -> None:
        """Take back what *handle* stands for; dropping it a second time does nothing."""
        if isinstance(handle, LibraryHold):
            if self._registry.now.libraries.get(handle.namespace) is handle:
                del self._registry.change().libraries[handle.namespace]
        elif isinstance(handle, Registration):
            self._drop_registration(handle)
        else:
            operator = self._registry.find(handle.operator)
            if operator is not None and operator.definition is handle:
                operator = self._registry.changing(operator)
                operator.definition = None
                self._release(operator)

    # checkpoints

    def checkpoint(self) -> Checkpoint:
        """The present state, to be restored; the same checkpoint as before when nothing has changed since."""
        self._registry.now.kept = True
        return self._registry.now

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back, or forward, to a checkpoint of this dispatcher: everything is exactly as it was then.

        Registrations, live tables with what is stale in them, fallbacks, libraries, and which operators of a base have
        been taken in. All other checkpoints stay good. Handles of what has come since stand for nothing, and `drop`
        does nothing with them; handles of what had gone since stand for it again. An `Operator` that was asked for
        before is of the state that was left: ask again.
        Errors: ValueError for a checkpoint of another dispatcher.
        """
        if checkpoint.registry is not self._registry.identity:
            raise ValueError("the checkpoint is of another dispatcher")
        self._registry.now = checkpoint

    def present(self) -> set[OperatorName]:
        """The operators that do not simply wait in the base: something was registered for them, or they were asked for.

        Those of the base that were dropped are among them.
        """
        now = self._registry.now
        return {*now.operators, *map(OperatorName.parse, now.taken)}

    # asking

    def __iter__(self) -> Iterator[OperatorName]:
        return iter([*map(OperatorName.parse, self._registry.waiting()), *self._registry.now.operators])

    def __len__(self) -> int:
        return len(self._registry.waiting()) + len(self._registry.now.operators)

    def __contains__(self, name: OperatorName) -> bool:
        return name in self._registry.now.operators or self._registry.waits(name)

    def names(self) -> list[str]:
        """The names of all operators, sorted."""
        return sorted([*self._registry.waiting(), *map(str, self._registry.now.operators)])

    def find(self, name: OperatorName) -> Operator | None:
        """The operator of that name, or None."""
        return self._registry.find(name) or (self._take_in(name) if self._registry.waits(name) else None)

    def is_as_captured(self, name: OperatorName) -> bool:
        """True if the operator comes from the base, and nothing that concerns it has happened since."""
        return self._registry.waits(name) and self._registry.fallbacks_are_the_bases

    def is_untouched(self, name: OperatorName) -> bool:
        """True if the operator comes from the base, and nothing has been registered for it, or asked, since."""
        return self._registry.waits(name)

    def seen(self, name: OperatorName) -> Operator | WaitingOperator:
        """The operator, to be asked; one of the base is not taken in for that. Errors: Refused for an unknown one."""
        seen = self._registry.find(name) or self._waiting(name)
        if seen is None:
            raise _unknown(name)
        return seen

    def header(self, name: OperatorName) -> OperatorHeader:
        """The heading of the operator: its schema and its place. Errors: as `seen`."""
        return self.seen(name).header

    def active(self, name: OperatorName) -> Mapping[str, Registration]:
        """The active registration of every key that has one. Errors: as `seen`."""
        return self.seen(name).active_kernels()

    def registered_at(
        self, keys: Container[str], names: Iterable[OperatorName] | None = None
    ) -> Iterator[Registration]:
        """The active registrations at exactly *keys*, alias keys included, operator by operator.

        names: of these operators, by default of all. An operator of the base is not taken in for that.
        Source: ``Dispatcher::getRegistrationsForDispatchKey``. Errors: Refused for an unknown operator.
        """
        for name in self if names is None else names:
            for key, registration in self.active(name).items():
                if key in keys:
                    yield registration

    def shape(self, name: OperatorName) -> tuple[int, frozenset[str]]:
        """The bits of the keys with a kernel, and those keys whose active kernel falls through. Errors: as `seen`.

        All that decides the operator's table, but for the backend fallbacks.
        """
        seen = self.seen(name)
        return seen.registered, seen.falling

    def settle(self, name: OperatorName) -> None:
        """Take the operator's registrations for a snapshot of a running dispatcher: its live table is in order."""
        operator = self._registry.changing(self.operator(name))
        operator.live.settle(operator.active_kernels())

    def operator(self, name: OperatorName) -> Operator:
        """The operator of that name. Errors: Refused when there is none."""
        operator = self.find(name)
        if operator is None:
            raise _unknown(name)
        return operator

    @property
    def base(self) -> StateSource | None:
        """The captured state that this dispatcher continues."""
        return self._base

    @property
    def fallbacks(self) -> Mapping[str, Registration]:
        """The backend fallbacks in effect, by runtime key."""
        return self._registry.now.fallbacks.registrations

    @property
    def fallback_bits(self) -> int:
        """Bit *i* is set when slot *i* has a backend fallback."""
        return self._registry.now.fallbacks.bits

    def check_key(self, key: str) -> str:
        """*key* itself. Errors: Refused when the universe has no key of that name."""
        if key not in self.universe.ids and key != UNDEFINED:
            raise Refused(Refusal.UNKNOWN_KEY, f"could not parse dispatch key: {key}")
        return key

    def table(self, name: OperatorName) -> Table:
        """The canonical table: what the registrations in effect determine, whatever their order."""
        return self._table(self.seen(name))

    def dump_table(self, name: OperatorName) -> str:
        """The text that ``torch._C._dispatch_dump_table`` prints: the canonical table without its missing slots.

        An empty text for an unknown operator.
        """
        seen = self._registry.find(name) or self._waiting(name)
        if seen is None:
            return ""
        fallbacks = self._registry.now.fallbacks
        return plan(self.layout, seen.registered, fallbacks.bits).dump(seen.texts, fallbacks.texts)

    def explain(self, name: OperatorName, key: str) -> tuple[TableEntry, tuple[RuleStep, ...]]:
        """One slot of the canonical table, and every rule that was looked at on the way.

        Errors: Refused for an unknown operator, and for a key without a slot.
        """
        operator = self.operator(name)
        slot = self._slot(key)
        steps: list[RuleStep] = []
        candidates = self.layout.candidates[slot]
        decision = decide(candidates, operator.registered, key in self.fallbacks, steps)
        return entry_for(key, decision, operator.active_kernels(), self.fallbacks), tuple(steps)

    def stale_entries(self, name: OperatorName) -> list[StaleEntry]:
        """The slots in which the live table differs from the canonical one."""
        return self.seen(name).stale()

    def stale_slots(self, name: OperatorName) -> dict[str, StaleEntry]:
        """The same by the key of the slot."""
        return {entry.canonical.key: entry for entry in self.stale_entries(name)}

    def live_table(self, name: OperatorName) -> Table:
        """The table that calls find: the canonical one, but for the slots that are stale. Errors: as `table`.

        A kernel that comes or goes refreshes the slots that it fills, so that the live kernels are active ones.
        """
        seen = self.seen(name)
        table, stale = self._table(seen), seen.stale()
        return table.holding({entry.canonical.key: entry.live.decision for entry in stale}) if stale else table

    def keys_in(self, bits: int) -> tuple[str, ...]:
        """The keys of a set of registered bits, such as a step's blockers, in the order of the enum."""
        return self.layout.keys_in(bits)

    # inside

    def _waiting(self, name: OperatorName) -> WaitingOperator | None:
        if self._base is None or not self._registry.waits(name):
            return None
        from dispatch_cli.engine.dispatcher.seen import WaitingOperator

        return WaitingOperator(name, self._base, self.layout)

    def _table(self, seen: Operator | WaitingOperator) -> Table:
        fallbacks = self._registry.now.fallbacks
        shared = plan(self.layout, seen.registered, fallbacks.bits)
        return Table(self.layout, shared, seen.active_kernels(), fallbacks.registrations)

    def _slot(self, key: str) -> int:
        self.check_key(key)
        slot = self.universe.slot.get(key)
        if slot is None:
            raise Refused(Refusal.ALIAS_KEY, f"{key} has no slot in a dispatch table")
        return slot

    def _take_in(self, name: OperatorName) -> Operator:
        """Make a waiting operator of the base a present one."""
        assert self._base is not None, "only a base has operators that wait"
        captured = self._base.operator(str(name))
        operator = self._registry.take_in(name)
        if captured.schema is not None:
            operator.definition = Definition(
                name, captured.schema, captured.debug, captured.alias_analysis, captured.tags, captured=True
            )
            operator.holds += 1
        counts: Counter[str] = Counter()
        for key, kernel in captured.kernels:
            counts[key] += 1
            if (str(name), key, counts[key], False) not in self._without:
                self._add(operator, self.check_key(key), kernel, catch_all=False, captured=True)
        operator.live.settle(operator.active_kernels())
        return operator

    def _add(
        self, operator: Operator, key: str, kernel: Kernel, catch_all: bool, captured: bool = False
    ) -> Registration:
        active = operator.active(key)
        registration = Registration(operator.name, key, kernel, catch_all, active.kernel if active else None, captured)
        if active is None:
            operator.visits.append(self.universe.ids[key])
        operator.kernels.setdefault(key, []).insert(0, registration)
        operator.texts[key] = kernel_text(kernel.debug, kernel.fallthrough)
        operator.registered |= self.layout.registered_bit[key]
        operator.holds += 1
        return registration

    def _change(
        self, cause: Registration, active: Registration | None, came: bool, full: bool = False, fallback: bool = False
    ) -> KernelChange:
        now = self._registry.change()
        now.time += 1
        return KernelChange(cause.key, active, cause, came, full, fallback, now.time)

    def _drop_registration(self, registration: Registration) -> None:
        key = registration.key
        if registration.operator is None:
            if registration in self._registry.now.fallbacks.held:
                self._registry.change().fallbacks.remove(registration, 1 << self.universe.slot[key])
                self._registry.note_fallback(self._change(registration, None, came=False, fallback=True))
            return
        operator = self._registry.find(registration.operator)
        if operator is None or registration not in operator.kernels.get(key, ()):
            return
        operator = self._registry.changing(operator)
        registrations = operator.kernels[key]
        registrations.remove(registration)
        if registrations:
            active = registrations[0].kernel
            operator.texts[key] = kernel_text(active.debug, active.fallthrough)
        else:
            del operator.kernels[key], operator.texts[key]
            operator.visits.append(-self.universe.ids[key])
            operator.registered &= ~self.layout.registered_bit[key]
        operator.live.note(self._change(registration, operator.active(key), came=False))
        self._release(operator)

    def _release(self, operator: Operator) -> None:
        operator.holds -= 1
        if operator.holds == 0:
            self._registry.remove(operator.name)


def _unknown(name: OperatorName) -> Refused:
    return Refused(Refusal.UNKNOWN_OPERATOR, f"operator {name} does not exist")


def _check_signature(
    name: OperatorName, schema: FunctionSchema, debug: str, kernel: Kernel, earlier: Definition | Registration
) -> None:
    """Refuse a kernel whose inferred signature contradicts the schema."""
    if schema.unknown is not None:
        return
    if kernel.signature is None:
        return
    from dispatch_cli.model.schema.model import find_schema_differences, takes_symint, without_symint

    symint = takes_symint(kernel.signature)
    difference = find_schema_differences(schema, kernel.signature)
    if difference is not None:
        raise Refused(
            Refusal.SIGNATURE_MISMATCH,
            "Inferred operator schema for a C++ kernel function doesn't match the expected function schema.\n"
            f"  operator: {name}\n"
            f"  expected schema: {schema if symint else without_symint(schema)}\n"
            f"    {debug}\n"
            f"  inferred schema: {kernel.signature}\n"
            f"    {kernel.debug}\n"
            f"  reason: {difference}",
            earlier,
        )
