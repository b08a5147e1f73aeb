"""Words of the views in small places, and keys that do what the words beside them say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.pilot import Pilot

from dispatch_cli.answers.history import document as history
from dispatch_cli.answers.history.rows_document import ChangeRow
from dispatch_cli.api import load_state
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.blocks import Blocks
from dispatch_cli.explore.catalogue import Marked
from dispatch_cli.explore.cells_view import ShownKeys
from dispatch_cli.explore.filters import Filters
from dispatch_cli.explore.fitting import FittedText
from dispatch_cli.explore.help import key_rows
from dispatch_cli.explore.panes.slot import SlotPane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.table_layout import laid_out
from dispatch_cli.model.change import Removal
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.document import Column, TableBlock, cells_of
from tests.explore.support import drive, flat, newest, screen_text, until
from tests.explore.test_trace import REAL, session_of

ROOT = Path(__file__).parents[2]


def of_newest() -> Session:
    return Session(newest(), ("--base", "torch-2.15"))


def said(app: ExploreApp) -> list[str]:
    """The notices that are on the screen."""
    return [notification.message for notification in app._notifications]


LINEAR = OperatorName("aten::linear")


def test_x_on_the_page_of_an_alias_key_switches_its_kernel_off_and_on() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(LINEAR, "CompositeImplicitAutograd"), "slot")
        await until(pilot, lambda: "CompositeImplicitAutograd has the kernel" in flat(screen_text(app)))
        await pilot.press("x")
        await until(pilot, lambda: app.session.has_tried)
        (change,) = app.session.whatif.changes
        assert isinstance(change, Removal)
        assert (change.which.operator, change.which.key) == (LINEAR, "CompositeImplicitAutograd")
        await until(pilot, lambda: "Switched off on trial" in screen_text(app))
        assert not said(app)
        await pilot.press("x")
        await until(pilot, lambda: not app.session.whatif.changes)
        await app.go(Spot(LINEAR, "CompositeExplicitAutograd"), "slot")
        await pilot.press("x")
        await until(pilot, lambda: said(app))
        assert said(app) == ["Nothing is registered at CompositeExplicitAutograd: there is nothing to switch off."]

    drive(of_newest(), steps)


def test_help_says_what_x_switches_off_on_other_lines() -> None:
    (text,) = (text for keys, text in key_rows(SlotPane) if keys == "x")
    assert "under the cursor" in text
    assert "on any other line, the one that fills the slot" in text


@pytest.mark.parametrize("width", range(24, 60))
def test_a_run_of_keys_that_is_cut_still_is_a_run(width: int) -> None:
    run = ("AutogradPrivateUse2", "AutogradMeta", "AutogradNestedTensor", "AutogradHPU")
    rows = [object(), object()]
    shown = laid_out(
        [Column("Kernel", lambda *_: "k" * 60)], rows, width, [ShownKeys(run, None), ShownKeys(("CPU",), None)]
    )
    line = "".join(line.text for line in shown.lines[0])
    assert "(4)" in line
    assert "\N{HORIZONTAL ELLIPSIS}" in line


def test_at_80_columns_a_run_of_keys_beside_the_list_says_how_many_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    file = "examples/overlay.yaml"

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(OperatorName("aten::to", "dtype"), "AutogradPrivateUse2"), "table")
        await pilot.press("slash", "escape")
        await pilot.pause()
        assert re.search(r"Auto\S*…\S*Use2 … \(\d+\)", screen_text(app)), screen_text(app)

    drive(Session(load_state((file,)), (file,)), steps, (80, 24))


def test_what_a_change_on_trial_says_where_it_has_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(LINEAR, "CompositeImplicitAutograd"), "slot")
        await pilot.press("x", "4", "home", "enter")
        await until(pilot, lambda: said(app))
        assert said(app) == ["A change on trial is in no file yet: w writes it."]
        await pilot.press("w", "enter")
        await pilot.pause()
        app.clear_notifications()
        await pilot.press("home", "enter")
        await until(pilot, lambda: said(app))
        assert said(app) == ["The changes on trial are in whatif.yaml."]

    drive(of_newest(), steps)


@pytest.mark.parametrize(
    ("file", "has"), [("out_of_tree_backend.yaml", False), ("stale.yaml", False), ("overlay.yaml", True)]
)
def test_the_mark_of_files_is_a_filter_where_there_is_something_else(
    file: str, has: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    path = f"examples/{file}"

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        assert (Marked.OWN in app.operators.catalogue.marks) == has
        assert (" +" in app.query_one(Filters).render().plain) == has
        app.operators.list.focus()
        for _ in app.operators.catalogue.marks:
            await pilot.press("f")
        assert app.operators.filters.marked is Marked.ALL

    drive(Session(load_state((path,)), (path,)), steps)


def test_columns_of_a_history_say_their_headers_once() -> None:
    row = ChangeRow("aten::add", "2.5", "registered", "CPU", "RegisterOld_0.cpp [math kernel]", "new.cpp", "a reason")
    beside = cells_of(TableBlock(history.CHANGES, [row]), short=True)
    texts = ["".join(run.text for run in cell) for cell in beside.rows[0]]
    assert texts[-3:] == ["Old [math]", "new", "a reason"]
    stacked = cells_of(TableBlock(history.CHANGES, [row]), short=True, stacked=1)
    assert [header.header for header in stacked.columns][-2:] == ["Before", "After"]
    assert ["".join(run.text for run in cell) for cell in stacked.below[0]] == ["because a reason"]


def test_what_is_compared_with_is_asked_once() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(LINEAR, None), "differences")
        await pilot.press("b")
        await until(pilot, lambda: len(app.screen_stack) > 1)
        await pilot.pause()
        (box,) = app.screen.query("Choose > Vertical")
        part = screen_text(app).splitlines()[box.region.y : box.region.bottom]
        assert "\n".join(part).count("Compare with") == 1

    drive(of_newest(), steps)


def test_views_name_no_option_but_those_of_a_call_and_of_a_whole_command() -> None:
    state = load_state((), bases=("torch-2.15",))
    state.over_assumed = True

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        for view in ("table", "slot", "call", "coverage", "findings", "keys", "differences", "history", "trace"):
            await app.go(Spot(OperatorName("aten::add", "Tensor"), "MPS"), view)
            await until(pilot, lambda: "Checking" not in screen_text(app))
            blocks = [shown.text for shown in app.stage.views[view].query(Blocks)]
            texts = flat(" ".join((*blocks, *(str(head.content) for head in app.stage.views[view].query(FittedText)))))
            whole = re.sub(r"`[^`]*`", "", texts)
            assert set(re.findall(r"--\w[\w-]*", whole)) <= {"--tensor", "--argument"}, (view, whole)

    recorded = session_of(REAL)
    drive(Session(state, ("--base", "torch-2.15"), trace=recorded.trace), steps)
