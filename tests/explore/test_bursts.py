"""Keys that come together, before the first of them is done, do what they do one by one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.events import Key, MouseDown, MouseEvent, MouseUp, Paste
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widgets import Input

from dispatch_cli.api import load_state
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.choose import Choose
from dispatch_cli.explore.list_pane import ListPane
from dispatch_cli.explore.panes.call import CallPane
from dispatch_cli.explore.panes.coverage import CoveragePane
from dispatch_cli.explore.panes.keys import KeysPane
from dispatch_cli.explore.panes.table import TablePane
from dispatch_cli.explore.session import Session
from tests.explore.support import drive, newest, until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SESSION = ("--base", "torch-2.15")


def burst(app: ExploreApp, *keys: str) -> None:
    """Send keys as a terminal does that has them all at once. A text is typed letter by letter; a key that is
    none stands in ``<`` and ``>``.
    """
    for text in keys:
        if text.startswith("<"):
            app.post_message(Key(text[1:-1], None))
        else:
            for letter in text:
                app.post_message(Key(_character_to_key(letter), letter))


def value(app: ExploreApp) -> str:
    assert isinstance(app.focused, Input), app.focused
    return app.focused.value


@pytest.mark.parametrize("key", list("5678"))
@pytest.mark.parametrize("together", [True, False])
def test_a_filter_gets_what_is_typed_with_its_key(key: str, together: bool) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        if together:
            burst(app, f"{key}fabc")
        else:
            burst(app, key)
            await pilot.pause(0.3)
            burst(app, "fabc")
        await until(pilot, lambda: isinstance(app.focused, Input) and app.focused.value)
        await pilot.pause()
        assert value(app) == "abc"
        # escape empties it, and the keys behind it are those of the list again; what is typed takes the old one's place
        burst(app, "<escape>", "fde", "<enter>", "ffg")
        pane = app.stage.views[app.front]
        assert isinstance(pane, ListPane)
        await until(pilot, lambda: pane.filter.value == "fg")
        assert app.focused is pane.filter

    drive(Session(newest(), SESSION), steps)


def test_the_filter_of_the_table_and_the_keys_behind_escape_and_enter() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        burst(app, "1fCPU")
        await until(pilot, lambda: isinstance(app.focused, Input) and value(app) == "CPU")
        table = app.stage.views["table"]
        assert isinstance(table, TablePane)
        burst(app, "<enter>", "v", "fXLA", "<escape>", "v", "fMeta")
        await until(pilot, lambda: isinstance(app.focused, Input) and value(app) == "Meta")
        await until(pilot, lambda: table.options.keys == "Meta")
        assert not table.options.grid

    drive(Session(newest(), SESSION), steps)


def test_a_search_is_opened_and_the_table_filtered() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        burst(app, "/aten::to.dtype", "<enter>", "fCUDA")
        await until(pilot, lambda: isinstance(app.focused, Input) and value(app) == "CUDA")
        assert str(app.spot.operator) == "aten::to.dtype"
        burst(app, "<escape>", "<escape>", "/relu", "<escape>", "<down>")
        await until(pilot, lambda: app.operators.list.has_focus and not app.operators.input.value)
        await until(pilot, lambda: "--op aten::relu.out" in app.command_bar.line)

    drive(Session(newest(), SESSION), steps)


def test_a_list_to_choose_from_gets_what_is_typed_and_what_is_chosen_is_what_was_typed() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        burst(app, "7bxla", "<enter>", "fabs")
        await until(pilot, lambda: isinstance(app.focused, Input) and value(app) == "abs")
        pane = app.stage.views["coverage"]
        assert isinstance(pane, CoveragePane)
        assert pane.backend == "XLA"
        assert not isinstance(app.screen, Choose)

    drive(Session(newest(), SESSION), steps)


def test_the_words_of_a_call() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        burst(app, "/aten::cat", "<enter>", "3cinference_m", "<tab>", "<enter>", "areq")
        await until(pilot, lambda: isinstance(app.focused, Input) and value(app).endswith("req"))
        pane = app.stage.views["call"]
        assert isinstance(pane, CallPane)
        assert "inference_mode" in str(pane.draft.contexts)

    drive(Session(newest(), SESSION), steps)


def test_two_lists_in_turn_and_undo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(os, "environ", {"PATH": "/"})
    file = "examples/scenarios/10_sparse_bypass.yaml"

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        burst(app, "4aXLA", "<enter>", "my_kernel", "<enter>")
        await until(pilot, lambda: app.session.has_tried and app.session.whatif.changes)
        (change,) = app.session.whatif.changes
        assert "XLA" in str(change)
        assert "my_kernel" in str(change)
        burst(app, "u6fcpu")
        await until(pilot, lambda: isinstance(app.focused, Input) and value(app) == "cpu")
        assert not app.session.whatif.changes
        assert isinstance(app.stage.views["keys"], KeysPane)

    drive(Session(load_state((file,)), (file,)), steps)


def test_a_key_waits_only_for_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        monkeypatch.setattr(app.screen, "_callbacks", [(lambda: None, app)] * 3)
        monkeypatch.setattr(type(app.screen), "_invoke_and_clear_callbacks", _nothing)
        burst(app, "6")
        await until(pilot, lambda: app.front == "keys")

    drive(Session(newest(), SESSION), steps)


async def _nothing(_: object) -> None:
    pass


def test_what_is_pasted_behind_a_key_is_in_the_line_that_it_opens() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        operators = app.operators.list
        burst(app, "/softmax", "<down>", "<down>")
        await until(pilot, lambda: operators.query_text == "softmax" and operators.cursor == 2)
        burst(app, "/", "<escape>")
        await until(pilot, lambda: not operators.query_text)
        burst(app, "/")
        app.post_message(Paste("softmax"))
        burst(app, "<down>", "<down>")
        await until(pilot, lambda: operators.query_text == "softmax" and operators.cursor == 2)
        burst(app, "<ctrl+p>")
        app.post_message(Paste("View: Keys"))
        burst(app, "<enter>")
        await until(pilot, lambda: app.front == "keys")

    drive(Session(newest(), SESSION), steps)


def test_a_click_behind_keys_is_on_what_they_lead_to() -> None:
    def mouse(kind: type[MouseEvent]) -> MouseEvent:
        return kind(None, 9, 7, 0, 0, 1, False, False, False, screen_x=9, screen_y=7)

    def click(app: ExploreApp) -> None:
        app.post_message(mouse(MouseDown))
        app.post_message(mouse(MouseUp))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        operators = app.operators.list

        def is_clicked() -> bool:
            return operators.query_text == "add" and operators.has_focus and operators.cursor > 0

        burst(app, "/add")
        await until(pilot, lambda: operators.query_text == "add" and operators.cursor == 0)
        click(app)
        await until(pilot, is_clicked)
        row = operators.cursor
        burst(app, "/", "<escape>")
        await until(pilot, lambda: not operators.query_text and operators.has_focus)
        burst(app, "/add")
        click(app)
        await until(pilot, is_clicked)
        assert operators.cursor == row

    drive(Session(newest(), SESSION), steps)
