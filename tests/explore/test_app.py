"""The application around the views: operators, going to and fro, command lines, and errors that stay inside."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from textual.app import ComposeResult
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from dispatch_cli import explore
from dispatch_cli.api import load_state
from dispatch_cli.explore import stage
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.bars import CommandBar
from dispatch_cli.explore.catalogue import spot_of
from dispatch_cli.explore.failed_view import FailedView
from dispatch_cli.explore.pane import Pane
from dispatch_cli.explore.panes import PANES, PaneEntry
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.names import OperatorName
from tests.explore.support import drive, flat, newest, screen_text, until

ADD = Spot(OperatorName("aten::add", "Tensor"))


class StandIn(Pane):
    """A view that shows where it was opened."""

    can_focus = True
    TITLE = "Stand-in"
    opened: list[Spot]

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def open(self, spot: Spot) -> None:
        self.opened = [*getattr(self, "opened", ()), spot]
        words = (str(spot.operator), *filter(None, (spot.key,)))
        self.query_one(Static).update(" ".join(words))
        self.answered(PaneAnswer(spot, ("explain", *words)))


@pytest.fixture
def panes(monkeypatch: pytest.MonkeyPatch) -> dict[str, type[Pane]]:
    """Stand-ins for all views, which a test can replace."""
    classes: dict[str, type[Pane]] = {entry.id: StandIn for entry in PANES}

    def pane_class(entry: PaneEntry) -> type[Pane]:
        return classes[entry.id]

    monkeypatch.setattr(stage, "pane_class", pane_class)
    return classes


def session() -> Session:
    return Session(newest(), ("--base", "torch-2.15"))


def shown_command(app: ExploreApp) -> str:
    return app.query_one(CommandBar).line


@pytest.mark.usefixtures("panes")
def test_typing_finds_an_operator_and_the_view_follows() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("slash", *"addten", "down", "up")
        await pilot.pause(0.1)
        assert app.spot == ADD
        assert shown_command(app) == "dispatch-cli explain aten::add.Tensor"
        await pilot.press("enter")
        await pilot.pause()
        assert app.stage.id_of(app.focused or app.stage) == "table"
        await pilot.press("escape")
        await pilot.pause()
        assert app.focused is app.operators.list
        await pilot.press("y")
        assert app.clipboard == "dispatch-cli explain aten::add.Tensor"

    drive(session(), steps)


@pytest.mark.usefixtures("panes")
def test_back_and_forward() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(ADD, "table")
        app.stage.views["table"].post_message(Pane.Went(ADD._replace(key="CPU"), "slot"))
        await pilot.pause(0.1)
        await pilot.press("5")
        await pilot.pause()
        places = [(app.spot.key, app.front)]
        for key in ("backspace", "escape", "alt+right", "alt+right"):
            await pilot.press(key)
            await pilot.pause()
            places.append((app.spot.key, app.front))
        assert places == [("CPU", "findings"), ("CPU", "slot"), (None, "table"), ("CPU", "slot"), ("CPU", "findings")]

    drive(session(), steps)


class Failing(StandIn):
    """A view that fails while it is told to."""

    fails = True

    def open(self, spot: Spot) -> None:
        if self.fails:
            raise ValueError("broken [red]here\x1b[31m")
        super().open(spot)


SHOWN = "ValueError: broken [red]here\\x1b[31m"


def test_an_error_in_a_view_is_shown_and_the_program_goes_on(panes: dict[str, type[Pane]]) -> None:
    kind = panes["call"] = type("FailingCall", (Failing,), {})

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("3")
        await until(pilot, lambda: SHOWN in flat(screen_text(app)))
        await pilot.press("1", "o", "down")
        await pilot.pause(0.1)
        assert app.front == "table"
        assert app.spot == spot_of(app.catalogue.entries[1])
        kind.fails = False  # type: ignore[attr-defined]
        await pilot.press("3")
        await until(pilot, lambda: shown_command(app) == f"dispatch-cli explain {app.spot.operator}")

    drive(session(), steps, fails=True, painted=True)


def test_an_error_in_the_first_view_is_shown_there(panes: dict[str, type[Pane]]) -> None:
    panes["table"] = Failing

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: SHOWN in flat(screen_text(app)))
        assert isinstance(app.stage.views["table"], FailedView)
        await pilot.press("2", "o", "down")
        await until(pilot, lambda: app.spot == spot_of(app.catalogue.entries[1]))
        assert app.front == "slot"

    drive(session(), steps, fails=True)


HOSTILE = 'dispatch: 1\noperators:\n- func: "my[red]::lib[/](Tensor x) -> Tensor"\n  dispatch: {CPU: k}\n'


@pytest.mark.usefixtures("panes")
def test_marks_of_what_the_files_register_and_the_filter(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("extends: [torch-2.15]\n" + HOSTILE.replace("[red]", "").replace("[/]", ""), encoding="utf-8")
    state = load_state((str(file),))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("f")
        await pilot.pause(0.1)
        assert "[+1]" in screen_text(app)
        assert [app.catalogue.entries[item].name for item in app.operators.list.found] == ["my::lib"]
        assert any(line.startswith("+  my::lib") for line in screen_text(app).split("\n"))

    drive(Session(state, (str(file),)), steps)


@pytest.mark.usefixtures("panes")
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


@pytest.mark.usefixtures("panes")
def test_help_and_palette() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        await pilot.pause()
        assert "Marks in the view" in screen_text(app)
        assert "To the list of operators" in screen_text(app)
        await pilot.press("escape", "ctrl+p", *"addten")
        await until(pilot, lambda: best_command(app).startswith("aten::add.Tensor"))
        await pilot.press("enter")
        await until(pilot, lambda: app.spot == ADD)
        await pilot.press("ctrl+p", *"Slot: AutogradCUDA")
        await until(pilot, lambda: best_command(app).startswith("Slot: AutogradCUDA"))
        await pilot.press("enter")
        await until(pilot, lambda: (app.spot.key, app.front) == ("AutogradCUDA", "slot"))

    drive(session(), steps)


@pytest.mark.usefixtures("panes")
def test_mouse() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.click(app.operators.list, offset=(5, 4))
        await pilot.pause(0.1)
        assert app.spot == spot_of(app.catalogue.entries[4])
        await pilot.click("Tabs", offset=(12, 0))
        await pilot.pause()
        assert app.front == "slot"
        await pilot.click(app.operators.filters, offset=(14, 0))
        await pilot.pause()
        assert not app.operators.list.found

    drive(session(), steps)


@pytest.mark.usefixtures("panes")
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


@pytest.mark.usefixtures("panes")
def test_the_screen_comes_back_after_an_editor_that_cannot_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """textual's `suspend` takes the screen back behind its `yield`, and only there."""
    from dispatch_cli.model.span import Span

    editor = tmp_path / "broken"
    editor.write_bytes(b"\x7fELF")
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    steps_taken = []

    @contextmanager
    def suspend() -> Iterator[None]:
        steps_taken.append("lent")
        yield
        steps_taken.append("back")

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        monkeypatch.setattr(app, "suspend", suspend)
        app.stage.views["table"].post_message(Pane.OpenPlace(Span(__file__, 3, 1)))
        await until(
            pilot, lambda: any("cannot be started" in notification.message for notification in app._notifications)
        )

    drive(session(), steps)
    assert steps_taken == ["lent", "back"]


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
