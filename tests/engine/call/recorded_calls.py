"""Calls as ``record_calls.py`` records them, and ours of the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, Does
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.parser import parse_schema
from dispatch_cli.model.universe import Universe
from tests.engine.call.random_calls import normal


class Compared(NamedTuple):
    """wrong: the calls that went otherwise here, with what both say. stale: calls that the live table alone tells."""

    calls: int
    wrong: list[tuple[Any, ...]]
    stale: int


def compare(universe: Universe, cases: Iterable[dict[str, Any]]) -> Compared:
    """Simulate every recorded call."""
    wrong, count, stale = [], 0, 0
    for number, case in enumerate(cases):
        dispatcher, name = operator_of(universe, number, case)
        for recorded in case["calls"]:
            count += 1
            contexts = [Context.parse(recorded["context"])] if recorded["context"] else []
            call = simulate(dispatcher, name, [TensorSpec.parse(recorded["tensor"])], contexts)
            stale += any(hop.canonical is not None for hop in call.hops)
            ours, theirs = said_of(call), recorded_of(recorded)
            if not begins_alike(ours, theirs) or {**ours, "error": None} != {**theirs, "error": None}:
                wrong.append((number, case["registrations"], recorded["tensor"], recorded["context"], ours, theirs))
    return Compared(count, wrong, stale)


def operator_of(universe: Universe, number: int, case: dict[str, Any]) -> tuple[Dispatcher, OperatorName]:
    dispatcher = Dispatcher(universe)
    name = OperatorName(f"call{number}::foo")
    dispatcher.define(parse_schema(f"{name}(Tensor x) -> Tensor"), "recorded")
    for key, what in case["registrations"]:
        is_fallthrough = what == "fallthrough"
        # to PyTorch all kernels written in Python are one function
        kernel = Kernel("recorded", None if is_fallthrough else "PythonKernelHolder", fallthrough=is_fallthrough)
        dispatcher.implement(name, key, kernel)
    return dispatcher, name


def names(keyset: DispatchKeySet) -> list[str]:
    """As record_calls.py lists a set: its keys, then per-backend functionalities."""
    return [*keyset, *(key for key in keyset.layout.universe.per_backend if keyset.has(key))]


def log_of(call: Call) -> list[list[Any]]:
    """The operator's own kernels that ran: where registered, at which slot, with which set."""
    ran = [hop for hop in call.hops if hop.does is not Does.RAISES]
    return [
        [hop.live.registration.key, hop.slot, list(hop.keyset)]
        for hop in ran
        if hop.live.registration is not None and hop.live.registration.operator is not None
    ]


def said_of(call: Call) -> dict[str, Any]:
    error = call.end.error
    selection = call.selection
    return {
        "tensor_keys": names(selection.keyset),
        "included": names(selection.included),
        "excluded": names(selection.excluded),
        "log": log_of(call),
        "error": None if error is None else normal([error.type, error.text.split("\n")[0]]),
    }


def recorded_of(recorded: dict[str, Any]) -> dict[str, Any]:
    error = recorded["error"]
    return {
        **{field: recorded[field] for field in ("tensor_keys", "included", "excluded", "log")},
        "error": None if error is None else normal(error.split(": ", 1)),
    }


def begins_alike(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """True if the errors are one; the recorded text is cut."""
    if ours["error"] is None or theirs["error"] is None:
        return ours["error"] is theirs["error"]
    return bool(ours["error"][0] == theirs["error"][0] and ours["error"][1].startswith(theirs["error"][1]))
