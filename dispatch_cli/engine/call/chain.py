"""The kernels of a call: select a slot, find out what its kernel does, and continue as the kernel does."""

from __future__ import annotations

import re
from typing import NamedTuple

from dispatch_cli.engine.call import errors
from dispatch_cli.engine.call.kernels import entry as kernels
from dispatch_cli.engine.call.select import SlotSelector, slot_of
from dispatch_cli.engine.call.step import KernelStep, Moment, decomposes, ends, hands_over, not_known, raises
from dispatch_cli.engine.call.tensors import TensorMaker, Value
from dispatch_cli.engine.call.thread import Mode, Thread
from dispatch_cli.engine.call.trace import (
    Does,
    End,
    EndKind,
    Error,
    Handler,
    HandlerKind,
    Hop,
    PythonChoice,
    Reached,
    Selection,
    Why,
)
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.operator import Operator
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.python.table import chosen_key, resolve_key
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import NO_OPTIONS, Options, generator_named
from dispatch_cli.model.universe import PRE_DISPATCH, PYTHON, PYTHON_DISPATCHER

_PYTHON_FILE = re.compile(r"\.py:[0-9]+$")
"""End of the debug text of a kernel that Python code has registered."""
MAX_HOPS = 4096
"""More than any stack of transforms that a user can write needs; what goes on longer has no end."""


class _At(NamedTuple):
    """State of a call at one point. selection: if it has just been made. reached: how it came there."""

    values: tuple[Value, ...]
    thread: Thread
    keyset: DispatchKeySet
    reached: Reached
    selection: Selection | None


class Chain(NamedTuple):
    """The kernels of one call up to its end, or up to the handler in Python that gets it.

    values, thread: what the last of them was given. later: the error that one raises when what it called has computed.
    """

    hops: tuple[Hop, ...]
    end: End
    values: tuple[Value, ...]
    thread: Thread
    later: Error | None = None


