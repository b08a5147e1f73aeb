"""Recordings with the registrations of the program: its own operators, kernels and fallbacks count."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.answers.table.report import changed_slots
from dispatch_cli.api import load_state
from dispatch_cli.capture.write import state_text
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.trace import state as trace_state
from dispatch_cli.trace.recording import read
from tests.capture.support import mutations, state_of, universe_data
from tests.cli.support import call
from tests.trace.support import OF_A_BACKEND, PLAIN, Writer, signature
from tests.trace.test_view import answer, rows_of

OWN = Path(__file__).parent / "recordings" / "own.trace"
FALLBACK = {"key": "PrivateUse1", "debug": "registered at /npu/fallback.cpp:7", "fallthrough": False}


def kernel(debug: str, **more: Any) -> dict[str, Any]:
    return {"debug": debug, "signature": None, "fallthrough": False, "boxed": True, "unboxed": False, **more}


def state() -> dict[str, Any]:
    """State of a program with an operator in Python, and a backend whose fallback goes to the CPU."""
    universe = universe_data("torch-2.13")
    universe["fallbacks"].append(FALLBACK)
    scale = {
        "name": "mylib::scale",
        "schema": "mylib::scale(Tensor x) -> Tensor",
        "debug": "registered at /home/me/lib.py:3",
        "alias_analysis": "FROM_SCHEMA",
        "kernels": {
            "CPU": [kernel("registered at /home/me/lib.py:9"), kernel("registered at /home/me/lib.py:5")],
            "Autograd": [kernel("made by torch", wraps={"by": "autograd", "kernel": "lib.back", "at": "lib.py:20"})],
        },
    }
    plain = {
        "name": "mylib::plain",
        "schema": "mylib::plain(Tensor x) -> Tensor",
        "debug": "registered at /home/me/lib.py:4",
        "alias_analysis": "FROM_SCHEMA",
        "kernels": {"CPU": [kernel("registered at /home/me/lib.py:30")]},
    }
    return state_of([scale, plain], universe)


def recording(found: Any) -> str:
    writer = Writer()
    writer.call("mylib::scale", tensors=(PLAIN,), grads=(True,))
    writer.call("mylib::plain", tensors=(PLAIN,), grads=(True,))
    writer.call("mylib::plain", tensors=(OF_A_BACKEND,))
    writer.add("state", found)
    return writer.text()


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "s.trace"
    path.write_text(recording(state()), encoding="utf-8")
    return str(path)


def test_the_kernels_of_the_program_are_named_with_their_places(file: str) -> None:
    report = answer(file)
    rows = rows_of(report)
    assert report["embedded"] is None
    places = [{entry["key"]: entry["registered_at"] for entry in row["path"]["kernels"]} for row in rows]
    assert places[0] == {"AutogradCPU": "lib.py:20", "CPU": "/home/me/lib.py:9"}
    assert places[1].keys() == {"AutogradCPU", "CPU"}
    assert places[1]["CPU"] == "/home/me/lib.py:30"
    assert places[2].keys() == {"AutogradPrivateUse1", "PrivateUse1"}
    assert places[2]["PrivateUse1"] == "/npu/fallback.cpp:7"


def test_slots_that_held_something_else(tmp_path: Path) -> None:
    """Calls that may have reached them are not known; the others are as at the program's end."""
    writer = Writer()
    writer.call("mylib::scale", tensors=(PLAIN,))
    held = [(False, ["AutogradCUDA", "FuncTorchBatched"]), (False, ["CPU"]), (True, ["AutogradCPU"])]
    for number, (at_end, keys) in enumerate(held, start=1):
        writer.add("o", number, "mylib::plain")
        writer.add("s", number, signature(number))
        writer.add("c", number, 0, 0, 0, number * 100, -1, -1)
        writer.add("e", 0, number * 100 + 5, False)
        writer.add("r", number, at_end, keys)
    writer.add("state", state())
    (tmp_path / "s.trace").write_text(writer.text(), encoding="utf-8")
    answered = answer(str(tmp_path / "s.trace"))
    paths = [row["path"] for row in rows_of(answered)][1:]
    assert [[kernel["key"] for kernel in path["kernels"]] for path in paths] == [["AutogradCPU", "CPU"], [], []]
    assert [path["problem"] for path in paths] == [
        None,
        "the slot at CPU held another kernel than at the program's end",
        "the slot at AutogradCPU held another kernel than its registrations determine",
    ]
    stale = [finding for finding in answered["findings"] if finding["kind"] == "stale"]
    assert [(finding["operator"], finding["key"], finding["calls"]) for finding in stale] == [
        ("mylib::plain", "AutogradCPU", 1)
    ]


