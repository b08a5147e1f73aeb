"""Findings, keys, coverage and versions, driven by keys: what is shown is what their reports say."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from dispatch_cli import api
from dispatch_cli.answers.coverage.wording import served_by
from dispatch_cli.answers.findings.report import FindingsReport, findings_report
from dispatch_cli.checks.listing import OF_CHECK
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.keys.universe_differences import KeyKind
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.bars import CommandBar
from dispatch_cli.explore.list_pane import ListPane
from dispatch_cli.explore.pane import Pane
from dispatch_cli.explore.panes.coverage import CoveragePane
from dispatch_cli.explore.panes.differences import DifferencesPane
from dispatch_cli.explore.panes.findings import FindingsPane
from dispatch_cli.explore.panes.history import HistoryPane
from dispatch_cli.explore.panes.keys import KeysPane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.change import Removal
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.whatif.findings import FindingsEffect, findings_effect
from tests.cli.support import call
from tests.explore import support
from tests.explore.support import drive, flat, newest, screen_text

pytestmark = pytest.mark.slow

SCENARIO = Path("examples/scenarios/01_composite_override.yaml")
BACKEND = Path("examples/out_of_tree_backend.yaml")


def of_scenario() -> Session:
    return Session(api.load_state((str(SCENARIO),)), (str(SCENARIO),))


def of_newest() -> Session:
    return Session(newest(), ("--base", "torch-2.15"))


def of_backend() -> Session:
    """Few operators, so that it is fast."""
    return Session(api.load_state((str(BACKEND),)), (str(BACKEND),))


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Wait for what a thread finds."""
    await support.until(pilot, holds)
    await pilot.pause(0.1)


PaneKind = TypeVar("PaneKind", bound=Pane)


def view(app: ExploreApp, kind: type[PaneKind]) -> PaneKind:
    return app.query_one(kind)


def command(pane: Pane) -> str:
    return " ".join(pane.answer.command) if pane.answer is not None else ""


def test_from_a_finding_to_its_registrations_to_the_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Span] = []
    monkeypatch.setattr(ExploreApp, "on_pane_open_place", lambda _, message: opened.append(message.span))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("5")
        pane = view(app, FindingsPane)
        await until(pilot, lambda: pane.answer is not None and pane.list.has_focus)
        assert command(pane) == f"check-invariants {SCENARIO} --severity info"
        report = pane.answer.report  # type: ignore[union-attr]
        assert {row.check for row in pane.list.rows} == {finding.finding.check for finding in report.findings}
        shown = screen_text(app)
        for finding in report.findings:
            assert finding.finding.severity.value in shown
            assert finding.finding.check in shown
        first = report.findings[0].finding
        assert first.check == "math-kernel-displaced"
        await until(pilot, lambda: "displaces the one at" in pane.detail.text)
        assert "Registrations of aten::to.dtype" in pane.detail.text
        await pilot.press("e", "tab", "enter")
        assert opened == [first.span, first.span]
        for _ in range(20):
            await pilot.press("down")
            if isinstance(pane.detail.target, Span) and pane.detail.target.line == 17 and pane.detail.cursor > 3:
                break
        await pilot.press("enter")
        assert str(opened[-1]).startswith(f"{SCENARIO}:17:")

    drive(of_scenario(), steps)


def test_an_operator_that_was_searched_from_findings_is_shown() -> None:
    """Until the cursor is at another finding."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        for keys, operator in (
            (("5", "slash", *"aten::mul.Tensor", "enter", "1"), "aten::mul.Tensor"),
            (("5", "1"), "aten::to.dtype"),
        ):
            await pilot.press(keys[0])
            pane = view(app, FindingsPane)
            await until(pilot, lambda pane=pane: pane.answer is not None and pane.list.has_focus)
            await pilot.press(*keys[1:-1])
            await until(pilot, lambda pane=pane: app.front == "findings" and pane.has_focus_within)
            await pilot.press(keys[-1])
            await until(pilot, lambda: app.front == "table")
            assert str(app.spot.operator) == operator

    drive(of_scenario(), steps)


@pytest.mark.parametrize("keys", [("enter",), ("tab", "down", "down", "enter"), ("2",)])
def test_a_finding_leads_to_its_slot(keys: tuple[str, ...]) -> None:
    """By enter on it, by the line in its details, and by the key of the view."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("5")
        pane = view(app, FindingsPane)
        await until(pilot, lambda: pane.answer is not None and pane.list.has_focus)
        await pilot.press(*keys)
        await until(pilot, lambda: app.front == "slot")
        assert (str(app.spot.operator), app.spot.key) == ("aten::to.dtype", "AutogradPrivateUse1")

    drive(of_scenario(), steps)


