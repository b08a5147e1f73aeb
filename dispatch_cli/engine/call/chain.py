"""The kernels of a call of an operator with kernels in C++."""

from __future__ import annotations

import re

from dispatch_cli.engine.call import errors
from dispatch_cli.engine.call.kernels import entry as kernels
from dispatch_cli.engine.call.select import SlotSelector, slot_of
from dispatch_cli.engine.call.step import (
    Followed,
    KernelStep,
    Moment,
    Point,
    decomposes,
    ends,
    follow,
    hands_over,
    not_known,
    raises,
)
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
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.python.table import chosen_key, resolve_key
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.table import TableEntry, is_core_fallback
from dispatch_cli.model.calls.options import NO_OPTIONS, Options, generator_named
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import PRE_DISPATCH, PYTHON, PYTHON_DISPATCHER

_PYTHON_FILE = re.compile(r"\.py:[0-9]+$")
"""End of the debug text of a kernel that Python code has registered."""


class KernelChain:
    """Follows calls of one operator from kernel to kernel. Errors: Refused for an unknown operator.

    hops: the kernels of the last call up to its end, or up to the handler in Python that gets it.
    python: its kernels for the Python dispatcher, by dispatch key. options: what it is given beside tensors.
    """

    def __init__(self, state: State, name: OperatorName, maker: TensorMaker, options: Options = NO_OPTIONS) -> None:
        self.state = state
        self.dispatcher = state.dispatcher
        self.name = name
        self.maker = maker
        self.options = options
        self._generator, self._boxed = _generator(maker, options)
        self.operator = state.dispatcher.operator(name)
        self.python = {kernel.dispatch_key: kernel.kernel for kernel in state.python_kernels(name)}
        self._selector = SlotSelector.of(self.dispatcher.universe, self.operator)
        self.hops: list[Hop] = []
        self._canonical = self.dispatcher.table(name)

    def run(
        self, values: tuple[Value, ...], thread: Thread, given: DispatchKeySet | None = None
    ) -> tuple[tuple[Hop, ...], End]:
        """Call the operator. given: a key set in the place of the one that tensors and thread make."""
        self.hops = []
        if given is None:
            selection = self.select(values, thread, unboxed=not self._boxed)
        else:
            selection = self._selector.given(values, given, thread.keys)
        followed = follow(self, values, thread, selection)
        end, later = self.end_of(followed), followed.later
        computes = end.error is None and (end.fake is not None or end.kind in (EndKind.KERNEL, EndKind.DECOMPOSITION))
        if later is not None and computes:
            end = End(EndKind.ERROR, error=later, fake=end.fake)
        return tuple(self.hops), end

    def end_of(self, followed: Followed) -> End:
        """The end of a call, after the kernels that were followed."""
        return followed.end

    def select(self, values: tuple[Value, ...], thread: Thread, unboxed: bool) -> Selection:
        """The selection of a call. unboxed: the keys of a generator count."""
        return self._selector.select(values, thread.keys, self._generator if unboxed else None)

    def step(self, point: Point) -> KernelStep:
        """Step of the kernel in the slot; the Python dispatcher chooses a second one."""
        slot = slot_of(point.keyset)
        entry = self.operator.live[slot]
        if slot == PYTHON_DISPATCHER and is_core_fallback(self.dispatcher.universe, entry):
            return self._by_python(point, entry)
        step = self._kernel(point, slot, entry, point.keyset)
        self._hop(point, slot, entry, point.keyset, step)
        return step

    def endless(self, since: int) -> Error:
        """The error of kernels that call one another for ever."""
        return errors.endless(any(map(runs_python, self.hops[since:])))

    def _kernel(self, point: Point, slot: str, entry: TableEntry, keyset: DispatchKeySet) -> KernelStep:
        if entry.rule is Rule.NOT_KNOWN:
            return not_known()
        if entry.kernel is None:
            error = errors.missing_kernel(self.dispatcher, self.name, slot, keyset.highest_priority())
            return raises(error, Why.NO_KERNEL)
        point_of = (self.dispatcher, self.operator, self.maker, point.values, point.thread)
        return kernels.run(Moment(*point_of, slot, entry, keyset, self.options))

    def _by_python(self, point: Point, entry: TableEntry) -> KernelStep:
        """The fallback at PythonDispatcher: Python chooses the kernel for the rest of the set.

        A C++ kernel that it chooses gets the key set of a fresh selection, with the key of the Python dispatcher in it,
        so that a redispatch comes here again (``Dispatcher::callBoxedForDispatchKey``).
        """
        if not point.thread.python_dispatcher:
            error = errors.python_dispatcher_not_set()
            step = raises(error)
            self._hop(point, PYTHON_DISPATCHER, entry, point.keyset, step)
            return step
        rest = point.keyset.remove(PYTHON_DISPATCHER)
        handing = KernelStep(Does.REDISPATCHES, Why.CORE_FALLBACK, rest)
        self._hop(point, PYTHON_DISPATCHER, entry, point.keyset, handing)
        slot = slot_of(rest)
        full = self._selector.select(point.values, point.thread.keys).result
        choice, entry = self._choose(slot)
        mode = self._pre_dispatch_mode(point, slot)
        if mode is not None:
            choice = choice._replace(chosen_key=slot, kernel=mode.name)
            step = hands_over(Handler(HandlerKind.MODE, mode.name, mode.position), why=Why.PYTHON)
        elif choice.rule is Rule.NOT_KNOWN:
            step = not_known()
        elif choice.chosen_key is None:
            error = errors.python_unresolved(self.name, rest.highest_priority(), choice.rule)
            step = raises(error, Why.PYTHON)
        elif choice.kernel is not None:
            step = decomposes(Why.PYTHON) if choice.rule in kernels.COMPOSITES else ends(Why.PYTHON)
        else:
            step = self._kernel(point, slot, entry, full)
        self._hop(point._replace(reached=Reached.REDISPATCH, selection=None), slot, entry, full, step, choice)
        return step

    def _pre_dispatch_mode(self, point: Point, slot: str) -> Mode | None:
        """The mode that gets the call from Python at PreDispatch, which asks for no kernel then."""
        modes = point.thread.pre_dispatch_modes
        if slot != PRE_DISPATCH or not modes or point.thread.keys.excluded.has(PYTHON):
            return None
        return modes[-1]

    def _choose(self, slot: str) -> tuple[PythonChoice, TableEntry]:
        """Choice of Python for a slot (``OpOverload._get_dispatch``), and the entry that a C++ kernel runs by."""
        live = self.operator.live[slot]
        decision = live.decision
        if slot == PYTHON:  # not resolved: C++ knows about modes and subclasses
            choice = PythonChoice(live.rule, slot, None)
        else:
            decision = resolve_key(self.dispatcher, self.name, slot, self.python)
            key = chosen_key(slot, decision)
            choice = PythonChoice(decision.rule, key, None if key is None else self.python.get(key))
        if choice.chosen_key is None or choice.kernel is not None:
            return choice, live
        registration = self.operator.active(choice.chosen_key) or self.dispatcher.fallbacks.get(choice.chosen_key)
        return choice, TableEntry(slot, decision, registration)

    def _other_canonical(self, slot: str, live: TableEntry) -> TableEntry | None:
        """Canonical entry of a slot, where it holds another one; two kernels of one function are two here."""
        canonical = self._canonical[slot]
        same = canonical.registration is live.registration and canonical.rule is live.rule
        return None if same else canonical

    def _hop(
        self,
        point: Point,
        slot: str,
        entry: TableEntry,
        keyset: DispatchKeySet,
        step: KernelStep,
        python: PythonChoice | None = None,
    ) -> None:
        before = point.thread.keys
        after = before if step.thread is None else step.thread.keys
        self.hops.append(
            Hop(
                slot=slot,
                live=entry,
                canonical=None if python is not None else self._other_canonical(slot, entry),
                keyset=keyset,
                reached=point.reached,
                does=step.does,
                why=step.why,
                selection=point.selection,
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
