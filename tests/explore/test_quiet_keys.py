"""A key that is shown and can do nothing now says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.pilot import Pilot

from dispatch_cli.api import load_state
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.bars import KeyBar
from dispatch_cli.explore.panes.slot import SlotPane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.slot_blocks import ToRegistration, ToSlot
from dispatch_cli.model.names import OperatorName
from tests.explore.support import drive, newest, until

ROOT = Path(__file__).parents[2]
NO_PLACE = "There is no place in a file here."


def said(app: ExploreApp) -> list[str]:
    """Notices that are shown now; afterwards there are none."""
    texts = [notification.message for notification in app._notifications]
    app.clear_notifications()
    return texts


@pytest.mark.parametrize(("key", "what"), [("u", "undo"), ("ctrl+r", "redo"), ("w", "write")])
def test_without_a_change_on_trial(key: str, what: str) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        for view in "14":
            await pilot.press(view, key)
            await pilot.pause()
            assert said(app) == [f"There is no change to {what}."]
            assert what not in app.query_one(KeyBar).render().plain.lower()

    drive(Session(newest(), ("--base", "torch-2.15")), steps)


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
            (text,) = said(app)
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
        assert said(app) == [NO_PLACE]

    drive(Session(load_state((file,)), (file,)), steps)


def test_a_place_forward_that_is_not_there() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(OperatorName("aten::abs")), "call")
        await until(pilot, lambda: app.focused is not None and app.focused.id == "call-answer")
        await pilot.press("alt+right")
        await pilot.pause()
        assert said(app) == ["There is no place to go forward to."]

    drive(Session(newest(), ("--base", "torch-2.15")), steps)
