"""Hints on the screen for keys, and words of the views in small places."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.pilot import Pilot

from dispatch_cli.answers.table.registrations.report import registrations_report
from dispatch_cli.api import load_state
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.panes.keys import KeysPane
from dispatch_cli.explore.panes.slot import SlotPane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.slot_blocks import ToRegistration, ToSlot
from dispatch_cli.model.change import Removal
from dispatch_cli.model.names import OperatorName
from tests.explore.support import drive, flat, newest, screen_text, until

ABS = Spot(OperatorName("aten::abs"))
MESHGRID = Spot(OperatorName("aten::meshgrid", "indexing"))


def session() -> Session:
    return Session(newest(), ("--base", "torch-2.15"))


@pytest.mark.slow
def test_the_slots_of_an_alias_key_are_those_that_register_counts() -> None:
    covers = {
        row.key: row.covers
        for operator in registrations_report(newest(), map(OperatorName.parse, newest().dispatcher.names())).operators
        for row in operator.kernels
        if row.alias
    }

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("6")
        await pilot.pause(0.1)
        pane = app.stage.views["keys"]
        assert isinstance(pane, KeysPane)
        shown = {row.key: row.slots for row in pane.rows() if row.key in covers}
        assert shown == covers
        assert len(shown) > 3
        assert "Calls (3), then s" in flat(screen_text(app))

    drive(session(), steps)


@pytest.mark.slow
def test_python_s_choice_is_explained_beside_its_table() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(MESHGRID._replace(key="Meta"), "table")
        await pilot.press("p")
        await pilot.pause(0.2)
        shown = flat(screen_text(app))
        assert "At Meta, Python's resolve_key chooses meshgrid, kernel: a kernel is registered only in Python" in shown
        rules = shown.index("# Rule")
        assert shown.index("Here the Python dispatcher (resolve_key) chooses another kernel: meshgrid") < rules

    drive(session(), steps, (260, 60))


@pytest.mark.slow
@pytest.mark.parametrize("opening", [["7", "b"], ["4", "a"], ["question_mark"], ["8", "b"]])
def test_a_screen_in_front_keeps_all_keys(opening: list[str]) -> None:
    """None of them does something to what is behind it, nor puts something else before it."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(ABS._replace(key="CPU"), "table")
        await pilot.press(*opening)
        await pilot.pause(0.1)
        front, screen, entry = app.front, app.screen, app.operators.list.entry
        assert screen is not app.screen_stack[0]
        behind = app.screen_stack[0].focused
        await pilot.press("slash", "ctrl+p", *"12hxuwo", "f5", "down", "pagedown", "backspace", "alt+left")
        await pilot.pause(0.1)
        assert app.screen is screen
        assert (app.front, app.operators.list.entry, app.screen_stack[0].focused) == (front, entry, behind)
        assert not app.operators.input.value
        assert not (app.session.has_tried and app.session.whatif.changes)
        await pilot.press("escape")
        await pilot.pause(0.1)
        assert app.screen is app.screen_stack[0]

    drive(session(), steps)


def of_newest() -> Session:
    return Session(newest(), ("--base", "torch-2.15"))


def said(app: ExploreApp) -> list[str]:
    """The notices that are on the screen."""
    return [notification.message for notification in app._notifications]


LINEAR = OperatorName("aten::linear")


def test_x_on_the_page_of_an_alias_key_switches_its_kernel_off_and_on() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(LINEAR, "CompositeImplicitAutograd"), "slot")
        await until(pilot, lambda: "CompositeImplicitAutograd has the kernel" in flat(screen_text(app)))
        await pilot.press("x")
        await until(pilot, lambda: app.session.has_tried)
        (change,) = app.session.whatif.changes
        assert isinstance(change, Removal)
        assert (change.which.operator, change.which.key) == (LINEAR, "CompositeImplicitAutograd")
        await until(pilot, lambda: "Switched off on trial" in screen_text(app))
        assert not said(app)
        await pilot.press("x")
        await until(pilot, lambda: not app.session.whatif.changes)
        await app.go(Spot(LINEAR, "CompositeExplicitAutograd"), "slot")
        await pilot.press("x")
        await until(pilot, lambda: said(app))
        assert said(app) == ["Nothing is registered at CompositeExplicitAutograd: there is nothing to switch off."]

    drive(of_newest(), steps)


ROOT = Path(__file__).parents[2]
NO_PLACE = "There is no place in a file here."


def taken_notices(app: ExploreApp) -> list[str]:
    """Notices that are shown now; afterwards there are none."""
    texts = [notification.message for notification in app._notifications]
    app.clear_notifications()
    return texts


def test_e_opens_what_the_rule_took_and_says_where_there_is_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(os, "environ", {"PATH": "/"})
    file = "examples/scenarios/10_sparse_bypass.yaml"
    norm = OperatorName("mylib::norm")

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(norm, "CPU"), "slot")
        await pilot.pause()
        pane = app.stage.views["slot"]
        assert isinstance(pane, SlotPane)
        shown = []
        for number in range(pane.view.choices()):
            pane.view.move_to(number)
            target = pane.view.target
            pane.action_edit()
            await pilot.pause()
            (text,) = taken_notices(app)
            shown.append(text)
            if isinstance(target, ToRegistration) or (isinstance(target, ToSlot) and target.by_rule):
                span = next(
                    registration.span
                    for registration in pane.answer.report.what.registrations
                    if registration.kernel == "norm_math"
                )
                assert f"The place is {span}." in text, target
        assert NO_PLACE in shown
        pane.open(Spot())
        pane.action_edit()
        await pilot.pause()
        assert taken_notices(app) == [NO_PLACE]

    drive(Session(load_state((file,)), (file,)), steps)
