"""The view of calls in a terminal: keys and the mouse."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input

from dispatch_cli import api
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.panes.call import CallPane
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from tests.explore.support import drive as drive_app
from tests.explore.support import flat, newest, screen_text, until

pytestmark = pytest.mark.slow

HOSTILE = "[bold]x[/] [@click=app.quit]y[/]\u202e"


class Host(App[None]):
    """The view alone, and what it told."""

    def __init__(self, operator: str | None, *, higher_order: str | None = None) -> None:
        super().__init__()
        self.session = Session(api.load_state((), bases=["torch-2.15"]), ("--base", "torch-2.15"))
        self.spot = Spot(None if operator is None else OperatorName.parse(operator), None, higher_order)
        self.pane = CallPane(self.session)
        self.answer: PaneAnswer | None = None
        self.went: list[tuple[Spot, str | None]] = []
        self.places: list[Span] = []

    def compose(self) -> ComposeResult:
        yield self.pane

    def on_mount(self) -> None:
        self.pane.open(self.spot)
        self.pane.shown.focus()

    def on_pane_answered(self, message: CallPane.Answered) -> None:
        self.answer = message.answer

    def on_pane_went(self, message: CallPane.Went) -> None:
        self.went.append((message.spot, message.pane))

    def on_pane_open_place(self, message: CallPane.OpenPlace) -> None:
        self.places.append(message.span)

    @property
    def text(self) -> str:
        return self.pane.shown.text

    @property
    def command(self) -> str:
        return "" if self.answer is None else " ".join(self.answer.command)


def drive(app: Host, steps: Callable[[Pilot[None]], Coroutine[Any, Any, None]], size: tuple[int, int]) -> None:
    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await steps(pilot)

    asyncio.run(run())


async def typed(pilot: Pilot[None], *keys: str) -> None:
    """Names of keys, and texts that are typed."""
    for key in keys:
        await (pilot.press(key) if key in NAMED else pilot.press(*key))
        await pilot.pause()


NAMED = ("enter", "escape", "tab", "down", "up", "end", "ctrl+u")


def test_words_that_do_not_go_together() -> None:
    """They are refused at once; the last answer stays, and says of which call it is; leaving takes that call."""
    app = Host("aten::add.Tensor")

    async def steps(pilot: Pilot[None]) -> None:
        await typed(
            pilot, "t", "ctrl+u", "--tensor 'cpu sparse' --tensor cpu", "enter", "t", " --tensor 'cpu sparse nested'"
        )
        assert "! --tensor 'cpu sparse nested'" in app.text
        assert "The last call that could be made: --tensor 'cpu sparse' --tensor cpu" in app.text
        app.query_one(Input).value = HOSTILE
        await pilot.pause()
        assert "\u202e" not in app.text
        assert "[bold]x[/]" in app.text
        await typed(pilot, "enter")
        assert app.query_one(Input).value == "--tensor 'cpu sparse' --tensor cpu"
        assert "!" not in app.text
        await typed(pilot, "r")
        assert app.command.endswith("--tensor cpu --tensor cpu")

    drive(app, steps, (80, 20))


def test_steps_are_opened_and_edited() -> None:
    app = Host("aten::_foreach_acos")

    async def steps(pilot: Pilot[None]) -> None:
        await typed(pilot, "down", "enter")
        assert app.went[-1] == (app.spot._replace(key="CPU"), "slot")
        await typed(pilot, "e")
        assert app.places == []
        await typed(pilot, "down", "enter")
        assert app.went[-1] == (Spot(OperatorName.parse("aten::acos")), None)

    drive(app, steps, (80, 20))


def test_higher_order_operators_and_key_sets() -> None:
    async def of_higher_order(pilot: Pilot[None]) -> None:
        assert app.command == "resolve cond --base torch-2.15 --tensor cpu"
        await typed(pilot, "c", "func", "tab", "enter", "enter")
        assert app.command.endswith("--context functionalize")
        assert app.went[0][0].higher_order == "cond"
        assert app.went[0][1] == "slot"

    app = Host(None, higher_order="cond")
    drive(app, of_higher_order, (80, 24))

    async def of_nothing(pilot: Pilot[None]) -> None:
        await typed(pilot, "t", "ctrl+u", "--keyset 'AutogradCP", "tab", "enter")
        assert app.command == "keys AutogradCPU --universe torch-2.15"
        await typed(pilot, "t", "ctrl+u", "--keyset 'AutogradCPU | CPU'", "enter")
        assert app.command == "keys AutogradCPU | CPU --universe torch-2.15"

    app = Host(None)
    drive(app, of_nothing, (80, 24))


def shown(app: ExploreApp) -> str:
    """The lines of the answer that are on the screen, as one."""
    area = app.query_one(CallPane).shown.region
    lines = screen_text(app).splitlines()[area.y : area.bottom]
    return flat(" ".join(line[area.x : area.right].removeprefix("▌") for line in lines))


@pytest.mark.parametrize("size", [(40, 10), (80, 24)])
def test_the_line_to_type_in_and_a_word_are_on_the_screen(size: tuple[int, int]) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(OperatorName("aten::abs")), "call")
        await pilot.pause()
        await pilot.press("c", *"inf")
        await until(pilot, lambda: "--context 'inf" in screen_text(app))
        await pilot.pause()
        lines = [line.strip("▕ ") for line in screen_text(app).splitlines()]
        at = next(number for number, one in enumerate(lines) if "--context 'inf" in one)
        assert "inference_mode" in lines[at + 1], lines

    drive_app(Session(newest(), ("--base", "torch-2.15")), steps, size)


def _is_said(app: ExploreApp, words: str) -> bool:
    return any(words in notice.message for notice in app._notifications)


def test_a_tensor_too_many_is_refused_with_its_reason() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(OperatorName("aten::add", "Tensor")), "call")
        await pilot.pause()
        for keys, words in (
            (["a"], "aten::add.Tensor takes 2 tensors, and all are there: t changes them."),
            (
                ["t", *" --tensor cpu", "enter"],
                "aten::add.Tensor takes at most 2 tensors, but got 3. The call is as it",
            ),
        ):
            app.clear_notifications()
            await pilot.press(*keys)
            await until(pilot, partial(_is_said, app, words))
        await app.go(Spot(OperatorName("aten::cat")), "call")
        await pilot.pause()
        await pilot.press("a")
        assert app.query_one(CallPane).line.value.endswith("--tensor '")

    drive_app(Session(newest(), ("--base", "torch-2.15")), steps)
