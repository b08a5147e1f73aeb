"""Names of operators where there is no room for all of them."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.catalogue import Catalogue
from dispatch_cli.explore.operator_list import BESIDE
from dispatch_cli.explore.panes.coverage import CoveragePane
from dispatch_cli.explore.session import Session
from dispatch_cli.explore.short_names import CUT, short_name
from tests.explore.support import drive, newest, screen_text, until

pytestmark = pytest.mark.slow

WHAT = "div", "mul", "addcdiv"
FOREACH = [f"aten::_foreach_{what}_.{which}" for what in WHAT for which in ("ScalarList", "Scalar")]


def text(name: str, room: int, beside: list[str]) -> str:
    return "".join(CUT if at is None else name[at] for at in short_name(name, room, beside))


@pytest.mark.parametrize("names", [FOREACH, ["mine::prepack_weights_of_a_layer", "other::prepack_weights_of_a_layer"]])
def test_names_that_stand_together_differ(names: list[str]) -> None:
    for room in range(19, 40):
        shown = [text(name, room, names) for name in names]
        assert len({*shown}) == len(names), (room, shown)
        assert all(len(name) <= room for name in shown)
    assert [text(name, 60, names) for name in names] == names


@pytest.mark.parametrize("query", ["", "flash scaled", "sdpa"])
def test_the_names_of_pytorch_differ(query: str) -> None:
    """Whatever is searched for, of any names within so many rows: in the middle, too, or in the namespace."""
    catalogue = Catalogue(newest())
    names = [catalogue.entries[number].name for number in catalogue.find(query)]
    for room in (17, 20, 23):
        shown = [text(name, room, names[max(0, row - BESIDE) : row + BESIDE]) for row, name in enumerate(names)]
        near = (
            (number, other)
            for number in range(len(names))
            for other in range(number + 1, min(number + BESIDE, len(names)))
        )
        assert not [(names[one], names[other]) for one, other in near if shown[one] == shown[other]]


def test_there_is_always_room() -> None:
    hostile = ["", "::", "a::", "…" * 50, "x::" + "…y" * 30, "\u202e" * 40]
    for room in range(4, 30):
        for name in (*FOREACH, *hostile):
            assert len(text(name, room, [*FOREACH, *hostile])) <= room


def test_overloads_differ_in_the_list_of_a_small_terminal() -> None:
    """The in-place operators of foreach differ in the middle of their names, and their overloads at the end."""

    async def steps(app: ExploreApp, pilot: object) -> tuple[str, list[str]]:
        app.operators.input.value = "_foreach_add_"
        await pilot.pause(0.3)  # type: ignore[attr-defined]
        shown = app.operators.list
        rows = range(shown.scroll_offset.y, shown.scroll_offset.y + shown.size.height)
        return screen_text(app), [shown._make_row(row).text[3:].strip() for row in rows]

    screen, rows = drive(Session(newest(), ("--base", "torch-2.15")), steps, (80, 24))
    assert rows and len({*rows}) == len(rows)
    assert all(row in screen for row in rows)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_rows_of_a_view_that_stand_together_differ(size: tuple[int, int]) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press(*"7b", *"privateuse1", "enter")
        pane = app.stage.views["coverage"]
        assert isinstance(pane, CoveragePane)
        await until(pilot, lambda: pane.answer is not None and pane.list.rows)
        await pilot.press("o")
        await until(pilot, lambda: app.operators.list.has_focus)
        layout = pane.list._layout
        assert layout is not None
        width = layout.widths[0]
        shown = ["".join(run.text for run in pane.list.line_at(at)) for at in range(800)]
        cut = [text[:width].strip() for text in shown]
        names = [row.operator for row in pane.list.rows[:800]]
        assert sum("…" in text for text in cut) > 20
        alike = [
            (names[at], names[other])
            for at in range(800)
            for other in range(at + 1, min(800, at + 12))
            if cut[at] == cut[other] and names[at] != names[other]
        ]
        assert alike == []

    drive(Session(newest(), ("--base", "torch-2.15")), steps, size)
