"""What kernel_log.cpp has seen of a live PyTorch, in the engine's own types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.call.thread import Layer, LocalKeys, Mode, Thread
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.keys.layout import KeyLayout
from dispatch_cli.model.call import Absent, ContextKind, TensorSpec, Wrapper, WrapperKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import DTYPES, LAYOUT_NUMBERS, Options
from dispatch_cli.model.universe import PRE_DISPATCH

GENERATOR = "generator"


class Kernel(NamedTuple):
    """A kernel that ran. redispatched: reached by a redispatch, not by a call.

    continuations: kernels of the same operator that it reached itself.
    """

    slot: str
    keyset: DispatchKeySet
    redispatched: bool
    raised: bool
    continuations: tuple[Kernel, ...]


class ObservedCall(NamedTuple):
    """A call, and how often it was seen in a context.

    redispatched: another operator's kernel went straight to a key set; there was no selection.
    first: the kernel that it reached.
    """

    context: str
    operator: OperatorName
    redispatched: bool
    values: tuple[Value, ...]
    thread: Thread
    options: Options
    first: Kernel
    count: int
    data: dict[str, Any]


def names_in(path: Path) -> set[str]:
    """The operators that were called."""
    with path.open(encoding="utf-8") as lines:
        return {json.loads(line)["operator"] for line in lines}


def observed_calls(path: Path, layout: KeyLayout) -> Iterator[ObservedCall]:
    """The calls of a file, one a line."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield _call(json.loads(line), layout)


def _call(data: dict[str, Any], layout: KeyLayout) -> ObservedCall:
    return ObservedCall(
        data["context"],
        OperatorName.parse(data["operator"]),
        data["redispatched"],
        tuple(_value(one, layout) for one in data["tensors"] if one[1:] != [GENERATOR]),
        _thread(data, layout),
        _options(data),
        _kernel(data["kernels"], layout),
        data["count"],
        data,
    )


def _value(data: list[Any], layout: KeyLayout) -> Value:
    keyset = DispatchKeySet(layout, data[0])
    if data[1:] in ([Absent.NONE.value], [Absent.UNDEFINED.value]):
        return Value(keyset, data[1], TensorSpec(absent=Absent(data[1])))
    if len(data) == 1:
        return Value(keyset, str(keyset), None)
    _, kind, level, inner = data
    return Value(keyset, str(keyset), None, Wrapper(WrapperKind(kind), level), _value(inner, layout))


def _options(data: dict[str, Any]) -> Options:
    layout, dtype = data.get("layout"), data.get("dtype")
    return Options(
        data.get("device"),
        None if layout is None else LAYOUT_NUMBERS[layout].value,
        None if dtype is None else DTYPES[dtype],
        "cpu" if any(one[1:] == [GENERATOR] for one in data["tensors"]) else None,
    )


def _thread(data: dict[str, Any], layout: KeyLayout) -> Thread:
    inference = data["inference"]
    layers = tuple(
        Layer(ContextKind(kind), level, inference, saved=None if saved is None else _keys(saved, layout))
        for kind, level, saved in data["layers"]
    )
    modes = tuple(Mode("Mode", None, position) for position in range(data["modes"]))
    keys = _keys(data["keys"], layout)
    # PyTorch includes the key with the first mode on its stack, and removes it with the last one.
    pre_dispatch = (Mode("Mode", None, 0),) if keys.included.has(PRE_DISPATCH) else ()
    # That PyTorch has noted the keys on the way to Python, as older versions insist on, is not seen; it has.
    return Thread(
        keys, inference, modes, layers, data["python_dispatcher"], snapshot=True, pre_dispatch_modes=pre_dispatch
    )


def _keys(data: list[int], layout: KeyLayout) -> LocalKeys:
    return LocalKeys(DispatchKeySet(layout, data[0]), DispatchKeySet(layout, data[1]))


def _kernel(data: list[Any], layout: KeyLayout) -> Kernel:
    slot, bits, reached, raised, continuations = data
    following = tuple(_kernel(one, layout) for one in continuations)
    return Kernel(slot, DispatchKeySet(layout, bits), reached == "redispatch", raised, following)
