"""The first frame, recorded screens, fixes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from textual.pilot import Pilot

from dispatch_cli.api import load_state
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.panes.findings import FindingsPane
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
