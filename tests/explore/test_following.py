"""Views follow a cursor: in the same frame where it had rested, and once where keys come quickly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from textual.events import Key
from textual.pilot import Pilot

from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.catalogue import spot_of
from dispatch_cli.explore.list_pane import ListPane
from dispatch_cli.explore.session import Session
from tests.explore.support import drive, newest, screen_text, until

pytestmark = pytest.mark.slow

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


def frames_of(monkeypatch: pytest.MonkeyPatch, app: ExploreApp) -> list[str]:
    """The text of each frame that is painted from now on."""
    texts: list[str] = []
    display = app._display

    def noted(*arguments: Any) -> None:
        display(*arguments)
        texts.append(screen_text(app))

    monkeypatch.setattr(app, "_display", noted)
    return texts


def beside_the_list(screen: str) -> list[str]:
    """The lines of a screen without the list, in which marks of findings can come at any time."""
    return [line.partition("\N{RIGHT ONE EIGHTH BLOCK}")[2] for line in screen.splitlines()]


def test_list_table_and_command_change_in_one_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        frames = frames_of(monkeypatch, app)
        for row in range(1, 6):
            await pilot.pause(RESTED)
            frames.clear()
            await pilot.press("down")
            await until(pilot, lambda: frames)
            await pilot.pause(RESTED)
            assert beside_the_list(frames[0]) == beside_the_list(screen_text(app))
            assert f"--op {app.catalogue.entries[row].name}" in frames[0]

    drive(session(), steps)


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


def test_details_follow_the_cursor_of_their_list(monkeypatch: pytest.MonkeyPatch) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("6")
        view = app.stage.views["keys"]
        assert isinstance(view, ListPane)
        await pilot.pause(RESTED)
        calls = calls_of(monkeypatch, view.detail, "show")
        await pilot.press("down")
        await pilot.pause(RESTED)
        assert len(calls) == 1
        for _ in range(12):
            view.list.action_move(1)
        await pilot.pause(RESTED)
        assert len(calls) == 3

    drive(session(), steps)


def test_what_is_typed_is_painted_before_it_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("slash")
        await pilot.pause(RESTED)
        frames, asked = frames_of(monkeypatch, app), calls_of(monkeypatch, app.operators.list, "search")
        painted: list[int] = []
        find = app.catalogue.find

        def noted(*arguments: Any) -> Iterable[int]:
            painted.append(len(frames))
            return find(*arguments)

        monkeypatch.setattr(app.catalogue, "find", noted)
        await pilot.press("m")
        await until(pilot, lambda: asked)
        assert painted == [1]
        assert [query for query, _ in asked] == ["m"]

    drive(session(), steps)


def test_enter_right_after_a_letter_opens_what_it_finds() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        app.operators.input.value = "addten"
        await app.operators.input.action_submit()
        await until(pilot, lambda: app.spot.operator is not None and str(app.spot.operator) == "aten::add.Tensor")

    drive(session(), steps)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
def test_keys_that_come_at_once_go_where_those_before_them_lead(size: tuple[int, int]) -> None:
    """As those that are typed before there is a screen, or that one packet of a network has."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        if size[0] < 100:
            await pilot.press("enter")
            await until(pilot, lambda: not app.operators.display)
        for key in ("slash", *"addten"):
            app.post_message(Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: app.operators.input.value == "addten")
        await until(pilot, lambda: str(app.spot.operator) == "aten::add.Tensor")

    drive(session(), steps, size)


def test_keys_before_the_first_frame_count() -> None:
    async def run() -> None:
        app = ExploreApp(session())
        for key in ("j", "j", "slash", *"abs."):
            name = {".": "full_stop"}.get(key, key)
            app.call_later(app.post_message, Key(name, key if len(key) == 1 else None))
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.operators.input.value == "abs.")

    asyncio.run(run())


def test_a_change_of_view_is_painted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: app.catalogue.found is not None)
        for key in "212":  # made, and laid out for the first time
            await pilot.press(key)
            await pilot.pause(RESTED)
        frames = frames_of(monkeypatch, app)
        for key, expected in (("1", "$ dispatch-cli table"), ("2", "$ dispatch-cli explain")) * 3:
            frames.clear()
            await pilot.press(key)
            await pilot.pause(RESTED)
            assert [expected in frame for frame in frames] == [True]
            assert frames[0] == screen_text(app)

    drive(session(), steps, painted=True)
