"""Keys that come together do what they do one by one; views follow a cursor that comes to rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from textual.events import Key, Paste
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widgets import Input

from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.catalogue import spot_of
from dispatch_cli.explore.list_pane import ListPane
from dispatch_cli.explore.session import Session
from tests.explore.support import drive, newest, until

pytestmark = pytest.mark.slow

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


RESTED = 0.3
"""Seconds after which a cursor has rested."""


def session() -> Session:
    return Session(newest(), ("--base", "torch-2.15"))


def calls_of(monkeypatch: pytest.MonkeyPatch, made: object, name: str) -> list[tuple[Any, ...]]:
    """The arguments of calls of a method, which are made all the same."""
    results: list[tuple[Any, ...]] = []
    method: Callable[..., Any] = getattr(made, name)

    def noted(*arguments: Any, **named: Any) -> Any:
        results.append(arguments)
        return method(*arguments, **named)

    monkeypatch.setattr(made, name, noted)
    return results


def test_quick_moves_are_followed_at_once_and_when_they_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.pause(RESTED)
        opened = calls_of(monkeypatch, app.stage.views["table"], "open")
        for _ in range(30):
            app.operators.list.action_move(1)
        assert opened == [(spot_of(app.catalogue.entries[1]),)]
        await until(pilot, lambda: len(opened) > 1)
        await pilot.pause(RESTED)
        assert [spot for (spot,) in opened] == [spot_of(app.catalogue.entries[number]) for number in (1, 30)]
        assert app.spot == opened[-1][0]

    drive(session(), steps)


def test_enter_right_after_a_letter_opens_what_it_finds() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        app.operators.input.value = "addten"
        await app.operators.input.action_submit()
        await until(pilot, lambda: app.spot.operator is not None and str(app.spot.operator) == "aten::add.Tensor")

    drive(session(), steps)


def test_keys_before_the_first_frame_count() -> None:
    async def run() -> None:
        app = ExploreApp(session())
        for key in ("j", "j", "slash", *"abs."):
            name = {".": "full_stop"}.get(key, key)
            app.call_later(app.post_message, Key(name, key if len(key) == 1 else None))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.operators.input.value == "abs.")

    asyncio.run(run())
