"""Observations of a live PyTorch by kernel_log.cpp, in the engine's own types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.call.thread import Thread
from dispatch_cli.engine.keys.layout import KeyLayout
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import Options
from dispatch_cli.trace.observed import observed
from dispatch_cli.trace.recording import Ran


class ObservedCall(NamedTuple):
    """A call, and how often it was seen in a context.

    redispatched: another operator's kernel went straight to a key set; there was no selection.
    kernels: those that ran, also those of the same operator that they reached, as they began.
    """

    context: str
    operator: OperatorName
    redispatched: bool
    values: tuple[Value, ...]
    thread: Thread
    options: Options
    kernels: tuple[Ran, ...]
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
        *observed(data, layout),
        tuple(_kernels(data["kernels"], 0)),
        data["count"],
        data,
    )


def _kernels(data: list[Any], depth: int) -> Iterator[Ran]:
    slot, bits, reached, raised, continuations = data
    yield Ran(slot, bits, reached == "redispatch", raised, depth)
    for continuation in continuations:
        yield from _kernels(continuation, depth + 1)