def test_findings_are_filtered() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("5")
        pane = view(app, FindingsPane)
        await until(pilot, lambda: pane.answer is not None and pane.list.has_focus)
        count = len(pane.list.rows)
        await pilot.press("v")
        assert {row.severity.value for row in pane.list.rows} == {"error"}
        await pilot.press("v", "v", "v", "f")
        assert len(pane.list.rows) == count
        await pilot.press(*"guard")
        await until(pilot, lambda: [row.check for row in pane.list.rows] == ["guard"])
        await pilot.press("escape", "c")
        assert {row.check for row in pane.list.rows} == {pane.answer.report.summary[0].check}  # type: ignore[union-attr]

    drive(of_scenario(), steps)


def test_after_a_change_of_a_fallback_findings_are_looked_for_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    session = of_scenario()
    tried = session.whatif
    tried.apply(
        Removal(
            next(
                registration.name
                for registration in tried.registrations(None)
                if registration.name.key == "AutogradXLA"
            )
        )
    )
    threads: list[bool] = []

    def effect(*states: Any) -> FindingsEffect:
        threads.append(threading.current_thread() is threading.main_thread())
        return findings_effect(*states)

    monkeypatch.setattr("dispatch_cli.whatif.whatif.findings_effect", effect)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("5")
        pane = view(app, FindingsPane)
        await until(pilot, lambda: pane.answer is not None)

    drive(session, steps)
    assert threads and not any(threads)
    assert tried.findings is not None


def test_which_operators_and_slots_the_files_change() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("8")
        pane = view(app, DifferencesPane)
        await until(pilot, lambda: pane.answer is not None and pane.list.has_focus)
        assert command(pane) == f"diff torch-2.4 {SCENARIO}"
        report = pane.answer.report  # type: ignore[union-attr]
        rows = {row.name: (row.registrations, row.slots) for row in pane.list.rows}
        assert rows == {"everything": (1, report.counts.slots), "aten::to.dtype": (1, report.counts.slots)}
        await pilot.press("down")
        await until(pilot, lambda: command(pane).endswith("--op aten::to.dtype"))
        assert "AutogradPrivateUse1" in pane.detail.text
        await pilot.press("enter")
        await until(pilot, lambda: str(app.spot.operator) == "aten::to.dtype")

    drive(of_scenario(), steps)


