"""Recorded calls of live PyTorch: the same kernels, at the same keys, with the same key sets; or the same error.

The universe of 2.13 is that of 2.15 in everything that these calls touch; `test_layout_of_2_13` asks a live one.
"""

from __future__ import annotations

from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, Does
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import parse_schema
from dispatch_cli.model.universe import Universe
from tests.capture.support import live_state
from tests.engine.call.random_calls import normal
from tests.support import load_recording

VERSIONS = ("2.13.0", "2.15.0")
SHOWN = 200
"""Characters of an error's first line that are recorded."""


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
    """Whether the errors are one; the recorded text is cut."""
    if ours["error"] is None or theirs["error"] is None:
        return ours["error"] is theirs["error"]
    return bool(ours["error"][0] == theirs["error"][0] and ours["error"][1].startswith(theirs["error"][1]))


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_calls(version: str) -> None:
    universe = universes.load("torch-2.15")
    recording = load_recording(f"{version}.calls")
    wrong, count, stale = [], 0, 0
    for number, case in enumerate(recording["cases"]):
        dispatcher, name = operator_of(universe, number, case)
        for recorded in case["calls"]:
            count += 1
            contexts = [Context.parse(recorded["context"])] if recorded["context"] else []
            call = simulate(dispatcher, name, [TensorSpec.parse(recorded["tensor"])], contexts)
            stale += any(hop.canonical is not None for hop in call.hops)
            ours, theirs = said_of(call), recorded_of(recorded)
            if not begins_alike(ours, theirs) or {**ours, "error": None} != {**theirs, "error": None}:
                wrong.append((number, case["registrations"], recorded["tensor"], recorded["context"], ours, theirs))
    assert wrong == []
    assert count == 1500
    assert (stale > 0) == (version == "2.15.0"), "a few calls of that recording are told by the live table alone"


@pytest.mark.live
def test_layout_of_2_13() -> None:
    live = universes.from_data(live_state()["universe"])
    if live.name != "torch-2.13":
        pytest.skip("another PyTorch is named")
    differing = set(universes.differences(live, universes.load("torch-2.15")))
    assert differing == {"name", "torch", "git", "fallbacks", "wrapped", "torch_library", "fake_without_device"}
    keys = [[fallback.key for fallback in one.fallbacks] for one in (live, universes.load("torch-2.15"))]
    assert keys[0] == keys[1]
    assert (live.fake_without_device, universes.load("torch-2.15").fake_without_device) == (False, True)
