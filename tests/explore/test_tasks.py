"""Tasks as a user would do them, with their keys. What is seen is held against what PyTorch does, which the scenarios
and recordings say, and against what the command line prints that is shown.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from textual.pilot import Pilot

from dispatch_cli import api
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.panes.call import CallPane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.data import json_text
from tests.cli.support import call
from tests.explore.support import drive, newest, until
from tests.support import load_recording

pytestmark = pytest.mark.slow

SCENARIO = "examples/scenarios/01_composite_override.yaml"


def of_newest() -> Session:
    return Session(newest(), ("--base", "torch-2.15"))


def of_file(*files: str) -> Session:
    return Session(api.load_state(files), files)


async def found(app: ExploreApp, pilot: Pilot[None], operator: str) -> None:
    """Go to an operator without typing its name, which takes long here."""
    await app.go(Spot(OperatorName.parse(operator)), "table")
    await until(pilot, lambda: str(app.spot.operator) == operator)


async def begun(app: ExploreApp, pilot: Pilot[None], text: str) -> None:
    """Begin to type a call."""
    await pilot.press("t")
    line = app.query_one(CallPane).line
    line.value = text
    line.cursor_position = len(text)


async def answered(app: ExploreApp, pilot: Pilot[None], *command: str) -> Any:
    """Wait until the command line begins so; what its command prints, which is what is shown."""
    await until(pilot, lambda: app.answer is not None and app.answer.command[: len(command)] == command, 20)
    answer = app.answer
    assert answer is not None
    printed = call(*answer.command, "--format", "json")
    assert printed.code in (0, 1), printed.err
    # advice comes after the rest
    await until(pilot, lambda: app.answer is not None and printed.out == "".join(json_text(app.answer.report)), 20)
    return json.loads(printed.out)


def test_2_which_operators_and_slots_does_my_file_change() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("f")
        own = [app.catalogue.entries[item].name for item in app.operators.list.listed]
        slots = json.loads(call("diff", "torch-2.4", SCENARIO, "--format", "json").out)["slots"]
        assert own == sorted({operator["operator"] for slot in slots for operator in slot["operators"]})
        shown = await answered(app, pilot, "table")
        (operator,) = shown["operators"]
        changed = {entry["key"] for entry in operator["entries"] if entry["before"] is not None}
        assert changed == {key for slot in slots for key in slot["keys"]}

    drive(of_file(SCENARIO), steps)


def test_8_what_changed_for_linear_since_2_4() -> None:
    """Recorded of the live PyTorch 2.4.1 and 2.15.0: where kernels are registered."""
    before, after = (load_recording(f"{version}.state") for version in ("2.4.1", "2.15.0"))
    only_new = {*after["universe"]["functionality"]} - {*before["universe"]["functionality"]}
    old, new = (registered_keys(recording["ops"]["aten::linear"]) - only_new for recording in (before, after))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await found(app, pilot, "aten::linear")
        await pilot.press("8")
        await until(pilot, lambda: app.stage.id_of(app.focused or app.stage) == "differences")
        await pilot.press("b")
        await pilot.press(*"2.4", "enter", "t")
        shown = await answered(app, pilot, "diff", "torch-2.4", "torch-2.15", "--op", "aten::linear.default")
        assert {
            registration["key"] for registration in shown["registrations"] if registration["change"] == "added"
        } == new - old
        assert {
            registration["key"] for registration in shown["registrations"] if registration["change"] == "removed"
        } == old - new

    drive(of_newest(), steps)


def registered_keys(recorded: Any) -> set[str]:
    """The keys with a kernel, by a dump of PyTorch."""
    lines = recorded["dump"].split("\n")[4:]
    return {line.partition(":")[0].removesuffix("[alias]") for line in lines if " registered at " in line}


def test_9_which_keys_a_nested_tensor_carries_under_autocast() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await found(app, pilot, "aten::add.Tensor")
        await pilot.press("3")
        await until(pilot, lambda: app.stage.id_of(app.focused or app.stage) == "call")
        await begun(app, pilot, "--tensor 'cuda ")
        await pilot.press(*"nes", "tab", "'", "enter")
        await pilot.press("c", *"autocast cu", "tab", "enter", "s")
        shown = await answered(app, pilot, "keys", "--universe", "torch-2.15", "--tensor", "cuda nested")
        assert shown["keys"][-3:] == ["AutogradCUDA", "AutogradNestedTensor", "AutocastCUDA"]
        assert shown["keys"][0] == "NestedTensorCUDA"

    drive(of_newest(), steps)
