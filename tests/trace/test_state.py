"""Recordings with the registrations of the program: its own operators, kernels and fallbacks count."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.capture.support import mutations, state_of, universe_data
from tests.cli.support import call
from tests.trace.support import OF_A_BACKEND, PLAIN, Writer

FALLBACK = {"key": "PrivateUse1", "debug": "registered at /npu/fallback.cpp:7", "fallthrough": False}


def kernel(debug: str, **more: Any) -> dict[str, Any]:
    return {"debug": debug, "signature": None, "fallthrough": False, "boxed": True, "unboxed": False, **more}


def state() -> dict[str, Any]:
    """Of a program with an operator in Python, and a backend whose fallback goes to the CPU."""
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
    made = Writer()
    made.call("mylib::scale", tensors=(PLAIN,), grads=(True,))
    made.call("mylib::plain", tensors=(PLAIN,), grads=(True,))
    made.call("mylib::plain", tensors=(OF_A_BACKEND,))
    made.add("state", found)
    return made.text()


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "s.trace"
    path.write_text(recording(state()), encoding="utf-8")
    return str(path)


def answer(*arguments: str) -> Any:
    result = call("trace", *arguments, "--format", "json")
    assert result.code == 0, result.err
    return json.loads(result.out)


def test_the_kernels_of_the_program_are_named_with_their_places(file: str) -> None:
    found = answer(file)
    rows = [row for thread in found["threads"] for row in thread["rows"]]
    assert found["embedded"] is None
    places = [{one["key"]: one["registered_at"] for one in row["path"]["kernels"]} for row in rows]
    assert places[0] == {"AutogradCPU": "lib.py:20", "CPU": "/home/me/lib.py:9"}
    assert places[1].keys() == {"AutogradCPU", "CPU"}
    assert places[1]["CPU"] == "/home/me/lib.py:30"
    assert places[2].keys() == {"AutogradPrivateUse1", "PrivateUse1"}
    assert places[2]["PrivateUse1"] == "/npu/fallback.cpp:7"


def test_the_fallback_of_a_backend_and_lost_gradients_are_found(file: str) -> None:
    found = [(one["kind"], one["operator"], one["key"], one["first"]) for one in answer(file)["findings"]]
    assert found == [
        ("fallback", "mylib::plain", "PrivateUse1", 2),
        ("no-gradient", "mylib::plain", "AutogradCPU", 1),
    ]


def test_a_fallback_of_a_backend_is_not_called_pytorchs_own(file: str) -> None:
    result = call("trace", file, "--explain", "2")
    row = next(line for line in result.out.split("\n") if line.startswith("PrivateUse1 "))
    assert "/npu/fallback.cpp:7" in row
    assert "PyTorch's own" not in row


def test_a_stale_table_is_as_the_only_order_leaves_it(tmp_path: Path) -> None:
    """Where no order of the registrations leaves it stale, nothing is said of the operator's calls."""
    found = state()
    scale, plain = found["operators"]
    implicit, explicit = (kernel(f"registered at /home/me/lib.py:{line}") for line in (31, 32))
    plain["kernels"] = {"CompositeExplicitAutograd": [explicit], "CompositeImplicitAutograd": [implicit]}
    for stale in (False, True):
        plain["stale"] = scale["stale"] = stale
        (tmp_path / "s.trace").write_text(recording(found), encoding="utf-8")
        answered = answer(str(tmp_path / "s.trace"))
        paths = [row["path"] for thread in answered["threads"] for row in thread["rows"]]
        keys = [one["source"] for one in paths[1]["kernels"]]
        assert keys == (["CompositeImplicitAutograd"] if stale else [None, "CompositeExplicitAutograd"])
        assert ("stale", "mylib::plain", "AutogradCPU") in {
            (one["kind"], one["operator"], one["key"]) for one in answered["findings"]
        } or not stale
        assert (paths[0]["problem"] is not None) == stale


def test_a_state_that_is_none_is_refused(tmp_path: Path) -> None:
    """Whatever is left out or put in the place of something else."""
    whole = state()
    whole["universe"] = copy.deepcopy(whole["universe"])
    count = 0
    for what, changed in mutations(whole, 4):
        if count % 7 == 0 and not what.startswith("('universe'"):
            (tmp_path / "m.trace").write_text(recording(changed), encoding="utf-8")
            result = call("trace", str(tmp_path / "m.trace"))
            assert result.code in (0, 2), (what, result.err[-500:])
        count += 1
    assert count > 100