def test_a_state_that_is_none_is_refused(tmp_path: Path) -> None:
    """Whatever is left out or put in the place of something else."""
    texts = [recording(changed) for what, changed in mutations(state(), 4) if not what.startswith("('universe'")]
    codes: Counter[int] = Counter()
    for text in texts[::13]:
        (tmp_path / "m.trace").write_text(text, encoding="utf-8")
        result = call("trace", str(tmp_path / "m.trace"))
        assert result.code in (0, 2), result.err[-500:]
        codes[result.code] += 1
    assert codes[2] > 20


def test_higher_order_operators_are_those_of_a_capture(tmp_path: Path) -> None:
    """A capture holds the same answer of the probe, and is read by way of declarations."""
    nothing: dict[str, Any] = {"dispatch": {}, "fallthrough": [], "modes": {}, "subclasses": {}, "transforms": {}}
    plain = {**nothing, "name": "plain", "autograd": None, "functionalize": None, "side_effect": False}
    every = {
        "name": "every",
        "dispatch": {"CPU": "mylib.on_cpu", "CUDA": {"kernel": "mylib.on_cuda"}},
        "fallthrough": ["AutocastCPU"],
        "autograd": {"kernel": "torch._higher_order_ops.utils.autograd_not_implemented", "deferred_error": True},
        "modes": {"FakeTensorMode": "mylib.fake"},
        "subclasses": {"MyTensor": "mylib.mine"},
        "transforms": {"Vmap": "mylib.batch"},
        "functionalize": {"kernel": "mylib.functional", "error": {"dispatch": "AttributeError: no such attribute"}},
        "side_effect": True,
    }
    more = {"higher_order_operators": [every, plain], "imported_higher_order_operators": ["every"]}
    state_data = state_of([], universe_data("torch-2.13"), **more, modes=["MyMode"])
    recorded_file, captured_file = tmp_path / "s.trace", tmp_path / "s.json"
    recorded_file.write_text(recording(state_data), encoding="utf-8")
    captured_file.write_text("".join(state_text(state_data, as_json=True)), encoding="utf-8")
    recorded = trace_state.state_of(read(str(recorded_file))).state
    captured = load_state([str(captured_file)])

    def content(state: State) -> list[Any]:
        return [
            (
                operator.name,
                {impl._replace(span=None) for impl in operator.impls},
                operator.side_effect,
                operator.of_pytorch,
            )
            for operator in state.higher_order_operators
        ]

    assert content(recorded) == sorted(content(captured), key=lambda one: str(one[0]))
    assert len(content(recorded)[0][1]) == 8
    assert recorded.higher_order_names == {"every", "plain"}
    for side in (recorded, captured):
        assert [(name, mode.supports_higher_order_operators) for name, mode in side.modes.items()] == [("MyMode", True)]


def test_changes_name_what_the_program_registered(tmp_path: Path) -> None:
    """A file over a recording leaves out kernels of its PyTorch, with what that changes in an embedded state."""
    text = 'dispatch: 1\nchanges:\n  - remove: {operator: "aten::mul.Tensor", dispatch_key: "%s"}\n'
    name = OperatorName.parse("aten::mul.Tensor")
    for key in ("CPU", "Autograd"):
        file = tmp_path / "changes.yaml"
        file.write_text(text % key, encoding="utf-8")
        recorded, embedded = (load_state([str(file)], bases=[base]) for base in (str(OWN), "torch-2.13"))
        for state in (recorded, embedded):
            assert key not in state.dispatcher.active(name)
            assert state.own_operators() == [name]
        slots = [changed_slots(state, name).keys() for state in (recorded, embedded)]
        assert slots[0] == slots[1]
        assert slots[0]
        for slot in slots[0]:
            rules = [state.dispatcher.table(name)[slot].decision.rule for state in (recorded, embedded)]
            assert rules[0] is rules[1]
    report = call("check-invariants", str(file), "--base", str(OWN))
    assert "changes.yaml:3:5: error[no-autograd-kernel]" in report.out
    file.write_text(text % "AutogradCPU", encoding="utf-8")
    refused = call("check-invariants", str(file), "--base", str(OWN))
    assert (refused.code, "it is registered at " in refused.err) == (2, True)
