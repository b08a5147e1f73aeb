"""The state in which an operator was called: with what it had registered then, and what its slots held.

PyTorch computes only some slots anew when a kernel is registered, so that what the others hold depends on an order of
registrations which nobody knows afterwards. The recorder has seen what they hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.operator import Operator
from dispatch_cli.engine.history.apply import run
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import FALLBACK_NUMBER, MISSING, Decision, Rule, decide
from dispatch_cli.engine.table.live import KernelChange
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.declarations import Block, Fallback, LibraryKind, Registrant
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.trace.table import KernelThen, TableThen

PROGRAM = "the recorded program"
BLOCK = Block(LibraryKind.IMPL, "_", None, PROGRAM, 0, implicit=True, by=Registrant.PYTORCH)
"""Block of all that the program has registered, in whatever way."""


def state_then(state: State, name: OperatorName, table: TableThen) -> State:
    """A state with an operator as it was. state: that of the program's end.

    Errors: ValueError for a table that is none of this PyTorch.
    """
    _check(state.dispatcher, table)
    steps = tuple(_fallbacks(state, table))
    new = run(state.declarations._replace(steps=steps, inherited_steps=steps), state.source)
    dispatcher = new.dispatcher
    by_key = _by_key(table)
    for key in {**by_key, **dispatcher.operator(name).kernels}:
        _register(dispatcher, name, key, by_key.get(key, ()))
    observe(dispatcher, name, table)
    return new


def observe(dispatcher: Dispatcher, name: OperatorName, table: TableThen) -> None:
    """Have the slots of an operator hold what they were seen to hold. Its registrations are those of the table.

    Errors: ValueError for a table of another operator or PyTorch.
    """
    _check(dispatcher, table)
    operator, by_key = dispatcher.operator(name), _by_key(table)
    if {key: len(kernels) for key, kernels in operator.kernels.items()} != {key: len(by_key[key]) for key in by_key}:
        raise ValueError("its table has other kernels than the state")
    numbers = {
        registration: kernel.number
        for key, registrations in operator.kernels.items()
        for registration, kernel in zip(registrations, by_key[key], strict=True)
    }
    dispatcher.settle(name)
    operator.live.observe(dict(_Slots(dispatcher, operator, table, numbers).behind()))


def _check(dispatcher: Dispatcher, table: TableThen) -> None:
    """Errors: ValueError for a table of another PyTorch."""
    universe = dispatcher.universe
    if len(table.slots) != len(universe.slots) or not all(kernel.key in universe.ids for kernel in table.kernels):
        raise ValueError("its table is not one of this version of PyTorch")


def _by_key(table: TableThen) -> dict[str, list[KernelThen]]:
    by_key: dict[str, list[KernelThen]] = {}
    for kernel in table.kernels:
        by_key.setdefault(kernel.key, []).append(kernel)
    return by_key


def _fallbacks(state: State, table: TableThen) -> Iterator[Fallback]:
    """The backend fallbacks of the program that were registered then, as far as the operator's slots tell.

    Errors: ValueError for another fallback than PyTorch's own, where it has one.
    """
    own = {fallback.key for fallback in state.dispatcher.universe.fallbacks}
    known = {step.dispatch_key: step for step in state.declarations.steps if isinstance(step, Fallback)}
    now = state.dispatcher.fallbacks
    for at, key in enumerate(state.dispatcher.universe.slots):
        then = table.fallbacks.get(at)
        kept = known.get(key)
        if then is not None and then.debug is not None:
            registered = now.get(key)
            if registered is None or registered.kernel.debug != then.debug:
                if key in own:
                    raise ValueError("its table has other backend fallbacks than this version of PyTorch")
                kept = Fallback(BLOCK, key, Kernel(debug=then.debug, fallthrough=then.fallthrough))
        elif not table.slots[at]:
            kept = None
        if kept is not None:
            yield kept


def _register(dispatcher: Dispatcher, name: OperatorName, key: str, then: Sequence[KernelThen]) -> None:
    """Have the kernels of a key registered that were, the newest first; those that are the same stay."""
    operator = dispatcher.find(name)
    now = [] if operator is None else [*operator.kernels.get(key, ())]
    kernels = {earlier.kernel.debug: earlier.kernel for earlier in reversed(now)}
    same = 0
    while same < min(len(now), len(then)) and now[-1 - same].kernel.debug == then[-1 - same].debug:
        same += 1
    for registration in now[: len(now) - same]:
        dispatcher.drop(registration)
    for recorded in reversed(then[: len(then) - same]):
        kernel = kernels.get(recorded.debug) or Kernel(debug=recorded.debug, fallthrough=recorded.fallthrough)
        dispatcher.implement(name, key, kernel)


class _Slots:
    """The slots of an operator, whose registrations are as they were. numbers: of these, as the table has them."""

    def __init__(
        self, dispatcher: Dispatcher, operator: Operator, table: TableThen, numbers: dict[Registration, int]
    ) -> None:
        self._dispatcher = dispatcher
        self._operator = operator
        self._held = table
        self._numbers = numbers
        self._should = dispatcher.table(operator.name)

    def behind(self) -> Iterator[tuple[str, tuple[TableEntry, KernelChange | None]]]:
        """The slots that held what they should not, with that, and the registration that they missed, if any."""
        for at, key in enumerate(self._dispatcher.universe.slots):
            should = self._should[key]
            if not self._is_right(at, should):
                live = self._entry(at, key)
                cause = self._missed(key, live, should)
                change = None if cause is None else KernelChange(cause.key, cause, cause, True, False, False, 0)
                yield key, (live, change)

    def _is_right(self, at: int, should: TableEntry) -> bool:
        """True if a slot held what it should."""
        number = self._held.slots[at]
        if should.rule is Rule.FALLBACK:
            return at in self._held.fallbacks
        if should.registration is not None:
            return self._numbers[should.registration] == number
        if should.rule is Rule.AMBIGUOUS:
            return number > 0 and number not in self._numbers.values()
        return number == 0

    def _entry(self, at: int, key: str) -> TableEntry:
        """Content of a slot. What is not registered any more is not known."""
        number, fallback = self._held.slots[at], self._dispatcher.fallbacks.get(key)
        if not number:
            return TableEntry(key, MISSING, None)
        held = {entry.key: entry for entry in reversed(self._numbers) if self._numbers[entry] == number}
        for candidate in self._dispatcher.layout.candidates[at]:
            if candidate.covers and candidate.key in held:
                decision = Decision(candidate.rule, candidate.number, candidate.key)
                return TableEntry(key, decision, held[candidate.key])
        if at in self._held.fallbacks and fallback is not None:
            return TableEntry(key, Decision(Rule.FALLBACK, FALLBACK_NUMBER), fallback)
        return TableEntry(key, Decision(Rule.NOT_KNOWN, MISSING.number, otherwise=MISSING), None)

    def _missed(self, key: str, live: TableEntry, should: TableEntry) -> Registration | None:
        """The registration after which the slot was not computed anew: without it, it would hold what it held.

        None where the kernel that it held is registered no more.
        """
        layout, registered = self._dispatcher.layout, self._operator.registered
        candidates = layout.candidates[self._dispatcher.universe.slot[key]]
        has_fallback = key in self._dispatcher.fallbacks
        for registration in self._operator.active_kernels().values():
            without = decide(candidates, registered & ~layout.registered_bit[registration.key], has_fallback)
            if (without.rule, without.source) == (live.rule, live.decision.source):
                return registration
        return (should.registration or live.registration) if live.rule is not Rule.NOT_KNOWN else None
