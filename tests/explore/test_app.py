"""The application around the views: operators, going to and fro, command lines, and errors that stay inside."""

from __future__ import annotations

import ast
import inspect
import os
import signal
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pkgutil import walk_packages

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from dispatch_cli import explore
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.operators.catalogue import spot_of
from dispatch_cli.explore.panes.call import CallPane
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.views.bars import CommandBar
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.model.names import OperatorName
from tests.explore.support import drive, flat, newest, screen_text, until

ADD = Spot(OperatorName("aten::add", "Tensor"))


def session() -> Session:
    return Session(newest(), ("--base", "torch-2.15"))


def shown_command(app: ExploreApp) -> str:
    return app.query_one(CommandBar).line


def test_typing_finds_an_operator_and_the_view_follows() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("slash", *"addten", "down", "up")
        await pilot.pause(0.1)
        assert app.spot == ADD
        assert shown_command(app).startswith("dispatch-cli table --base torch-2.15 --op aten::add.Tensor")
        await pilot.press("enter")
        await pilot.pause()
        assert app.stage.id_of(app.focused or app.stage) == "table"
        await pilot.press("escape")
        await pilot.pause()
        assert app.focused is app.operators.list
        await pilot.press("y")
        assert app.clipboard == shown_command(app)

    drive(session(), steps)


def test_back() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(ADD, "table")
        table = app.stage.views["table"]
        assert isinstance(table, Pane)
        table.went(ADD._replace(key="CPU"), "slot")
        await pilot.pause(0.1)
        await pilot.press("5")
        await pilot.pause()
        places = [(app.spot.key, app.stage.front)]
        for key in ("backspace", "escape"):
            await pilot.press(key)
            await pilot.pause()
            places.append((app.spot.key, app.stage.front))
        assert places == [("CPU", "findings"), ("CPU", "slot"), (None, "table")]

    drive(session(), steps)


SHOWN = "ValueError: broken [red]here\\x1b[31m"


def test_an_error_in_a_view_is_shown_and_the_program_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    fails, opened = [True], CallPane.open

    def open_or_fail(pane: CallPane, spot: Spot) -> None:
        if fails:
            raise ValueError("broken [red]here\x1b[31m")
        opened(pane, spot)

    monkeypatch.setattr(CallPane, "open", open_or_fail)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("3")
        await until(pilot, lambda: SHOWN in flat(screen_text(app)))
        await pilot.press("1", "o", "down")
        await pilot.pause(0.1)
        assert app.stage.front == "table"
        assert app.spot == spot_of(app.catalogue.entries[1])
        fails.clear()
        await pilot.press("3")
        await until(pilot, lambda: shown_command(app).startswith(f"dispatch-cli resolve {app.spot.operator}"))

    drive(session(), steps, fails=True, painted=True)


def test_names_are_no_markup() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        spot = Spot(OperatorName("my[red]::lib[/]\x1b[31m\u202e"))
        view = app.stage.views["table"]
        assert isinstance(view, Pane)
        view.answered(PaneAnswer(None, ("explain", str(spot.operator))))
        await pilot.pause(0.1)
        assert "'my[red]::lib[/]\\x1b[31m\\u202e'" in screen_text(app)

    drive(session(), steps)


def best_command(app: ExploreApp) -> str:
    """The first command that the palette offers."""
    options = app.screen.query(OptionList)
    return str(options.first().get_option_at_index(0).prompt) if options and options.first().option_count else ""


def test_help_and_palette() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        await until(pilot, lambda: "Keys everywhere" in screen_text(app))
        assert "To the list of operators" in screen_text(app)
        await pilot.press("escape", "ctrl+p", *"view: slot")
        await until(pilot, lambda: best_command(app).startswith("View: Slot"))
        await pilot.press("enter")
        await until(pilot, lambda: app.stage.front == "slot")
        await pilot.press("ctrl+p", *"slot after this")
        await until(pilot, lambda: best_command(app).startswith("Go to the slot after this one"))
        before = app.spot.key
        await pilot.press("enter")
        await until(pilot, lambda: app.spot.key != before)

    drive(session(), steps)