def test_after_undo_what_was_compared_without_the_change_is_there_again() -> None:
    """The state without changes is compared with only as long as there are some."""

    async def without(app: ExploreApp, pilot: Pilot[None]) -> tuple[str, str, int]:
        await pilot.press("8")
        return await compared(app, pilot)

    async def undone(app: ExploreApp, pilot: Pilot[None]) -> tuple[str, str, int]:
        await pilot.press("enter", "x", "8")
        await until(pilot, lambda: "whatif.yaml" in app.query_one(CommandBar).line)
        await pilot.press("u")
        return await compared(app, pilot)

    async def chosen(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("enter", "x", "8")
        await until(pilot, lambda: "whatif.yaml" in app.query_one(CommandBar).line)
        await pilot.press("b", *"torch-2.9", "enter")
        await until(pilot, lambda: "torch-2.9" in app.query_one(CommandBar).line)
        await pilot.press("u")
        assert (await compared(app, pilot))[0] == f"dispatch-cli diff torch-2.9 {BACKEND}"

    async def compared(app: ExploreApp, pilot: Pilot[None]) -> tuple[str, str, int]:
        pane, bar = view(app, DifferencesPane), app.query_one(CommandBar)
        await until(pilot, lambda: bar.line.endswith(str(BACKEND)))
        return bar.line, str(pane.head.content), len(pane.list.rows)

    assert drive(of_backend(), undone) == drive(of_backend(), without)
    drive(of_backend(), chosen)


@pytest.mark.parametrize("keys", [["5"], ["6"], [*"7bcuda", "enter"], ["8"]])
def test_a_list_has_rows_in_a_tiny_terminal(keys: list[str]) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("enter", *keys)
        pane = view(app, ListPane)
        await until(pilot, lambda: pane.list.target is not None)
        assert pane.list.size.height >= 3
        shown = screen_text(app)
        assert "\N{LEFT HALF BLOCK}" in "".join(line[:1] for line in shown.splitlines()[2:]), shown
        first = shown.splitlines()[0]
        assert [part for part in first.split() if part.isdigit()] == ["1", "2", "3", "4", "5", "6", "7", "8", "9"]
        assert app.stage.entries[app.front].title in first
        await pilot.press("tab")
        assert pane.detail.has_focus
        await until(pilot, lambda: pane.detail.size.height >= 3)

    drive(of_newest(), steps, (40, 10))


def test_a_heading_that_is_cut_says_so() -> None:
    """The newest versions differ in more than four short lines hold."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("enter", "8")
        pane = view(app, DifferencesPane)
        await until(pilot, lambda: pane.answer is not None)
        shown = screen_text(app).splitlines()
        assert shown[5].endswith("…") and len(str(pane.head.content)) > 4 * 50, shown

    drive(of_newest(), steps, (50, 24))


def test_which_operators_a_backend_has_a_kernel_for_and_which_it_lacks() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press(*"7b", *"privateuse1", "enter")
        pane = view(app, CoveragePane)
        await until(pilot, lambda: pane.answer is not None and pane.list.has_focus)
        report = pane.answer.report  # type: ignore[union-attr]
        assert command(pane) == f"coverage PrivateUse1 {BACKEND}"
        assert f"{report.served:,} of {report.chosen:,}" in screen_text(app)
        assert served_by(report) in str(pane.head.content)
        assert [*pane.list.rows] == [*report.operators]
        for service in dict.fromkeys(service.service for service in report.services):
            await pilot.press("v")
            assert {row.service for row in pane.list.rows} == {service}
        await pilot.press("v")
        await pilot.press("n")
        assert command(pane) == f"coverage PrivateUse1 {BACKEND}"
        assert not pane.list.rows
        await pilot.press("b", *"sparsecuda", "enter")
        await until(pilot, lambda: command(pane).startswith("coverage SparseCUDA "))
        assert {row.served for row in pane.list.rows} == {False}
        row = pane.list.target
        await pilot.press("enter")
        await until(pilot, lambda: (str(app.spot.operator), app.spot.key) == (row.operator, row.slot))

    drive(of_backend(), steps)


def _says(app: ExploreApp, text: str) -> bool:
    return text in screen_text(app)


def test_a_cell_of_all_backends_lists_the_operators_of_its_group() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("7")
        pane = view(app, CoveragePane)
        await until(pilot, lambda: pane.overview.place is not None)
        assert command(pane) == "coverage --base torch-2.15"
        groups = {group.name: group for group in pane.answer.report.groups}  # type: ignore[union-attr]
        for name, options in (("core", "--tag core"), ("sparse", "--op sparse::*")):
            targets = pane.overview.cells.targets
            wanted = ("CUDA", groups[name].chosen_by)
            at = next(number for number, one in enumerate(targets) if one.place.row.target == wanted)
            pane.overview.move_to(at)
            cell = next(cell for cell in groups[name].cells if cell.backend == "CUDA")
            text = f"CUDA: {cell.served:,} of {groups[name].operators:,} served"
            await until(pilot, partial(_says, app, text))
            await pilot.press("enter")
            await until(pilot, lambda: pane.list.has_focus)
            assert command(pane) == f"coverage CUDA --base torch-2.15 {options}"
            assert len(pane.list.rows) == groups[name].operators
            assert sum(row.served is True for row in pane.list.rows) == cell.served
            await pilot.press("escape")
            await until(pilot, lambda: command(pane) == "coverage --base torch-2.15" and pane.overview.has_focus)

    drive(of_newest(), steps)


def test_what_changed_for_an_operator_since_the_first_version() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(OperatorName.parse("aten::linear")))
        await pilot.press("9")
        await until(pilot, lambda: bool(app.query(HistoryPane)))
        pane = view(app, HistoryPane)
        await until(pilot, lambda: pane.answer is not None and pane.answer.command[0] == "history")
        assert command(pane) == "history aten::linear"
        text = pane.view.text
        changed = pane.answer.report.operators[0].registrations_changed_in  # type: ignore[union-attr]
        assert changed
        for version in changed:
            assert version.removeprefix("torch-") in text
        await pilot.press("8", "t")
        changes = view(app, DifferencesPane)
        await until(pilot, lambda: command(changes).endswith("--op aten::linear.default"))

    drive(of_newest(), steps)


def test_from_the_slot_undefined_to_its_key() -> None:
    """There is a row for every slot of `table`."""
    session = of_scenario()
    name = OperatorName.parse("aten::to.dtype")
    printed = json.loads(call("table", str(SCENARIO), "--op", str(name), "--full", "--format", "json").out)
    slots = printed["operators"][0]["entries"]

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(name, "Undefined"), "keys")
        pane = view(app, KeysPane)
        await until(pilot, lambda: pane.list.target is not None and pane.list.target.key == "Undefined")
        kinds = (KeyKind.RUNTIME, KeyKind.UNDEFINED)
        assert [row.key for row in pane.list.rows if row.kind in kinds] == [row["key"] for row in slots]
        text = f"{len(slots) - 1} runtime keys, {len(slots)} slots with Undefined"
        await until(pilot, lambda: text in flat(screen_text(app)))

    drive(session, steps)


def test_keys_and_the_operators_there() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("6")
        pane = view(app, KeysPane)
        await until(pilot, lambda: pane.answer is not None and pane.list.has_focus)
        assert command(pane) == "keys --universe torch-2.15"
        await pilot.press("f", *"dense privateuse1")
        await until(pilot, lambda: [row.key for row in pane.list.rows] == ["PrivateUse1"])
        await pilot.press("enter", "enter")
        await until(pilot, lambda: command(pane).startswith("keys PrivateUse1 "))
        await pilot.press("r")
        await until(pilot, lambda: command(pane) == f"register {BACKEND} --key PrivateUse1")
        report = pane.answer.report  # type: ignore[union-attr]
        assert [*pane.list.rows] == [*report.keys[0].kernels]
        assert pane.query_one(Input).value == ""
        row = pane.list.target
        await pilot.press("enter")
        await until(pilot, lambda: (str(app.spot.operator), app.spot.key) == (row.operator, "PrivateUse1"))

    drive(of_backend(), steps)


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_the_mouse_chooses_and_opens(size: tuple[int, int]) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("6")
        pane = view(app, KeysPane)
        await until(pilot, lambda: pane.answer is not None and pane.list.has_focus)
        await pilot.click(pane.list, offset=(4, 3))
        await until(pilot, lambda: pane.list.cursor == 2)
        assert command(pane).startswith("keys CompositeImplicitAutogradNestedTensor ")
        await pilot.click(pane.list, offset=(4, 3))
        await until(pilot, lambda: command(pane).startswith("register "))

    drive(of_backend(), steps, size)


def test_an_error_of_the_checks_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("[bold]not[/] markup")

    monkeypatch.setattr("dispatch_cli.explore.panes.findings.findings_search", lambda _: fails)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("5")
        await until(pilot, lambda: "RuntimeError: [bold]not[/] markup" in screen_text(app))
        await pilot.press("6")
        await until(pilot, lambda: bool(app.query(KeysPane)))

    drive(of_scenario(), steps)


def test_findings_are_looked_for_once_for_the_marks_and_the_view(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = list[State]()

    def counted(state: State, *arguments: Any, **named: Any) -> FindingsReport:
        runs.append(state)
        return findings_report(state, *arguments, **named)

    monkeypatch.setattr("dispatch_cli.explore.answers.findings.findings_report", counted)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("5")
        await until(pilot, lambda: app.catalogue.found is not None)
        await until(pilot, lambda: bool(app.query(FindingsPane)) and app.query_one(FindingsPane).answer is not None)
        assert len(runs) == 1

    drive(of_scenario(), steps)


def test_an_operator_whose_findings_are_cut_off_the_list_has_its_mark_and_its_findings(tmp_path: Path) -> None:
    last = OF_CHECK + 5
    lines = (
        f"  - func: big::op{number:05}(Tensor x) -> Tensor\n    dispatch: {{CPU: k, CompositeImplicitAutograd: m}}\n"
        for number in range(last + 1)
    )
    file = tmp_path / "big.yaml"
    file.write_text("dispatch: 1\noperators:\n" + "".join(lines), encoding="utf-8")
    name = f"big::op{last:05}"

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: app.catalogue.found is not None)
        assert app.catalogue.found is not None
        assert len(app.catalogue.found) == last + 1
        await pilot.press("5")
        pane = view(app, FindingsPane)
        await until(pilot, lambda: pane.answer is not None and pane.list.has_focus)
        await app.go(Spot(OperatorName.parse(name)))
        await pilot.press("t")
        await until(pilot, lambda: [row.operator for row in pane.list.rows] == [name])
        assert "autograd" in pane.list.rows[0].words

    drive(Session(api.load_state((str(file),)), (str(file),)), steps)


def test_the_operators_of_the_list_over_the_versions() -> None:
    """Those of a glob are those of its command, also where they are gone; from a cell to the operator and back."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("slash", *"aten::_sparse_*softmax.*", "enter", "9")
        await until(pilot, lambda: bool(app.query(HistoryPane)))
        pane = view(app, HistoryPane)
        await until(pilot, lambda: pane.answer is not None)
        await pilot.press("v")
        await until(
            pilot, lambda: command(pane) == "history aten::_sparse_*softmax.*" and pane.picture.place is not None
        )
        printed = json.loads(call("history", "aten::_sparse_*softmax.*", "--format", "json").out)
        names = [operator["operator"] for operator in printed["operators"]]
        assert len(names) > 1
        gone = [
            operator["operator"]
            for operator in printed["operators"]
            if operator["versions"][-1]["last"] != "torch-2.15"
        ]
        assert gone and not {*gone} & {entry.name for entry in app.catalogue.entries}
        assert [*dict.fromkeys(target.place.row.target[0] for target in pane.picture.cells.targets)] == names
        assert all(name in screen_text(app) for name in names)
        pane.picture.point(names[1])
        await pilot.press("enter")
        await until(pilot, lambda: command(pane) == f"history {names[1]}" and str(app.spot.operator) == names[1])

    drive(of_newest(), steps, (140, 40))


def test_coverage_says_which_operators_are_not_counted() -> None:
    session = of_newest()

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press(*"7b", *"privateuse1", "enter")
        await until(pilot, lambda: bool(app.query(CoveragePane)))
        number = len(session.state.higher_order_names)
        assert f"without {number} higher-order operators, which no backend" in " ".join(screen_text(app).split())

    drive(session, steps, (200, 60))


@pytest.mark.parametrize("columns", [80, 120])
def test_the_counts_above_the_list_have_room_for_long_numbers(columns: int) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:  # noqa: ARG001
        filters = app.operators.filters
        app.catalogue.found = {f"a::{number}": {} for number in range(8_734)}
        app.catalogue.tried = frozenset(f"a::{number}" for number in range(12_345))
        filters.checking = True
        assert filters._width(filters._parts()) <= filters.content_size.width
        number = "!8.7k" if columns == 80 else "!8,734"
        assert filters._parts()[-1][1] == f"{number}…"
        filters.note_checking(False)
        assert filters._parts()[-1][1] == number

    drive(of_newest(), steps, (columns, 24))
