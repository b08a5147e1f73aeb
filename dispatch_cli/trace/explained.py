"""Explanations of recorded calls by the engine: each signature is explained once, however many calls have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dispatch_cli.engine.call.simulate import CallSimulator
from dispatch_cli.engine.call.tensors import TensorMaker, Value
from dispatch_cli.engine.call.thread import Layer, LocalKeys, Mode, Thread
from dispatch_cli.engine.call.trace import Call, Does, End, Handler, HandlerKind, Hop, Selection
from dispatch_cli.engine.history import run
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.layout import KeyLayout
from dispatch_cli.engine.table.registration import Refused
from dispatch_cli.model.calls.call import (
    MAX_WRAPPERS,
    Absent,
    CallEnd,
    CallError,
    ContextKind,
    EndKind,
    TensorSpec,
    Wrapper,
    WrapperKind,
)
from dispatch_cli.model.calls.options import LAYOUT_NUMBERS, Options
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.types import DTYPES
from dispatch_cli.model.universe import PRE_DISPATCH
from dispatch_cli.trace.recording import Recording
from dispatch_cli.trace.slots import hold

_BASE = "torch"
"""PyTorch's name for the layer of functorch's stack that is no transform."""
_GENERATOR = "generator"
_MODE = "Mode"
"""Name of any mode for the engine: it gets the call, whatever it does with it."""


class NotObserved(Exception):
    """A signature that says nothing of a call of this PyTorch; the message says why."""


def observed(signature: Mapping[str, Any], layout: KeyLayout) -> tuple[tuple[Value, ...], Thread, Options]:
    """Inputs of the engine for a signature, in which there can be anything. Errors: NotObserved."""
    try:
        tensors = signature["tensors"]
        thread = thread_of(signature, layout)
        values = tuple(value_of(tensor, layout, thread) for tensor in tensors if tensor[1:] != [_GENERATOR])
        return values, thread, options_of(signature, layout)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise NotObserved("its line in the recording is not one that the recorder writes") from None


def keys_of(raw: int, layout: KeyLayout) -> DispatchKeySet:
    """A raw key set. Errors: NotObserved for bits that mean nothing in the universe."""
    if raw & ~(layout.functionality_mask | layout.backend_mask):
        raise NotObserved(f"the key set {raw:#x} has bits that the universe {layout.universe.name} does not have")
    return DispatchKeySet(layout, raw)


def value_of(data: list[Any], layout: KeyLayout, thread: Thread, wrappers: int = 0) -> Value:
    """A tensor, with what it wraps. Errors: NotObserved.

    What a ``jvp`` has wrapped may have a tangent; whether it has is not recorded. wrappers: those around it.
    """
    if wrappers > MAX_WRAPPERS:
        raise NotObserved(f"a tensor has more than {MAX_WRAPPERS} wrappers")
    keyset = keys_of(data[0], layout)
    if data[1:] in ([Absent.NONE.value], [Absent.UNDEFINED.value]):
        return Value(keyset, data[1], TensorSpec(absent=Absent(data[1])))
    if len(data) == 1:
        return Value(keyset, str(keyset), None)
    _, kind, level, inner = data
    level = None if level is None else int(level)
    is_of_jvp = level is not None and any(row.level == level and row.kind is ContextKind.JVP for row in thread.layers)
    return Value(
        keyset,
        str(keyset),
        None,
        Wrapper(WrapperKind(kind), level),
        value_of(inner, layout, thread, wrappers + 1),
        has_tangent=is_of_jvp,
    )


def options_of(signature: Mapping[str, Any], layout: KeyLayout) -> Options:
    """The options that count for dispatch. Errors: NotObserved."""
    number, dtype = signature.get("layout"), signature.get("dtype")
    generator = next((tensor for tensor in signature["tensors"] if tensor[1:] == [_GENERATOR]), None)
    return Options(
        _text(signature.get("device")),
        None if number is None or number >= len(LAYOUT_NUMBERS) else LAYOUT_NUMBERS[number].value,
        None if dtype is None or dtype >= len(DTYPES) else DTYPES[dtype],
        None if generator is None else _device_of(keys_of(generator[0], layout)),
    )


def _device_of(keyset: DispatchKeySet) -> str:
    """The device of the backend of a key set; that of the first one, where it has none."""
    universe = keyset.layout.universe
    return next((name for name, key in universe.devices.items() if key in keyset), next(iter(universe.devices)))


def thread_of(signature: Mapping[str, Any], layout: KeyLayout) -> Thread:
    """The state of the thread. Errors: NotObserved."""
    inference = bool(signature.get("inference", False))
    layers = tuple(
        Layer(ContextKind(kind), int(level), inference, saved=None if saved is None else _local_keys(saved, layout))
        for kind, level, saved in signature.get("layers", ())
        if kind != _BASE
    )
    if len(layers) > MAX_WRAPPERS:
        raise NotObserved(f"there are more than {MAX_WRAPPERS} transforms")
    modes = tuple(Mode(_MODE, None, at) for at in range(len(texts_of(signature, "modes"))))
    keys = _local_keys(signature["keys"], layout)
    # PyTorch includes PreDispatch with the first mode on its stack, and removes it with the last one.
    pre_dispatch = (Mode(_MODE, None, 0),) if keys.included.has(PRE_DISPATCH) else ()
    return Thread(
        keys,
        inference,
        modes,
        layers,
        bool(signature.get("python_dispatcher", False)),
        snapshot=True,  # not seen; where PyTorch insists on it, it has been made
        pre_dispatch_modes=pre_dispatch,
        gradients=bool(signature.get("grad_mode", True)),
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def texts_of(signature: Mapping[str, Any], name: str) -> tuple[str | None, ...]:
    """The texts of a list in a signature."""
    values = signature.get(name)
    return tuple(map(_text, values)) if isinstance(values, list) else ()


def flags_of(signature: Mapping[str, Any], name: str) -> tuple[bool, ...]:
    """The flags of a list in a signature."""
    values = signature.get(name)
    return tuple(value is True for value in values) if isinstance(values, list) else ()


def _local_keys(data: list[int], layout: KeyLayout) -> LocalKeys:
    return LocalKeys(keys_of(data[0], layout), keys_of(data[1], layout))


class Explained(NamedTuple):
    """A signature, explained.

    state: what was registered when it was called. call: what happens in such a call; None where it cannot be said.
    problem: why.
    values, thread: what it was called with. wants_gradient: grad mode is on, and a tensor wants gradients.
    seen: how many of its kernels were observed. ended: how the calls ended.
    changed: kernels came or went after it, and a slot held then what it does not at the program's end.
    """

    operator: OperatorName
    state: State
    call: Call | None
    problem: str | None
    values: tuple[Value, ...] = ()
    thread: Thread | None = None
    wants_gradient: bool = False
    seen: int = 1
    ended: CallEnd = CallEnd.RETURNED
    changed: bool = False

    @property
    def hops(self) -> tuple[Hop, ...]:
        """The kernels in turn, up to one that calls the operator again, which is a call of its own."""
        return () if self.call is None else self.call.hops

    @property
    def end(self) -> End | None:
        """End of the call, as the engine predicts it."""
        return None if self.call is None else self.call.end

    @property
    def selection(self) -> Selection | None:
        """The selection of the first kernel."""
        return self.hops[0].selection if self.hops else None


class Explainer:
    """Explains the signatures of a recording, each when it is first asked for. state: that of the program's end."""

    def __init__(self, recording: Recording, state: State) -> None:
        self.recording = recording
        self.state = state
        self._changed = {recording.operators[number] for number in recording.other_slots}
        self._states: dict[int, State] = {}
        self._maker = TensorMaker(state.dispatcher.universe)
        self._explained: list[Explained | None] = [None] * len(recording.signatures)

    def of_signature(self, number: int) -> Explained:
        """Explanation of the calls with that signature."""
        explained = self._explained[number]
        if explained is None:
            explained = self._explained[number] = self._explain(self.recording.signatures[number])
        return explained

    def of_call(self, number: int) -> Explained:
        """The same, of a call."""
        return self.of_signature(self.recording.calls.signature[number])

    def _explain(self, signature: dict[str, Any]) -> Explained:
        recording, number = self.recording, signature["operator"]
        state = self._state(number)
        text = recording.operators[number]
        name = OperatorName.parse(text)
        if name not in state.dispatcher:
            return Explained(name, state, None, "the state has no such operator")
        if recording.state is None and recording.operators.count(text) > 1:
            return Explained(name, state, None, "its kernels changed while the program ran, and it is not recorded how")
        try:
            values, thread, options = observed(signature, state.dispatcher.layout)
            hops, end = CallSimulator(state, name, self._maker, options).run(values, thread)
        except (NotObserved, CallError, Refused) as error:
            return Explained(name, state, None, str(error))
        changed = not all(other.at_end for other in recording.other_slots.get(number, {}).values())
        if changed:  # what the registrations of that time determined is not known
            hops = tuple(hop._replace(canonical=None) for hop in hops)
        again = next((at for at, hop in enumerate(hops) if hop.does is Does.CALLS_ANEW), None)
        if again is not None:
            hops, end = hops[: again + 1], End(EndKind.KERNEL)
        handler = end.handler
        if handler is not None:
            end = end._replace(handler=_named(handler, signature))
        return Explained(
            name,
            state,
            Call(name, (), (), hops, end, options),
            None,
            values,
            thread,
            thread.gradients and any(flags_of(signature, "requires_grad")),
            changed=changed,
        )

    def _state(self, number: int) -> State:
        """The state in which an operator was called, by its number."""
        name = self.recording.operators[number]
        if name not in self._changed:
            return self.state
        state = self._states.get(number)
        if state is None:
            state = run(self.state.declarations, self.state.source)
            hold(state.dispatcher, OperatorName.parse(name), self.recording.other_slots.get(number, {}))
            self._states[number] = state
        return state


def _named(handler: Handler, signature: dict[str, Any]) -> Handler:
    """A handler with the name that was recorded."""
    is_mode, position = handler.kind is HandlerKind.MODE, handler.position - 1
    names = texts_of(signature, "modes")[-1:] if is_mode else texts_of(signature, "subclasses")[position : position + 1]
    return handler._replace(name=names[0] or "" if names else "")
