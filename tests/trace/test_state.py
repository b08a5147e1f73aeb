"""Recordings with the registrations of the program: its own operators, kernels and fallbacks count."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.answers.table.report import changed_slots
from dispatch_cli.api import load_state
from dispatch_cli.model.names import OperatorName
from tests.capture.support import state_of, universe_data
from tests.cli.support import call
from tests.trace.support import OF_A_BACKEND, PLAIN, UNIVERSE, Writer, signature
from tests.trace.test_view import answer, findings_of, rows_of

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


def test_an_operator_without_autograd_kernel_gives_no_gradient(tmp_path: Path) -> None:
    """A gradient is wanted, and autograd is not excluded, as it is below an autograd kernel. PyTorch's own operators
    that give none at all are no findings.
    """
    writer = Writer()
    for name in ("mylib::plain", "_c10d_functional::all_reduce", "mylib::scale"):
        writer.call(name, grads=(True,))
        writer.call(name, grads=(False,))
        writer.call(name, grads=(True,), grad_mode=False)
        writer.call(name, grads=(True,), excluded=("AutogradCPU",))
    writer.add("state", state())
    assert findings_of(writer, tmp_path) == [("no-gradient", "mylib::plain", "AutogradCPU", 1)]
    assert [finding["first"] for finding in answer(str(tmp_path / "f.trace"))["findings"]] == [0]


def with_slots(file: Path, found: Any, *slots: Any, tensors: Any = (PLAIN,), raised: Collection[int] = ()) -> Any:
    """The answer about calls of mylib::plain, each with its slots that held something else.

    slots: by name, with what each held, and whether it still does at the end. raised: the calls that raised.
    """
    writer = Writer()
    writer.call("mylib::scale", tensors=(PLAIN,))
    for number, held in enumerate(slots, start=1):
        writer.add("o", number, "mylib::plain")
        writer.add("s", number, signature(number, tensors))
        writer.add("c", number, 0, 0, 0, number * 100, -1, -1)
        writer.add("e", 0, number * 100 + 5, number in raised)
        if held:
            writer.add("r", number, held)
    writer.add("state", found)
    file.write_text(writer.text(), encoding="utf-8")
    return answer(str(file))


def paths_of(answered: Any) -> list[Any]:
    """The paths of the calls of mylib::plain."""
    return [row["path"] for row in rows_of(answered)][1:]


def test_a_stale_slot_is_as_it_was_seen(tmp_path: Path) -> None:
    """PyTorch's own check says of a part of stale tables that they are, and never which slots.

    It is not stale in calls before that, whatever else is registered.
    """
    state_data = state()
    implicit, explicit = (kernel(f"registered at /home/me/lib.py:{line}") for line in (31, 32))
    state_data["operators"][1]["kernels"] = {
        "CompositeExplicitAutograd": [explicit],
        "CompositeImplicitAutograd": [implicit],
    }
    held = [["CompositeImplicitAutograd", implicit["debug"], False]]
    stale = [(slot, held, True) for slot in UNIVERSE.aliases["Autograd"]]
    before = [(slot, held, False) for slot in ("Undefined", *UNIVERSE.aliases["CompositeExplicitAutograd"])]
    answered = with_slots(tmp_path / "s.trace", state_data, [*stale, *before], [], stale)
    places = [[(each["source"], each["registered_at"]) for each in path["kernels"]] for path in paths_of(answered)]
    assert places[0] == places[2] == [("CompositeImplicitAutograd", "/home/me/lib.py:31")]
    assert places[1][1:] == [("CompositeExplicitAutograd", "/home/me/lib.py:32")]
    late = [
        (finding["operator"], finding["key"], finding["kernel"], finding["keys"], finding["calls"])
        for finding in answered["findings"]
        if finding["kind"] == "stale"
    ]
    assert late == [("mylib::plain", "AutogradCPU", implicit["debug"], ["CompositeExplicitAutograd"], 1)]
    explained = call("explain", "mylib::plain", "AutogradCPU", "--base", str(tmp_path / "s.trace"))
    assert "/home/me/lib.py:31" in explained.out
    assert "because registering the kernel" in explained.out


def test_kernels_that_came_later_do_not_count(tmp_path: Path) -> None:
    """Nothing is said of a kernel at CPU in a call before it came; of one at CUDA, in calls in which it was there."""
    state_data = state()
    composite, *others = (kernel(f"registered at /home/me/lib.py:{line}") for line in (31, 32, 33))
    state_data["operators"][1]["kernels"] = {
        "CompositeImplicitAutograd": [composite],
        **dict(zip(("CPU", "CUDA"), ([other] for other in others), strict=True)),
    }
    held = [["CompositeImplicitAutograd", composite["debug"], False]]
    before = [(slot, held, False) for slot in ("CPU", "AutogradCPU")]
    neither = [(slot, held, False) for slot in ("CUDA", "AutogradCUDA")]
    another = [("XPU", [["XPU", "registered at /home/me/first.py:2", False], *held], False)]
    slots = [[*before, *neither], before, [*before, *neither, *another], []]
    answered = with_slots(tmp_path / "s.trace", state_data, *slots)
    ends = [[kernel["does"] for kernel in path["kernels"]] for path in paths_of(answered)]
    assert ends == [["decomposes"], ["redispatches", "ends"]]
    keys = {finding["first"]: finding["keys"] for finding in answered["findings"] if finding["kind"] == "decomposes"}
    assert keys == {2: ["CUDA"], 3: ["XPU"]}
    notes = [call("trace", str(tmp_path / "s.trace"), "--explain", f"{number}").out for number in (1, 4)]
    assert ["because CPU has a kernel" in text for text in notes] == [False, True]


def test_kernels_that_are_gone_at_the_end(tmp_path: Path) -> None:
    """Another kernel in the slot, one that was registered no more, one that fell through; then in another slot."""
    first = {"CPU": [["CPU", "registered at /home/me/first.py:2", False]], "CUDA": None, "NoSuchKey": []}
    falls = {"AutogradCPU": [["Autograd", "registered at /home/me/first.py:3", True]]}
    slots = [[(*each, False) for each in held.items()] for held in (first, {"CPU": []}, falls, {"CUDA": []})]
    answered = with_slots(tmp_path / "s.trace", state(), *slots)
    places = [[each["registered_at"] for each in path["kernels"]] for path in paths_of(answered)]
    autograd, last = places[0][0], "/home/me/lib.py:30"
    assert places == [[autograd, "/home/me/first.py:2"], [autograd], [last], [autograd, last]]
    assert [path["end"] for path in paths_of(answered)] == ["kernel", "not-known", "kernel", "kernel"]
    assert not any(finding["kind"] == "stale" for finding in answered["findings"])


def test_backend_fallbacks_that_are_gone_at_the_end(tmp_path: Path) -> None:
    """There was another one first, and none before; another one was in the place of PyTorch's own."""
    other = [[None, "registered at /home/me/first.cpp:3", False]]
    held = [("PrivateUse1", other), ("PrivateUse1", None), ("AutogradPrivateUse1", other)]
    slots = [*([(*each, False)] for each in held), []]
    answered = with_slots(tmp_path / "s.trace", state(), *slots, tensors=(OF_A_BACKEND,), raised={2})
    places = [[each["registered_at"] for each in path["kernels"]] for path in paths_of(answered)]
    autograd = places[3][0]
    assert autograd.endswith("VariableFallbackKernel.cpp:111")
    first, last = "/home/me/first.cpp:3", "/npu/fallback.cpp:7"
    assert places == [[autograd, first], [autograd], [first, last], [autograd, last]]
    assert [path["end"] for path in paths_of(answered)] == ["kernel", "error", "kernel", "kernel"]


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
