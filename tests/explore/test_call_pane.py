"""The view of calls in a terminal: keys and the mouse."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.events import Key, Paste
from textual.pilot import Pilot
from textual.widgets import Input

from dispatch_cli import api
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.call_chooser import Chooser
from dispatch_cli.explore.panes.call import CallPane
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from tests.cli.support import call
from tests.explore.support import drive as drive_app
from tests.explore.support import flat, newest, screen_text, until

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
        self.pane.parts.focus()

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
        await (pilot.press(key) if key in NAMED else pilot.press(*[LETTERS.get(one, one) for one in key]))
        await pilot.pause()


NAMED = ("enter", "escape", "tab", "down", "up", "end", "delete", "backspace")
LETTERS = {" ": "space", "_": "underscore", "=": "equals_sign", "[": "left_square_bracket", "-": "minus"}


def test_what_a_sparse_tensor_runs_in_inference_mode_and_with_gradients() -> None:
    app = Host("aten::add.Tensor")

    async def steps(pilot: Pilot[None]) -> None:
        await typed(pilot, "enter", "spa", "enter", "req", "enter", "escape", "down", "enter", "spa", "enter")
        await typed(pilot, "escape")
        sparse = "cpu sparse"
        assert app.command == (
            f"resolve aten::add.Tensor --base torch-2.15 --tensor {sparse} requires_grad --tensor {sparse}"
        )
        assert "Slots: AutogradCPU > SparseCPU" in app.text
        await typed(pilot, "c", "inf", "enter")
        assert app.command.endswith("--context inference_mode")
        assert "The call ends in RegisterSparseCPU" in app.text
        assert "AutogradCPU is excluded by the contexts" in app.text
        assert "Slots" not in app.text, "one slot is no way"

    drive(app, steps, (80, 20))


def test_which_keys_a_nested_tensor_carries_under_autocast() -> None:
    app = Host("aten::add.Tensor")

    async def steps(pilot: Pilot[None]) -> None:
        await typed(pilot, "enter", "cu", "enter", "nes", "enter", "escape", "down", "delete")
        await typed(pilot, "c", "autocast cu", "enter", "escape", "s")
        assert app.command == "keys --universe torch-2.15 --tensor cuda nested --context autocast cuda"
        carried = {one.key: one for one in app.answer.report.carried}
        assert [*carried] == [
            *("AutocastCUDA", "AutogradNestedTensor", "AutogradCUDA", "ADInplaceOrView", "BackendSelect"),
            "NestedTensorCUDA",
        ]
        assert not carried["AutocastCUDA"].excluded
        assert "NestedTensorCUDA      NestedTensor           tensor" in app.text

    drive(app, steps, (120, 40))


@pytest.mark.parametrize(("key", "word"), [("enter", "sparse"), ("c", "inference_mode")])
def test_what_is_chosen_can_be_taken_away_and_escape_ends_the_choice(key: str, word: str) -> None:
    """Of tensors and of contexts alike."""
    app = Host("aten::add.Tensor")

    async def steps(pilot: Pilot[None]) -> None:
        before, chooser = app.command, app.query_one(Chooser)
        await typed(pilot, key, word, "enter")
        assert chooser.is_open and word in app.command
        assert chooser._rows.target.word == word and chooser._rows.target.is_given
        await typed(pilot, "enter")
        assert chooser.is_open and app.command == before and not chooser._rows.target.is_given
        await typed(pilot, "enter", "escape")
        assert not chooser.is_open and app.pane.parts.has_focus and word in app.command
        assert word in app.pane.parts.target.text

    drive(app, steps, (120, 40))


def test_words_that_do_not_go_together() -> None:
    """They are refused at once; the last answer stays, and says of which call it is."""
    app = Host("aten::add.Tensor")

    async def steps(pilot: Pilot[None]) -> None:
        before = app.command
        await typed(pilot, "enter", "sp", "enter", "nested")
        assert "--tensor cpu sparse" in app.command
        assert "! --tensor 'cpu sparse nested'" in app.text
        assert "The last call that could be made: --tensor 'cpu sparse'" in app.text
        app.query_one(Input).value = HOSTILE
        await pilot.pause()
        assert "\u202e" not in app.text
        assert "[@click=app.quit]" in app.text
        await typed(pilot, "escape", "r")
        assert app.command == before
        assert "!" not in app.text

    drive(app, steps, (80, 20))


def test_steps_are_opened_and_edited() -> None:
    app = Host("aten::_foreach_acos")

    async def steps(pilot: Pilot[None]) -> None:
        await typed(pilot, "tab", "down", "enter")
        assert app.went[-1] == (app.spot._replace(key="CPU"), "slot")
        await typed(pilot, "e")
        assert app.places == []
        await typed(pilot, "down", "enter")
        assert app.went[-1] == (Spot(OperatorName.parse("aten::acos")), None)

    drive(app, steps, (80, 20))


def test_the_mouse() -> None:
    app = Host("aten::ones")

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.click("#call-parts", offset=(3, 1))
        await pilot.click("#call-parts", offset=(3, 1))
        await pilot.pause()
        chooser = app.query_one(Chooser)
        assert chooser.is_open
        await pilot.click("Chooser PlainRows", offset=(5, 1))
        await pilot.click("Chooser PlainRows", offset=(5, 1))
        await pilot.pause()
        assert app.command == "resolve aten::ones --base torch-2.15 --argument device=cuda"
        await pilot.press("escape")
        await pilot.pause()
        assert not chooser.is_open

    drive(app, steps, (120, 40))


@pytest.mark.parametrize("pasted", [True, False])
def test_a_device_that_is_typed_takes_the_place_of_the_first_one(pasted: bool) -> None:
    app = Host("aten::add.Tensor")

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("home", "enter")
        if pasted:
            app.post_message(Paste("cuda sparse"))
        else:
            await pilot.press(*"cuda", "space", *"sparse")
        await pilot.pause()
        assert app.query_one(Input).value == "cuda sparse"
        assert "--tensor cuda sparse --tensor cpu" in app.command
        assert not app.pane.problems
        await pilot.press("home", *"cpu", "space")  # before the others: what is meant is not known
        assert app.query_one(Input).value == "cpu cuda sparse"
        assert app.pane.problems

    drive(app, steps, (120, 40))


def test_higher_order_operators_and_key_sets() -> None:
    async def of_higher_order(pilot: Pilot[None]) -> None:
        assert app.command == "resolve cond --base torch-2.15 --tensor cpu"
        await typed(pilot, "c", "func", "enter", "tab", "enter")
        assert app.command.endswith("--context functionalize")
        assert app.went[0][0].higher_order == "cond"
        assert app.went[0][1] == "slot"

    app = Host(None, higher_order="cond")
    drive(app, of_higher_order, (80, 24))

    async def of_nothing(pilot: Pilot[None]) -> None:
        await typed(pilot, "down", "down", "down", "down", "enter", "AutogradCP", "enter", "escape")
        assert app.command == "keys AutogradCPU --universe torch-2.15"
        await typed(pilot, "enter", " | CPU", "escape")
        assert app.command == "keys AutogradCPU | CPU --universe torch-2.15"

    app = Host(None)
    drive(app, of_nothing, (80, 24))


def test_each_operator_keeps_its_call() -> None:
    app = Host("aten::add.Tensor")

    async def steps(pilot: Pilot[None]) -> None:
        await typed(pilot, "enter", "xp", "enter", "escape")
        app.pane.open(Spot(OperatorName.parse("aten::mm")))
        assert app.pane.draft.tensors == ("xpu", "xpu"), "a new one begins like the last"
        await typed(pilot, "delete")
        app.pane.open(app.spot)
        assert app.pane.draft.tensors == ("xpu", "cpu")
        app.pane.open(Spot(OperatorName.parse("aten::mm")))
        assert app.pane.draft.tensors == ("xpu",)

    drive(app, steps, (120, 40))


def test_a_context_is_replaced_by_what_is_typed_and_a_bad_one_does_not_stay() -> None:
    app = Host("aten::add.Tensor")

    async def steps(pilot: Pilot[None]) -> None:
        await typed(pilot, "c", "autocast cpu", "enter", "escape")
        assert "autocast cpu" in app.command.replace("=", " ")
        at = next(n for n in range(app.pane.parts.choices()) if "autocast" in str(app.pane.parts.choice(n).target.text))
        app.pane.parts.move_to(at)
        await typed(pilot, "enter", "autocast cuda", "enter", "escape")
        assert app.pane.draft.contexts == ("autocast cuda",)
        app.pane.parts.move_to(at)
        await typed(pilot, "enter", "no such context")
        assert app.pane.problems
        await typed(pilot, "escape")
        assert not app.pane.problems
        assert app.pane.draft.contexts == ("autocast cuda",)

    drive(app, steps, (120, 40))


def test_what_is_typed_at_once_is_taken_in_order() -> None:
    """A terminal hands over many keys together. Enter takes what stood there when it was pressed."""
    app = Host("aten::add.Tensor")

    async def steps(pilot: Pilot[None]) -> None:
        await typed(pilot, "enter")
        for key in (*"cuda", "enter", *"xested", "home", "end", *["backspace"] * 6, *"nested", "enter"):
            app.post_message(Key(key, key if len(key) == 1 else None))
        await pilot.pause(0.3)
        assert app.query_one(Chooser).is_open
        assert app.command == "resolve aten::add.Tensor --base torch-2.15 --tensor cuda nested --tensor cpu"

    drive(app, steps, (120, 24))


@pytest.mark.parametrize(("key", "word"), [("enter", "cpux"), ("c", "inferenc_mode")])
def test_enter_on_a_word_that_is_none_says_so_and_goes_on(key: str, word: str) -> None:
    app = Host("aten::add.Tensor")

    async def steps(pilot: Pilot[None]) -> None:
        before = app.command
        await typed(pilot, key, "end", *["backspace"] * 4, word, "enter")
        assert app.query_one(Chooser).is_open
        assert [word in one.message for one in app._notifications] == [True]
        await typed(pilot, "escape")
        assert not app.query_one(Chooser).is_open and app.command == before

    drive(app, steps, (120, 24))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
def test_that_gradients_are_lost_is_on_the_screen(size: tuple[int, int]) -> None:
    """In no_grad, nothing is. What a live PyTorch does then is compared in the tests of the engine."""
    session = Session(api.what_if_state(["CPU"]), ("-k", "CPU"))
    said = "No autograd kernel: AutogradCPU holds PyTorch's own fallback."

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(OperatorName.parse("__test__::foo")), "call")
        await pilot.pause()
        assert "No autograd kernel" not in screen_text(app)
        await typed(pilot, "enter", "req", "enter", "escape")
        await until(pilot, lambda: said in shown(app))
        answer = app.answer
        assert answer is not None and answer.command[-2:] == ("--tensor", "cpu requires_grad")
        assert said in flat(call(*answer.command).out)
        await typed(pilot, "c", "no_g", "enter", "escape")
        await until(pilot, lambda: "no_grad" in app.command_bar.line)
        assert "No autograd kernel" not in screen_text(app)

    drive_app(session, steps, size)


def shown(app: ExploreApp) -> str:
    """The lines of the answer that are on the screen, as one."""
    area = app.query_one(CallPane).shown.region
    lines = screen_text(app).splitlines()[area.y : area.bottom]
    return flat(" ".join(line[area.x : area.right].removeprefix("▌") for line in lines))


@pytest.mark.parametrize("size", [(40, 10), (80, 12), (80, 24), (120, 40)])
def test_the_line_to_type_in_and_a_word_are_on_the_screen(size: tuple[int, int]) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(OperatorName("aten::abs")), "call")
        await pilot.pause()
        await pilot.press("c", *"inf")
        await until(pilot, lambda: any(line.rstrip("▕ ").endswith("inf") for line in screen_text(app).splitlines()))
        lines = [one.strip("▕ ") for one in screen_text(app).splitlines()]
        at = next((number for number, one in enumerate(lines) if one.endswith("inf")), None)
        assert at is not None, lines
        assert "inference_mode" in lines[at + 1], lines
        assert "context: " in " ".join(lines[:at]), lines

    drive_app(Session(newest(), ("--base", "torch-2.15")), steps, size)
