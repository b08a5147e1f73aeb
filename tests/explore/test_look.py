"""The first frame, recorded screens, fixes, and colours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from textual.color import Color
from textual.pilot import Pilot

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


def test_only_the_list_with_the_focus_has_the_cursor_of_the_focus() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        color = Color.parse(app.theme_variables["block-cursor-background"]).rich_color
        views = [app.query_one(OperatorList), app.query_one(TablePane).view, app.query_one(SlotPane).view]

        def marked() -> list[int]:
            strips = app.screen._compositor.render_strips()
            return [
                number
                for number, view in enumerate(views)
                for strip in strips[view.region.y : view.region.bottom]
                if any(style and style.bgcolor == color for _, style, _ in strip.crop(view.region.x, view.region.right))
            ]

        await until(pilot, lambda: views[0].has_focus and set(marked()) == {0})
        await pilot.press("enter")
        await until(pilot, lambda: views[1].has_focus and set(marked()) == {1})
        await pilot.press("tab")
        await until(pilot, lambda: views[2].has_focus and set(marked()) == {2})

    drive(session(), steps, (200, 60))


def test_without_colour_there_are_greys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("5")
        await until(pilot, lambda: "[no-fake-kernel]" in screen_text(app))
        strips = app.screen._compositor.render_strips()
        for filter_ in app.get_line_filters():
            strips = [strip.apply_filter(filter_, app.screen.background_colors[1]) for strip in strips]
        styles = [style for strip in strips for _, style, _ in strip if style is not None]
        colors = {color.get_truecolor() for style in styles for color in (style.color, style.bgcolor) if color}
        assert len(colors) > 2
        assert all(red == green == blue for red, green, blue in colors)

    drive(session(), steps)