class KernelChain:
    """Follows calls of one operator from kernel to kernel.

    python: its kernels for the Python dispatcher, by dispatch key. options: what it is given beside tensors.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        name: OperatorName,
        maker: TensorMaker,
        python: dict[str, str],
        options: Options = NO_OPTIONS,
    ) -> None:
        self._dispatcher = dispatcher
        self._name = name
        self._maker = maker
        self._options = options
        self._generator, self._boxed = _generator(maker, options)
        self._operator: Operator = dispatcher.operator(name)
        definition = self._operator.definition
        self._schema = None if definition is None else definition.known_schema
        self._tags = () if definition is None else definition.tags
        self._selector = SlotSelector.of(dispatcher.universe, self._operator)
        self._python = python
        self._hops: list[Hop] = []
        self._canonical = dispatcher.table(name)

    def run(self, values: tuple[Value, ...], thread: Thread, given: DispatchKeySet | None = None) -> Chain:
        """Call the operator. given: a key set in the place of the one that tensors and thread make."""
        self._hops = []
        if given is None:
            selection = self._selector.select(values, thread.keys, None if self._boxed else self._generator)
        else:
            selection = self._selector.given(values, given, thread.keys)
        at = _At(values, thread, selection.result, Reached.CALL, selection)
        seen: dict[int, list[tuple[_At, int]]] = {}
        later: Error | None = None
        while True:
            # The same place a second time means that there is no end.
            alike = seen.setdefault(at.keyset.bits, [])
            begin = next((number for place, number in alike if place[:-1] == at[:-1]), None)
            if begin is not None or len(self._hops) >= MAX_HOPS:
                circle = self._hops[begin or 0 :]
                end = End(EndKind.ERROR, error=errors.endless(any(map(runs_python, circle))))
                return Chain(tuple(self._hops), end, at.values, at.thread)
            alike.append((at, len(self._hops)))
            step = self._at_slot(at)
            if step.end is not None:
                return Chain(tuple(self._hops), step.end, at.values, at.thread, later)
            later = later if step.then is None else step.then._replace(slot=self._hops[-1].slot)
            at = self._next(at, step)

    def _next(self, at: _At, step: KernelStep) -> _At:
        values = at.values if step.values is None else step.values
        thread = at.thread if step.thread is None else step.thread
        if step.passes is not None:
            return _At(values, thread, step.passes, Reached.REDISPATCH, None)
        selection = self._selector.select(values, thread.keys, self._generator if step.unboxed else None)
        return _At(values, thread, selection.result, Reached.ANEW, selection)

    def _at_slot(self, at: _At) -> KernelStep:
        slot = slot_of(at.keyset)
        entry = self._operator.live[slot]
        if slot == PYTHON_DISPATCHER and kernels.is_core_fallback(self._dispatcher.universe, entry):
            return self._by_python(at, entry)
        step = self._kernel(at, slot, entry, at.keyset)
        self._hop(at, slot, entry, at.keyset, step)
        return step

    def _kernel(self, at: _At, slot: str, entry: TableEntry, keyset: DispatchKeySet) -> KernelStep:
        if entry.rule is Rule.NOT_KNOWN:
            return not_known()
        if entry.kernel is None:
            error = errors.missing_kernel(self._dispatcher, self._name, slot, keyset.highest_priority())
            return raises(error, Why.NO_KERNEL)
        moment = Moment(
            self._name, self._schema, self._maker, at.values, at.thread, slot, entry, keyset, self._options, self._tags
        )
        return kernels.run(moment, self._dispatcher)

    def _by_python(self, at: _At, entry: TableEntry) -> KernelStep:
        """The fallback at PythonDispatcher: Python chooses the kernel for the rest of the set.

        A C++ kernel that it chooses gets the key set of a fresh selection, with the key of the Python dispatcher in it,
        so that a redispatch comes here again (``Dispatcher::callBoxedForDispatchKey``).
        """
        if not at.thread.python_dispatcher:
            error = errors.python_dispatcher_not_set()
            step = raises(error)
            self._hop(at, PYTHON_DISPATCHER, entry, at.keyset, step)
            return step
        rest = at.keyset.remove(PYTHON_DISPATCHER)
        handing = KernelStep(Does.REDISPATCHES, Why.CORE_FALLBACK, rest)
        self._hop(at, PYTHON_DISPATCHER, entry, at.keyset, handing)
        slot = slot_of(rest)
        full = self._selector.select(at.values, at.thread.keys).result
        choice, entry = self._choose(slot)
        mode = self._pre_dispatch_mode(at, slot)
        if mode is not None:
            choice = choice._replace(chosen_key=slot, kernel=mode.name)
            step = hands_over(Handler(HandlerKind.MODE, mode.name, mode.position), why=Why.PYTHON)
        elif choice.rule is Rule.NOT_KNOWN:
            step = not_known()
        elif choice.chosen_key is None:
            error = errors.python_unresolved(self._name, rest.highest_priority(), choice.rule)
            step = raises(error, Why.PYTHON)
        elif choice.kernel is not None:
            step = decomposes(Why.PYTHON) if choice.rule in kernels.COMPOSITES else ends(Why.PYTHON)
        else:
            step = self._kernel(at, slot, entry, full)
        self._hop(at._replace(reached=Reached.REDISPATCH, selection=None), slot, entry, full, step, choice)
        return step

    def _pre_dispatch_mode(self, at: _At, slot: str) -> Mode | None:
        """The mode that gets the call from Python at PreDispatch, which asks for no kernel then."""
        modes = at.thread.pre_dispatch_modes
        if slot != PRE_DISPATCH or not modes or at.thread.keys.excluded.has(PYTHON):
            return None
        return modes[-1]

    def _choose(self, slot: str) -> tuple[PythonChoice, TableEntry]:
        """Choice of Python for a slot (``OpOverload._get_dispatch``), and the entry that a C++ kernel runs by."""
        live = self._operator.live[slot]
        decision = live.decision
        if slot == PYTHON:  # not resolved: C++ knows about modes and subclasses
            choice = PythonChoice(live.rule, slot, None)
        else:
            decision = resolve_key(self._dispatcher, self._name, slot, self._python)
            key = chosen_key(slot, decision)
            choice = PythonChoice(decision.rule, key, None if key is None else self._python.get(key))
        if choice.chosen_key is None or choice.kernel is not None:
            return choice, live
        registration = self._operator.active(choice.chosen_key) or self._dispatcher.fallbacks.get(choice.chosen_key)
        return choice, TableEntry(slot, decision, registration)

    def _other_canonical(self, slot: str, live: TableEntry) -> TableEntry | None:
        """Canonical entry of a slot, where it holds another one; two kernels of one function are two here."""
        canonical = self._canonical[slot]
        same = canonical.registration is live.registration and canonical.rule is live.rule
        return None if same else canonical

    def _hop(
        self,
        at: _At,
        slot: str,
        entry: TableEntry,
        keyset: DispatchKeySet,
        step: KernelStep,
        python: PythonChoice | None = None,
    ) -> None:
        before = at.thread.keys
        after = before if step.thread is None else step.thread.keys
        self._hops.append(
            Hop(
                slot=slot,
                live=entry,
                canonical=None if python is not None else self._other_canonical(slot, entry),
                keyset=keyset,
                reached=at.reached,
                does=step.does,
                why=step.why,
                selection=at.selection,
                passes=step.passes,
                python=python,
                excludes=_new_keys(before.excluded, after.excluded),
                includes=_new_keys(before.included, after.included),
                chosen_by=step.chosen_by,
            )
        )


def _generator(maker: TensorMaker, options: Options) -> tuple[DispatchKeySet | None, bool]:
    """The keys of the generator, and whether the call is boxed, so that they do not count at first."""
    if options.generator is None:
        return None, False
    device, boxed = generator_named(options.generator)
    return maker.generator(device), boxed


def _new_keys(before: DispatchKeySet, after: DispatchKeySet) -> DispatchKeySet | None:
    new = after - before
    return new if new.bits & new.layout.functionality_mask else None


def runs_python(hop: Hop) -> bool:
    """True if the kernel is a Python function."""
    if hop.python is not None and hop.python.kernel is not None:
        return True
    kernel = hop.live.kernel
    if kernel is None:
        return False
    return kernel.python or kernel.wraps is not None or _PYTHON_FILE.search(kernel.debug) is not None
