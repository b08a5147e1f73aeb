"""Hints on the screen for keys, and for the slot that is meant where a row stands for several."""

from __future__ import annotations

from functools import partial

import pytest
from rich.color import Color
from textual.pilot import Pilot

from dispatch_cli.answers.table.registrations.report import registrations_report
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.bars import KeyBar
from dispatch_cli.explore.marks import Found
from dispatch_cli.explore.palette import ExploreCommands
from dispatch_cli.explore.panes.call import CallPane
from dispatch_cli.explore.panes.keys import KeysPane
from dispatch_cli.explore.panes.table import TablePane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.severity import Severity
from tests.explore.support import drive, flat, newest, screen_text, until
from tests.explore.test_trace import REAL, session_of

pytestmark = pytest.mark.slow

ABS = Spot(OperatorName("aten::abs"))
MESHGRID = Spot(OperatorName("aten::meshgrid", "indexing"))


def session() -> Session:
    return Session(newest(), ("--base", "torch-2.15"))


def keys_below(app: ExploreApp) -> str:
    return app.query_one(KeyBar).render().plain


def titles(app: ExploreApp) -> list[str]:
    return [command.title for command in ExploreCommands(app.screen)._commands()]


def contrast(one: Color, other: Color) -> float:
    """Contrast of a text of one colour on the other (WCAG 2.2)."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color: Color) -> float:
    parts = [part / 255 for part in color.get_truecolor()]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_field_that_is_typed_into_says_how_to_leave() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        for keys in (["slash"], ["escape", "8", "f"], ["escape", "6", "f"], ["escape", "1", "f"]):
            await pilot.press(*keys)
            await pilot.pause(0.1)
            assert "esc " in keys_below(app), keys
        await pilot.press("escape", "4")
        await pilot.pause(0.1)
        assert app.front == "changes"

    drive(session(), steps)


def _has_last(app: ExploreApp, texts: tuple[str, ...]) -> bool:
    """True if the last line of the screen has all of the texts."""
    last = screen_text(app).splitlines()[-1]
    return all(text in last for text in texts)


def test_the_keys_of_a_view_come_first_where_there_is_little_room() -> None:
    """All of them, and those that copy and help; others that are the same everywhere are in help."""
    wanted = {
        "1": ("v Grid", "a All slots", "p Python", "f Filter", "e Edit", "x Off"),
        "2": ("h Previous", "l Next", "e Edit", "x Off/on"),
        "3": ("a Add tensor", "c Add context", "t Type", "s Key set/call", "e Edit"),
        "4": ("x Off/on", "a Add", "[ Earlier", "] Later", "b Fallbacks", "e Edit"),
        "5": ("v Severity", "c Check", "t Operator", "i Summary", "f Filter", "e Edit"),
        "6": ("m All keys", "r Operators there", "f Filter", "e Edit"),
        # there is no room for "f Filter": the line of the filter, above the list, names that key
        "7": ("b Backend", "m All", "v Served by", "n Missing", "i Counts", "e Edit"),
        "8": ("b Compare with", "a All", "t Operator", "f Filter", "e Edit"),
        "0": ("v Only", "t Operator", "i Findings", "x Explain", "f Filter", "e Edit"),
    }
    recorded = session_of(REAL)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        for key, texts in wanted.items():
            await pilot.press(key, *("b", *"cuda", "enter") * (key == "7"))
            await until(pilot, partial(_has_last, app, (*texts, "y Copy", "? Help")))

    drive(recorded, steps, (80, 24))


def test_with_a_change_on_trial_there_is_room_for_undo() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(ABS._replace(key="CPU"), "table")
        await pilot.press("enter", "x")
        for key in "1234":
            await pilot.press(key)
            await pilot.pause(0.1)
            wanted = ("u Undo", "y Copy", "? Help", "e Edit")
            assert all(text in keys_below(app) for text in wanted), keys_below(app)
            if key == "1":
                assert all(text in keys_below(app) for text in ("v Grid", "a All slots", "p Python", "x Off"))

    drive(session(), steps, (80, 24))


def test_the_palette_has_each_view_once_and_no_key_that_moves_the_cursor() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        for keys in ([], ["enter"], ["2"], ["5"], ["slash"]):
            await pilot.press(*keys)
            await pilot.pause(0.1)
            hints = [title.lower() for title in titles(app)]
            assert sum(text.endswith("coverage") for text in hints) == 1
            moves = ("scroll", "page", "cursor to", "cursor up", "cursor down", "up", "down", "select", "move")
            assert not [text for text in hints if text.startswith(moves)], keys

    drive(session(), steps)


def test_the_slots_of_an_alias_key_are_those_that_register_counts() -> None:
    covers = {
        row.key: row.covers
        for operator in registrations_report(newest(), map(OperatorName.parse, newest().dispatcher.names())).operators
        for row in operator.kernels
        if row.alias
    }

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("6")
        await pilot.pause(0.1)
        pane = app.stage.views["keys"]
        assert isinstance(pane, KeysPane)
        shown = {row.key: row.slots for row in pane.rows() if row.key in covers}
        assert shown == covers
        assert len(shown) > 3
        assert "Calls (3), then s" in flat(screen_text(app))

    drive(session(), steps)


def test_a_row_of_several_slots_says_which_one_is_explained() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(ABS._replace(key="CUDA"), "table")
        await pilot.pause(0.2)
        pane = app.stage.views["table"]
        assert isinstance(pane, TablePane)
        place = pane.place
        assert place is not None
        text = f"{len(place.keys)} slots with this answer; the view Slot explains CUDA. CUDA holds"
        assert text in flat(screen_text(app).replace("\N{RIGHT ONE EIGHTH BLOCK}", " "))

    drive(session(), steps, (200, 60))


def test_python_s_choice_is_explained_beside_its_table() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(MESHGRID._replace(key="Meta"), "table")
        await pilot.press("p")
        await pilot.pause(0.2)
        shown = flat(screen_text(app))
        assert "At Meta, Python's resolve_key chooses meshgrid, kernel: a kernel is registered only in Python" in shown
        rules = shown.index("# Rule")
        assert shown.index("Here the Python dispatcher (resolve_key) chooses another kernel: meshgrid") < rules

    drive(session(), steps, (260, 60))


def _has_contexts(pane: CallPane, *texts: str) -> bool:
    return pane.draft.contexts == texts


def test_the_context_that_is_offered_first_is_of_the_call_s_device() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(ABS, "call")
        pane = app.stage.views["call"]
        assert isinstance(pane, CallPane)
        await until(pilot, lambda: pane.has_focus_within)
        for device in ("cuda", "cpu"):
            await pilot.press("t", "ctrl+u", *f"--tensor 'sparse {device}:0'", "enter", "c", *"autoc")
            await until(pilot, lambda: pane.line.value.endswith("autoc"))
            await pilot.press("tab", "enter")
            await until(pilot, partial(_has_contexts, pane, f"autocast {device}"))

    drive(session(), steps)


def test_marks_can_be_read_on_the_row_of_the_cursor() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        shown = app.operators.list
        counts: Found = {shown.catalogue.entries[0].name: dict.fromkeys(Severity, 2)}
        for theme in ("textual-light", "textual-dark", "nord", "gruvbox", "solarized-light"):
            app.theme = theme
            for key in ("o", "enter"):
                await pilot.press(key)
                await pilot.pause(0.1)
                shown.catalogue.found = counts
                shown.marks_changed()
                strip = shown.render_line(0)
                assert "2E 2W 2i" in strip.text
                looks = {
                    (segment.style.color, segment.style.bgcolor, segment.style.reverse)
                    for segment in strip
                    if segment.style
                }
                assert len(looks) == 1, (theme, key, looks)
                ((front, back, _),) = looks
                assert front is not None and back is not None
                # other themes' own cursor can have less
                assert contrast(front, back) >= 4.5 or not theme.startswith("textual"), (theme, key)

    drive(session(), steps)


@pytest.mark.parametrize("opening", [["7", "b"], ["4", "a"], ["question_mark"], ["8", "b"]])
def test_a_screen_in_front_keeps_all_keys(opening: list[str]) -> None:
    """None of them does something to what is behind it, nor puts something else before it."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(ABS._replace(key="CPU"), "table")
        await pilot.press(*opening)
        await pilot.pause(0.1)
        front, screen, entry = app.front, app.screen, app.operators.list.entry
        assert screen is not app.screen_stack[0]
        behind = app.screen_stack[0].focused
        await pilot.press("slash", "ctrl+p", *"12hxuwo", "f5", "down", "pagedown", "backspace", "alt+left")
        await pilot.pause(0.1)
        assert app.screen is screen
        assert (app.front, app.operators.list.entry, app.screen_stack[0].focused) == (front, entry, behind)
        assert not app.operators.input.value
        assert not (app.session.has_tried and app.session.whatif.changes)
        await pilot.press("escape")
        await pilot.pause(0.1)
        assert app.screen is app.screen_stack[0]

    drive(session(), steps)
