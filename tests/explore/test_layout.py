"""Layout of the screen: in terminals of the usual sizes, and in one that is hardly enough."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.cells_view import CellsView
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.names import OperatorName
from tests.explore.layout import FOLDER, SCREENS, path_of, screens
from tests.explore.support import drive, newest, screen_text, until


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


@pytest.mark.parametrize("name", ["aten::abs", "aten::add.Tensor", "aten::_native_batch_norm_legit"])
def test_in_a_tiny_terminal_there_are_rows(name: str) -> None:
    """However long the schema is, which stands above them; and the list of operators has names."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        assert "aten::absolute.out" in screen_text(app)
        await app.go(Spot(OperatorName.parse(name)), "table")
        view = app.query_one(CellsView)
        await until(pilot, lambda: view.size.width > 30 and "\n  Key " in screen_text(app))
        assert view.size.height - len(view.top_lines()) >= 3
        shown = ["".join(run.text for run in view.line_at(number)).rstrip() for number in range(3)]
        await until(pilot, lambda: all(line in screen_text(app) for line in shown))

    drive(Session(newest(), ("--base", "torch-2.15")), steps, (40, 10))
