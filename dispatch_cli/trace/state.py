"""The state that a recording was made in: what the program's own PyTorch had registered at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from dispatch_cli import bases, universes
from dispatch_cli.bases.operators import captured_record
from dispatch_cli.capture.answer import AnswerError, checked
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history import run
from dispatch_cli.engine.state import State
from dispatch_cli.model.declarations import Block, Declarations, Fallback, LibraryKind, Registrant
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.text.debug_text import file_of_pytorch
from dispatch_cli.model.universe import Universe
from dispatch_cli.trace.explained import texts_of
from dispatch_cli.trace.recording import OtherSlot, Recording
from dispatch_cli.trace.slots import hold

PROGRAM = "the recorded program"
BLOCK = Block(LibraryKind.IMPL, "_", None, PROGRAM, 0, implicit=True, by=Registrant.PYTORCH)
"""Block of all that the program has registered, in whatever way."""


class RecordedState(bases.Records):
    """The operators of a program's PyTorch, read as far as they are asked for.

    data: what `dispatch_cli.capture.probe` writes, checked. base: the embedded state of that version, whose
    higher-order operators and modes it has.
    """

    name = PROGRAM

    def __init__(self, data: Mapping[str, Any], base: bases.Base) -> None:
        self.higher_order_names, self.higher_order_operators = base.higher_order_names, base.higher_order_operators
        self.modes = base.modes
        self._operators: dict[str, Mapping[str, Any]] = {operator["name"]: operator for operator in data["operators"]}
        self.names: Sequence[str] = sorted(self._operators)
        self._records: dict[str, list[Any]] = {}

    def record(self, name: str) -> list[Any]:
        """The record of one operator. Errors: KeyError when there is none of that name."""
        known = self._records.get(name)
        if known is None:
            known = self._records[name] = captured_record(self._operators[name])
        return known


class RegistrationsKnown(NamedTuple):
    """A state by which calls are explained.

    base: the embedded state of that version of PyTorch, or the newest one. is_base: it is that one; otherwise it is the
    program's own, as it was recorded when it ended.
    """

    state: State
    base: str
    is_base: bool


def state_of(recording: Recording) -> RegistrationsKnown:
    """The state of a recording, or the embedded one of its version of PyTorch. Errors: InputError."""
    name = "torch-" + ".".join(recording.head.torch.partition("+")[0].split(".")[:2])
    known = bases.names()
    base = name if name in known else known[0]
    if recording.state is not None:
        return _recorded(recording, base)
    source = bases.load(base)
    universe = _with_backend(source.universe, recording)
    return RegistrationsKnown(State(Dispatcher(universe, base=source), source=source), base, True)


def _with_backend(universe: Universe, recording: Recording) -> Universe:
    """The universe with the name that the program gave the backend at PrivateUse1: a device that PyTorch has not."""
    devices: set[str | None] = set()
    for entry in recording.signatures:
        devices.update((str(entry.get("device") or ""), *texts_of(entry, "devices")))
    names = {device.partition(":")[0] for device in devices if device} - {*universe.devices}
    if len(names) == 1:
        with suppress(ValueError):  # of a recording that a program did not make
            return universe.with_backend(*names)
    return universe


def _recorded(recording: Recording, base: str) -> RegistrationsKnown:
    assert recording.state is not None
    try:
        data = checked(recording.state, with_answers=False)
        source = RecordedState(data, bases.load(base))
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
    stale: dict[str, dict[str, OtherSlot]] = {}
    for number, slots in recording.other_slots.items():
        at_end = {slot: other for slot, other in slots.items() if other.at_end}
        stale.setdefault(recording.operators[number], {}).update(at_end)
    for name, at_end in stale.items():
        hold(state.dispatcher, OperatorName.parse(name), at_end)
    return RegistrationsKnown(state, base, False)


def _fallbacks_of_pytorch(data: Mapping[str, Any]) -> frozenset[str]:
    """The keys whose backend fallback is PyTorch's own. Where another can take its place, its source file tells it."""
    name, names = data["universe"]["name"], universes.names()
    universe = universes.load(name if name in names else names[0])
    own = {key: file_of_pytorch(debug) for key, debug in universe.own_fallbacks.items()}
    replaced = {
        item["key"]
        for item in data["universe"]["fallbacks"]
        if item["key"] in universe.replaceable_fallbacks and file_of_pytorch(item["debug"]) != own.get(item["key"])
    }
    return frozenset(own) - replaced - {*data["imported_fallbacks"]}
