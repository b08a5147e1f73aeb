"""The view of changes, driven by keys, as a user does it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from dispatch_cli.api import load_state
from dispatch_cli.engine.rules import Rule
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.panes.changes import ChangesPane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.names import OperatorName
from tests.cli.support import call
from tests.explore.support import drive, newest, until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WIDE = (200, 60)
SCENARIO = "examples/scenarios/01_composite_override.yaml"


def pane_of(app: ExploreApp) -> ChangesPane:
    return app.query_one(ChangesPane)


async def find_operator(pilot: Pilot[None], name: str) -> None:
    """Type a name, and go to the operator."""
    await pilot.press("slash", "ctrl+u", *name, "enter", "escape")
    await pilot.pause()


async def go_to(app: ExploreApp, pilot: Pilot[None], name: str) -> None:
    """The same without typing, which takes long here."""
    await app.go(Spot(OperatorName.parse(name)), "changes")
    await pilot.pause()


async def found(session: Session, pilot: Pilot[None]) -> None:
    """Wait until findings have been looked for."""
    await until(pilot, lambda: session.whatif.findings is not None, seconds=60)
    await pilot.pause()


async def switch_off(app: ExploreApp, pilot: Pilot[None], key: str) -> None:
    """Put the cursor on the registration at a key, and press x."""
    await pilot.press("4")
    await pilot.pause()
    pane = pane_of(app)
    pane.view.focus()
    number = next(
        number
        for number in range(pane.view.choices())
        if getattr(getattr(pane.view.choice(number).target, "name", None), "key", None) == key
    )
    pane.view.move_to(number)
    await pilot.press("x")
    await pilot.pause()


def test_the_way_out_of_a_composite_override(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Task 1: aten::to.dtype fails at AutogradPrivateUse1; without its kernel, and with one of aten::_to_copy, not."""
    scenario = str(ROOT / SCENARIO)
    monkeypatch.chdir(tmp_path)
    session = Session(load_state([scenario]), (scenario,))
    operator = OperatorName.parse("aten::to.dtype")
    key = "AutogradPrivateUse1"
    assert session.state.dispatcher.table(operator)[key].rule is Rule.MISSING

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> str:
        await go_to(app, pilot, "aten::to.dtype")
        await switch_off(app, pilot, "PrivateUse1")
        await go_to(app, pilot, "aten::_to_copy")
        await pilot.press("4", "a")
        await pilot.pause()
        await pilot.press(*"PrivateUse1", "enter")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press("b", "a")
        await pilot.pause()
        await pilot.press(*"AutocastPrivateUse1", "enter")
        await pilot.pause()
        await pilot.press("down", "enter")
        await until(pilot, lambda: "findings gone" in pane_of(app).view.text, seconds=60)
        text = pane_of(app).view.text
        await pilot.press("w", "enter")
        return text

    text = drive(session, steps, WIDE)
    assert "3 findings gone" in text and "No finding is new" in text
    assert session.state.dispatcher.table(operator)[key].rule is Rule.MATH
    assert not session.unsaved
    ran = call("check-invariants", scenario, "whatif.yaml")
    assert ran.code == 0, ran.out
    ran = call("explain", "aten::to.dtype", key, scenario, "whatif.yaml", "--format", "json")
    assert '"rule": "math"' in ran.out


def test_moving_a_registration_makes_slots_stale() -> None:
    """Task 7: CompositeExplicitAutograd after CompositeImplicitAutograd recomputes no autograd slot."""
    session = Session(load_state(["examples/stale.yaml"]), ("examples/stale.yaml",))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> str:
        await find_operator(pilot, "stale::fine")
        await pilot.press("4")
        await pilot.pause()
        pane_of(app).view.focus()
        await pilot.press("right_square_bracket")
        await pilot.pause()
        text = pane_of(app).view.text
        await pilot.press("right_square_bracket")
        await until(
            pilot, lambda: any("It is the last already" in notification.message for notification in app._notifications)
        )
        return text

    text = drive(session, steps, WIDE)
    assert "stale" in text.partition("with another answer")[2] and "stale-live-table" in text
    assert session.state.dispatcher.stale_slots(OperatorName.parse("stale::fine"))


def test_leaving_without_the_changes_is_asked_for_twice() -> None:
    session = Session(newest(), ("--base", "torch-2.15"))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await go_to(app, pilot, "aten::add.Tensor")
        await switch_off(app, pilot, "CPU")
        await pilot.press("q")
        assert app.is_running and session.unsaved
        await pilot.press("q")
        await until(pilot, lambda: app._exit)

    drive(session, steps)


def test_changes_are_written_to_the_file_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Places in it have its name from then on, and undo goes back over the writing."""
    monkeypatch.chdir(tmp_path)
    session = Session(newest(), ("--base", "torch-2.15"))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await go_to(app, pilot, "aten::add.Tensor")
        await switch_off(app, pilot, "CPU")
        await pilot.press("w", "escape", "w", "ctrl+u", *"mine.yaml", "enter")
        await until(pilot, lambda: not session.unsaved)
        assert "mine.yaml" in app.command_bar.line
        await pilot.press("u")
        assert not session.whatif.changes
        await pilot.press("ctrl+r")
        assert (
            session.whatif.state.dispatcher.table(OperatorName.parse("aten::add.Tensor"))["CPU"].rule is not Rule.KERNEL
        )

    drive(session, steps)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]
    ran = call("table", "--base", "torch-2.15", "mine.yaml", "--op", "aten::add.Tensor")
    assert ran.code == 0, ran.out