def test_messages_are_no_markup() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        app.stage.views["table"].notify("a [red]kernel[/]\x1b[31m\u202e")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: len(app._notifications) == 2)
        first, second = app._notifications
        assert first.message == "a [red]kernel[/]\\x1b[31m\\u202e"
        assert "q leaves" in second.message
        assert not first.markup and not second.markup

    drive(session(), steps)


SHOWS_ALTERNATE, LEAVES_ALTERNATE = b"\x1b[?1049h", b"\x1b[?1049l"
"""Control sequences of terminals that go to the alternate screen, and back."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
@pytest.mark.parametrize(
    ("shown", "sent", "codes"),
    [
        (b"stale::", (), {0}),
        (b"stale::", ("SIGHUP",), {129}),
        (b"stale::", ("SIGTERM", "SIGHUP"), {129, 143}),
        (SHOWS_ALTERNATE, ("SIGTERM",), {143}),
    ],
)
def test_the_program_ends_with_its_terminal(shown: bytes, sent: tuple[str, ...], codes: set[int]) -> None:
    """By signals, also before the first frame and where two come at once, and where none says so, as when the window
    of a remote shell goes. Where the terminal stays, the program leaves the alternate screen.
    """
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "dispatch_cli", "explore", "examples/stale.yaml"]
    before = "SIG_DFL" if sent else "SIG_IGN"
    start = f"import os, sys; from signal import *; signal(SIGHUP, {before}); os.execv(sys.argv[1], sys.argv[1:])"
    with subprocess.Popen(
        [sys.executable, "-c", start, *command], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as run:
        os.close(theirs)
        try:
            written = b""
            while shown not in written:
                written += os.read(ours, 1 << 16)
            for name in sent:
                run.send_signal(getattr(signal, name))
            if not sent:
                os.close(ours)
            else:
                written += all_of(ours)
                assert written.rfind(LEAVES_ALTERNATE) > written.rfind(SHOWS_ALTERNATE)
            assert run.wait(timeout=60) in codes
        finally:
            run.kill()


def all_of(terminal: int) -> bytes:
    """All that is still written to a terminal, until nobody has it."""
    parts = []
    with suppress(OSError):  # on Linux, that is its end
        while part := os.read(terminal, 1 << 16):
            parts.append(part)
    return b"".join(parts)


@pytest.mark.slow
@pytest.mark.parametrize("opening", [["7", "b"], ["4", "a"], ["question_mark"]])
def test_a_screen_in_front_keeps_all_keys(opening: list[str]) -> None:
    """None of them does something to what is behind it, nor puts something else before it."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(ADD._replace(key="CPU"), "table")
        await pilot.press(*opening)
        await pilot.pause(0.1)
        front, screen, entry = app.stage.front, app.screen, app.operators.list.entry
        assert screen is not app.screen_stack[0]
        behind = app.screen_stack[0].focused
        await pilot.press("slash", "ctrl+p", *"12hxuwo", "f5", "down", "pagedown", "enter")
        await pilot.press("backspace", "alt+left")
        await pilot.pause(0.1)
        assert app.screen is screen
        assert (app.stage.front, app.operators.list.entry, app.screen_stack[0].focused) == (front, entry, behind)
        assert not app.operators.input.value
        assert not (app.session.has_tried and app.session.whatif.changes)
        await pilot.press("escape")
        await pilot.pause(0.1)
        assert app.screen is app.screen_stack[0]

    drive(session(), steps)


def test_no_private_member_of_textual_is_used_or_replaced() -> None:
    """They can be others in its next version."""
    used = set()
    for module_info in walk_packages(explore.__path__, "dispatch_cli.explore."):
        module = import_module(module_info.name)
        tree = ast.parse(inspect.getsource(module))
        for definition in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
            kind = getattr(module, definition.name, object)
            stock = {name for base in kind.__mro__ if base.__module__.startswith("textual.") for name in vars(base)}
            private = {name for name in stock if name.startswith("_") and not name.startswith("__")}
            named = {node.attr for node in ast.walk(definition) if isinstance(node, ast.Attribute)}
            named |= {node.name for node in ast.walk(definition) if isinstance(node, _FUNCTIONS)}
            used |= {(definition.name, name) for name in named & private}
    assert not used


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
