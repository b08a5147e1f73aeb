"""Tasks as a user would do them, with their keys. What is seen is held against what PyTorch does, which the scenarios
and recordings say, and against what the command line prints that is shown. Tasks 1, 6 and 7 are in test_changes.py,
4 in test_lists.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from dispatch_cli import api
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.panes.call import CallPane
from dispatch_cli.explore.panes.changes import ChangesPane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.render.data import json_text
from tests.cli.support import call
from tests.explore.support import drive, flat, newest, screen_text, until
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


def test_1_why_does_a_call_fail() -> None:
    """The call raises "Could not run 'aten::to.dtype'" in PyTorch 2.4.1 (examples/scenarios); x is one way out."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await found(app, pilot, "aten::to.dtype")
        await app.go(app.spot._replace(key="AutogradPrivateUse1"), "slot")
        shown = await answered(app, pilot, "explain", "aten::to.dtype", "AutogradPrivateUse1")
        assert (shown["answer"]["rule"], shown["answer"]["kernel"]) == ("missing", None)
        assert "PrivateUse1" in flat(screen_text(app))
        await pilot.press("4")
        await until(pilot, lambda: "to_npu" in screen_text(app))
        view = app.query_one(ChangesPane).view
        kernels = [getattr(view.choice(number).target, "name", None) for number in range(view.choices())]
        view.move_to(next(number for number, name in enumerate(kernels) if getattr(name, "key", "") == "PrivateUse1"))
        await pilot.press("x")
        await until(pilot, lambda: app.session.whatif.changes)
        await until(pilot, lambda: "aten::to.dtype" in app.catalogue.tried)
        assert app.spot.operator is not None
        now, plain = (
            state.dispatcher.table(app.spot.operator)["AutogradPrivateUse1"]
            for state in (app.session.state, api.load_state((), bases=("torch-2.4",)))
        )
        assert now.kernel is not None and plain.kernel is not None
        assert (now.rule, now.kernel.debug) == (plain.rule, plain.kernel.debug)
        await pilot.press("u")
        await until(pilot, lambda: not app.session.whatif.changes and not app.catalogue.tried)

    drive(of_file(SCENARIO), steps)


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


def selected(call_report: Any) -> list[str]:
    """The slots that a call reaches, in turn."""
    return [step["slot"] for selection in call_report["selections"] for step in selection["steps"]]


def test_3_what_a_sparse_tensor_runs() -> None:
    """With gradients, PyTorch calls the autograd kernel first; inference mode excludes the autograd keys."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await found(app, pilot, "aten::add.Tensor")
        await pilot.press("3")
        await until(pilot, lambda: app.stage.id_of(app.focused or app.stage) == "call")
        await begun(app, pilot, "--tensor 'cpu sparse requires_grad' --tensor 'cpu ")
        await pilot.press(*"spa", "tab", "enter")
        shown = await answered(app, pilot, "resolve", "aten::add.Tensor")
        assert selected(shown) == ["AutogradCPU", "SparseCPU"]
        await pilot.press("c", *"inf", "tab")
        await until(pilot, lambda: app.answer is not None and "inference_mode" in app.answer.command)
        shown = await answered(app, pilot, "resolve", "aten::add.Tensor")
        assert selected(shown) == ["SparseCPU"]

    drive(of_newest(), steps)


def test_5_from_a_finding_to_its_registrations_to_the_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Span] = []
    monkeypatch.setattr(ExploreApp, "on_pane_open_place", lambda _, message: opened.append(message.span))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("5")
        shown = await answered(app, pilot, "check-invariants")
        await until(pilot, lambda: app.stage.id_of(app.focused or app.stage) == "findings")
        await pilot.press("e")
        await until(pilot, lambda: opened)
        place = opened[0]
        lines = Path(SCENARIO).read_text(encoding="utf-8").split("\n")
        assert (place.file, "PrivateUse1: to_npu" in lines[place.line - 1]) == (SCENARIO, True)
        assert shown["findings"][0]["check"] == "math-kernel-displaced"
        await pilot.press("enter")
        explained = await answered(app, pilot, "explain", "aten::to.dtype", "AutogradPrivateUse1")
        assert ("PrivateUse1", "to_npu") in [(row["key"], row["kernel"]) for row in explained["registrations"]]

    drive(of_file(SCENARIO), steps, (120, 50))


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


def test_10_a_name_half_remembered_and_the_command_of_its_grid() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("slash", *"efficattforw")
        await until(pilot, lambda: "_efficient_attention_forward" in str(app.spot.operator))
        await pilot.press("enter")
        await until(pilot, lambda: app.stage.id_of(app.focused or app.stage) == "table")
        await pilot.press("v")
        await until(pilot, lambda: app.answer is not None and "grid" in app.answer.command)
        await answered(app, pilot, "table")
        await pilot.press("y")
        assert app.clipboard == (
            "dispatch-cli table --base torch-2.15 --op aten::_efficient_attention_forward --view grid"
        )

    drive(of_newest(), steps)
