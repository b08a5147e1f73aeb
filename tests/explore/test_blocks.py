"""Documents as widgets show what the writer of text writes; keys and the mouse go through what can be opened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, ClassVar

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from dispatch_cli import api
from dispatch_cli.answers.coverage import document as coverage
from dispatch_cli.answers.coverage.report import coverage_report
from dispatch_cli.answers.keys import key_document as key
from dispatch_cli.answers.keys.key import key_report
from dispatch_cli.answers.table.registrations import document as registrations
from dispatch_cli.answers.table.registrations.report import registrations_report
from dispatch_cli.explore.views.blocks import MANY, Blocks
from dispatch_cli.explore.views.lines_view import MARK, LinesView
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.document import Block, Column, Fact, Facts, Gap, Narrow, Paragraph, Run, TableBlock, Tone
from dispatch_cli.render.text import Style, text

HOSTILE = "[bold]x[/] [@click=app.quit]y[/]\x1b[31m\u202e $foo {z}"
ROWS = tuple(range(40))
TABLE: TableBlock[int] = TableBlock(
    [
        Column("Number", lambda row, _: str(row), right=True),
        Column("Text", lambda row, short: "short" if short else f"a text that is rather long, of {row}"),
        Column("Place", lambda row, _: Run(f"some/where/far/away/file{row}.cpp:{row}", Tone.PLACE), Narrow.BELOW),
    ],
    ROWS,
)


class Shown(App[None]):
    """One widget, and what it told. Views have a key to open what is under the cursor."""

    BINDINGS: ClassVar = [("enter", "open", "Open")]

    def __init__(self, view: LinesView) -> None:
        super().__init__()
        self.view = view
        self.opened: list[Any] = []
        self.moved: list[Any] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def action_open(self) -> None:
        self.view.action_open()

    def on_lines_view_opened(self, message: LinesView.Opened) -> None:
        self.opened.append(message.target)

    def on_lines_view_moved(self, message: LinesView.Moved) -> None:
        self.moved.append(message.target)


def drive(app: App[None], steps: Callable[[Pilot[None]], Coroutine[Any, Any, None]], size: tuple[int, int]) -> None:
    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await steps(pilot)

    asyncio.run(run())


def screen(app: App[None]) -> list[str]:
    """The lines of the screen."""
    return ["".join(segment.text for segment in strip).rstrip() for strip in app.screen._compositor.render_strips()]


def documents() -> Sequence[Sequence[Block]]:
    state = api.load_state((), bases=("torch-2.15",))
    universe = state.dispatcher.universe
    names = [OperatorName.parse(name) for name in state.dispatcher.names()[:400:9]]
    from dispatch_cli.engine.backend_answers import backend_named

    backend = backend_named(universe, "PrivateUse1")
    assert backend is not None
    covered = coverage_report(state, backend, names)
    return (
        [*coverage.document(covered)],
        [*key.document(key_report(universe, "AutogradOther"), universe=universe)],
        [*registrations.document(registrations_report(state, names[:6]))],
        [TABLE, Gap(), Facts([Fact("a label", HOSTILE), Fact("another", "word " * 40)]), Paragraph(HOSTILE)],
    )


@pytest.mark.parametrize("width", [30, 60, 90, 150])
def test_a_document_is_what_the_text_writer_writes(width: int) -> None:
    app = Shown(view := Blocks())

    async def steps(pilot: Pilot[None]) -> None:
        for document in documents():
            view.show(document)
            await pilot.pause()
            room = view.scrollable_content_region.width - 2
            assert view.text == "".join(text(document, Style(room)))
            assert "\x1b" not in "".join(screen(app))

    drive(app, steps, (width, 30))


def test_keys_go_through_what_can_be_opened() -> None:
    app = Shown(view := Blocks())

    async def steps(pilot: Pilot[None]) -> None:
        view.show([Paragraph("title"), TABLE], opens=lambda item: item if isinstance(item, int) else None)
        view.focus()
        await pilot.press("down", "j", "k", "down")
        assert (view.target, app.moved) == (2, [1, 2, 1, 2])
        await pilot.press("enter", "end", "enter", "home", "pagedown")
        assert app.opened == [2, 39]
        assert view.target > 5
        assert screen(app)[view.choice(view.cursor).first - view.scroll_offset.y].startswith(MARK[0])

    drive(app, steps, (80, 12))


def test_a_list_makes_the_lines_that_are_looked_at() -> None:
    results: list[int] = []
    columns = [Column("Number", lambda row, _: results.append(row) or str(row))]  # type: ignore[func-returns-value]
    app = Shown(view := Blocks())

    async def steps(pilot: Pilot[None]) -> None:
        view.show([TableBlock(columns, range(9 * MANY))], opens=lambda item: item)
        view.focus()
        results.clear()
        await pilot.press("end")
        assert view.target == 9 * MANY - 1
        assert len(results) < MANY
        await pilot.click(view, offset=(3, 5))
        await pilot.pause()
        assert app.moved[-1] == view.target != 9 * MANY - 1
        await pilot.click(view, offset=(3, 5))
        assert app.opened == [view.target]
        await pilot.press("home")
        assert screen(app)[0].strip() == "Number"

    drive(app, steps, (40, 10))
