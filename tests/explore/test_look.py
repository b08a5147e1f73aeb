"""The first frame, recorded screens, fixes; without colour."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.style import Style
from textual.filter import LineFilter, NoColor
from textual.pilot import Pilot
from textual.widget import Widget

from dispatch_cli.api import load_state
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.operators.operator_list import OperatorList
from dispatch_cli.explore.panes.findings import FindingsPane
from dispatch_cli.explore.panes.slot import SlotPane
from dispatch_cli.explore.panes.table import TablePane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.names import OperatorName
from tests.explore.layout import FOLDER, SCREENS, path_of, screens
from tests.explore.support import drive, flat, newest, screen_text, until

FILE = "tests/explore/layouts/operators.yaml"
SCALE = Spot(OperatorName.parse("mine::scale"))


def session() -> Session:
    return Session(load_state([FILE]), (FILE,))


def test_a_fix_of_a_finding_is_shown_and_tried() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(SCALE, "findings")
        pane = app.query_one(FindingsPane)
        await until(pilot, lambda: pane.answer is not None)
        targets = [pane.view.choice(number).target for number in range(pane.view.choices())]
        pane.view.move_to(next(at for at, target in enumerate(targets) if isinstance(target, tuple) and target[0].fix))
        await pilot.press("d")
        await until(pilot, lambda: "x tries it" in screen_text(app) and "The check demands" in screen_text(app))
        await pilot.press("escape", "x")
        await until(pilot, lambda: app.session.unsaved)
        await pilot.press("4")
        await until(pilot, lambda: "1 finding gone" in flat(screen_text(app)))

    drive(session(), steps)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
def test_the_first_frames_have_the_list_the_table_and_the_command(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    frames: list[str] = []
    monkeypatch.setattr(ExploreApp, "post_display_hook", lambda app: frames.append(screen_text(app)))

    async def steps(_: ExploreApp, pilot: Pilot[None]) -> None:
        wanted = ("aten::abs.out", "aten::abs(Tensor self) -> Tensor", "SparseCPU", "$ dispatch-cli table")
        # textual says the sizes of views after a frame without them
        await until(pilot, lambda: any(all(text in frame for text in wanted) for frame in frames))

    drive(Session(newest(), ("--base", "torch-2.15")), steps, size)


FIRST_FRAME = Path(__file__).with_name("first_frame.py")


def test_modules_for_what_was_not_asked_for_are_imported_after_the_first_frame() -> None:
    done = subprocess.run([sys.executable, str(FIRST_FRAME)], capture_output=True, text=True, check=True, timeout=60)
    imported = {name.removeprefix("dispatch_cli.") for name in done.stdout.split()}
    assert {"explore.panes.table", "answers.table.report"} <= imported
    later = {"model.declarations", "model.changes.change", "whatif", "declarations", "checks", "explore.panes.slot"}
    assert not later & imported


@pytest.mark.parametrize("size", SCREENS)
def test_the_screens_are_as_they_were(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m tests.explore.layout` records them anew; read each change."""
    monkeypatch.chdir(Path(__file__).parents[2])
    for view, text in screens(size).items():
        lines = text.split("\n")
        assert len(lines) == size[1] + 1
        assert max(map(len, lines)) <= size[0]
        assert lines == path_of(size, view).read_text(encoding="utf-8").split("\n"), view


def test_every_recording_is_compared() -> None:
    assert {*FOLDER.glob("*.txt")} == {path_of(size, view) for size, views in SCREENS.items() for view in views}


# Without colour, what has the focus, and what is chosen, is seen by the style of the text and by signs.


OVERLAY = "examples/overlay.yaml"
_Has = Callable[[Style], bool | None]


@pytest.fixture
def no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


def lines_with(app: ExploreApp, widget: Widget, has: _Has) -> list[str]:
    """The parts of a widget's lines that have a style, as they are written to the terminal."""
    area, lines = widget.region, []
    for number, strip in enumerate(app.screen._compositor.render_strips()):
        if area.y <= number < area.bottom:
            part = strip.crop(area.x, area.right - 1)  # without the scrollbar
            texts = [text for text, style, _ in part if style is not None and has(style)]
            lines += ["".join(texts)] if texts else []
    return lines


def reversed_lines(app: ExploreApp, widget: Widget) -> list[str]:
    return lines_with(app, widget, lambda style: style.reverse)


def underlined_lines(app: ExploreApp, widget: Widget) -> list[str]:
    return lines_with(app, widget, lambda style: style.underline)


@pytest.mark.usefixtures("no_color")
@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_one_cursor_is_reversed_where_the_focus_is(size: tuple[int, int]) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        names, table = app.query_one(OperatorList), app.query_one(TablePane).view
        await until(pilot, lambda: len(reversed_lines(app, names)) == 1)
        assert "aten::to.dtype" in reversed_lines(app, names)[0]
        lines = len(underlined_lines(app, table))
        assert not reversed_lines(app, table) and lines >= 2, "a changed slot has several lines"
        await pilot.press("enter")
        await until(pilot, lambda: table.has_focus and len(reversed_lines(app, table)) == lines)
        if size[0] >= 100:  # the list is beside it
            assert not reversed_lines(app, names) and len(underlined_lines(app, names)) == 1
        if size[0] >= 150:
            slot = app.query_one(SlotPane).view
            assert not reversed_lines(app, slot)
            tabs = [lines_with(app, app.tabs, lambda style: style.reverse), underlined_lines(app, app.tabs)]
            assert [tab[0].strip() for tab in tabs] == ["1 Table", "2 Slot"]
            await pilot.press("tab")
            await until(pilot, lambda: slot.has_focus and reversed_lines(app, slot))
            assert not reversed_lines(app, table)
            assert [line.strip() for line in reversed_lines(app, app.tabs)] == ["2 Slot"]

    drive(Session(load_state([OVERLAY]), (OVERLAY,)), steps, size)


@pytest.mark.usefixtures("no_color")
def test_no_colour_is_written_and_a_typed_text_has_a_cursor() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        filters: list[LineFilter] = [*app.get_line_filters()]
        assert isinstance(filters[-1], NoColor)
        await pilot.press("slash", "a", "d")
        field = app.operators.input
        await until(pilot, lambda: field.value == "ad")
        assert lines_with(app, field, lambda style: style.reverse)
        for strip in app.screen._compositor.render_strips():
            for filter_ in filters:
                strip = strip.apply_filter(filter_, app.screen.background_colors[1])
            assert all(style is None or style.color is None or style.color.is_default for _, style, _ in strip)
            assert all(style is None or style.bgcolor is None or style.bgcolor.is_default for _, style, _ in strip)

    drive(Session(load_state([OVERLAY]), (OVERLAY,)), steps)
