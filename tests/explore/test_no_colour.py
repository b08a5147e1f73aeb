"""Without colour: what has the focus, and what is chosen, is seen by the style of the text and by signs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rich.style import Style
from textual.filter import LineFilter, NoColor
from textual.pilot import Pilot
from textual.widget import Widget

from dispatch_cli.api import load_state
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.operator_list import OperatorList
from dispatch_cli.explore.panes.slot import SlotPane
from dispatch_cli.explore.panes.table import TablePane
from dispatch_cli.explore.session import Session
from dispatch_cli.explore.text_input import TextInput
from tests.explore.support import drive, until

FILE = "examples/overlay.yaml"
_Has = Callable[[Style], bool | None]


@pytest.fixture(autouse=True)
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


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
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

    drive(Session(load_state([FILE]), (FILE,)), steps, size)


def test_no_colour_is_written_and_a_typed_text_has_a_cursor() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        filters: list[LineFilter] = [*app.get_line_filters()]
        assert isinstance(filters[-1], NoColor)
        await pilot.press("slash", "a", "d")
        field = app.query_one(TextInput)
        await until(pilot, lambda: field.value == "ad")
        assert lines_with(app, field, lambda style: style.reverse)
        for strip in app.screen._compositor.render_strips():
            for filter_ in filters:
                strip = strip.apply_filter(filter_, app.screen.background_colors[1])
            assert all(style is None or style.color is None or style.color.is_default for _, style, _ in strip)
            assert all(style is None or style.bgcolor is None or style.bgcolor.is_default for _, style, _ in strip)

    drive(Session(load_state([FILE]), (FILE,)), steps)
