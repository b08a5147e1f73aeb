"""The state that a recording was made in: what the program's own PyTorch had registered, at its end and at a call.

PyTorch computes only some slots anew when a kernel is registered, so that what the others hold depends on an order of
registrations which nobody knows afterwards. The recorder has seen what they hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

from dispatch_cli import bases, universes
from dispatch_cli.bases.operators import captured_record
from dispatch_cli.capture.answer import AnswerError, checked
from dispatch_cli.capture.document import higher_order_operator
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.operator import Operator
from dispatch_cli.engine.history import run
from dispatch_cli.engine.rules import FALLBACK_NUMBER, MISSING, Decision, Rule, decide
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.live import KernelChange
from dispatch_cli.engine.table.registration import Refused, Registration
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.declarations import Block, Declarations, Fallback, LibraryKind, Registrant
from dispatch_cli.model.higher_order import HigherOrderOperator, ModeType
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.text.debug_text import file_below_aten
from dispatch_cli.model.universe import Universe
from dispatch_cli.trace.calls import KernelThen, TableThen
from dispatch_cli.trace.recording import Recording

PROGRAM = "the recorded program"
BLOCK = Block(LibraryKind.IMPL, "_", None, PROGRAM, 0, implicit=True, by=Registrant.PYTORCH)
"""Block of all that the program has registered, in whatever way."""
MAX_TABLES = 1000
"""Tables of the program's end that are read. A program has one or two that are stale, if any."""


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


class RecordedState(bases.Records):
    """The operators of a program's PyTorch, read as far as they are asked for.

    data: what `dispatch_cli.capture.probe` writes, checked.
    """

    incomplete: tuple[str, ...] = ()
    name = PROGRAM
    parts: tuple[str, ...] = ()

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self.higher_order_names: Sequence[str] = [operator["name"] for operator in data["higher_order_operators"]]
        self.modes = tuple(ModeType(name, supports_higher_order_operators=True) for name in data["modes"])
        self._operators: dict[str, Mapping[str, Any]] = {operator["name"]: operator for operator in data["operators"]}
        self.names: Sequence[str] = sorted(self._operators)
        self._records: dict[str, list[Any]] = {}

    @cached_property
    def higher_order_operators(self) -> tuple[HigherOrderOperator, ...]:
        """Every higher-order operator, by name."""
        known, imported = self._data["known"], frozenset(self._data["imported_higher_order_operators"])
        return tuple(
            higher_order_operator(operator)._replace(
                is_own=False, of_pytorch=known and operator["name"] not in imported, of_unknown=not known
            )
            for operator in self._data["higher_order_operators"]
        )

    def part_of(self, operator: str, key: str) -> str:  # noqa: ARG002 (all is of one part)
        """The name of the state."""
        return self.name

    def record(self, name: str) -> list[Any]:
        """The record of one operator. Errors: KeyError when there is none of that name."""
        known = self._records.get(name)
        if known is None:
            known = self._records[name] = captured_record(self._operators[name])
        return known


class RegistrationsKnown(NamedTuple):
    """A state by which calls are explained.

    base: the embedded state of that version of PyTorch, or the newest one. is_base: it is that one; otherwise it is the
    program's own, as it was recorded when it ended. not_known: operators whose tables were stale then, and cannot be
    made.
    """

    state: State
    base: str
    is_base: bool
    not_known: frozenset[OperatorName] = frozenset()


def state_of(recording: Recording) -> RegistrationsKnown:
    """The state of a recording, or the embedded one of its version of PyTorch. Errors: InputError."""
    version = recording.head.torch or ""
    name = "torch-" + ".".join(version.partition("+")[0].split(".")[:2])
    known = bases.names()
    base = name if name in known else known[0]
    if recording.state is not None:
        return _recorded(recording, base)
    source = bases.load(base)
    universe = _with_backend(source.universe, recording)
    return RegistrationsKnown(State(Dispatcher(universe, base=source), source=source), base, True)


def _with_backend(universe: Universe, recording: Recording) -> Universe:
    """The universe with the name that the program gave the backend at PrivateUse1: a device that PyTorch has not."""
    named: set[str] = set()
    for entry in recording.signatures:
        named.update(device.partition(":")[0] for device in (entry.get("device"), *entry.get("devices", ())) if device)
    names = named - {*universe.devices}
    if len(names) == 1:
        with suppress(ValueError):  # of a recording that a program did not make
            return universe.with_backend(*names)
    return universe


def _recorded(recording: Recording, base: str) -> RegistrationsKnown:
    assert recording.state is not None
    try:
        data = checked(recording.state, with_answers=False)
        source = RecordedState(data)
        own = _fallbacks_of_pytorch(data)
        core = [fallback for fallback in data["universe"]["fallbacks"] if fallback["key"] in own]
        universe = _with_backend(universes.from_data({**data["universe"], "fallbacks": core}), recording)
    except (AnswerError, universes.UniverseError) as error:
        message = f"{recording.file}: the state in the recording cannot be used: {error}"
        raise InputError((Problem("bad-recording", message, hint="record it again"),)) from None
    steps = tuple(
        Fallback(BLOCK, fallback["key"], Kernel(debug=fallback["debug"], fallthrough=fallback["fallthrough"]))
        for fallback in data["universe"]["fallbacks"]
        if fallback["key"] not in own
    )
    state = run(Declarations(universe, steps=steps, inherited_steps=steps), source)
    not_known = set()
    at_end = [(recording.operators[number], table) for number, table in recording.tables.items() if table.at_end]
    for number, (text, table) in enumerate(at_end):
        name = OperatorName.parse(text)
        not_known.add(name)
        with suppress(Refused, ValueError):
            if number < MAX_TABLES:
                observe(state.dispatcher, name, table)
                not_known.discard(name)
    return RegistrationsKnown(state, base, False, frozenset(not_known))


def _fallbacks_of_pytorch(data: Mapping[str, Any]) -> frozenset[str]:
    """The keys whose backend fallback is PyTorch's own. Where another can take its place, its source file tells it."""
    name, names = data["universe"]["name"], universes.names()
    universe = universes.load(name if name in names else names[0])
    own = {key: file_below_aten(debug) for key, debug in universe.own_fallbacks.items()}
    replaced = {
        item["key"]
        for item in data["universe"]["fallbacks"]
        if item["key"] in universe.replaceable_fallbacks and file_below_aten(item["debug"]) != own.get(item["key"])
    }
    return frozenset(own) - replaced - {*data["imported_fallbacks"]}
