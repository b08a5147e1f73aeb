"""Findings, keys, coverage and versions, driven by keys: what is shown is what their reports say."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from dispatch_cli import api
from dispatch_cli.answers.coverage.wording import served_by
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.pane import Pane
from dispatch_cli.explore.panes.coverage import CoveragePane
from dispatch_cli.explore.panes.differences import DifferencesPane
from dispatch_cli.explore.panes.findings import FindingsPane
from dispatch_cli.explore.panes.history import HistoryPane
from dispatch_cli.explore.panes.keys import KeysPane
from dispatch_cli.explore.session import Session
from dispatch_cli.model.span import Span
from tests.cli.support import call
from tests.explore import support
from tests.explore.support import drive, newest, screen_text

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


@pytest.mark.parametrize("keys", [("enter",), ("tab", "down", "down", "enter")])
def test_a_finding_leads_to_its_slot(keys: tuple[str, ...]) -> None:
    """By enter on it, and by the line in its details."""

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


def test_the_mouse_chooses_and_opens() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("6")
        pane = view(app, KeysPane)
        await until(pilot, lambda: pane.answer is not None and pane.list.has_focus)
        await pilot.click(pane.list, offset=(4, 3))
        await until(pilot, lambda: pane.list.cursor == 2)
        assert command(pane).startswith("keys CompositeImplicitAutogradNestedTensor ")
        await pilot.click(pane.list, offset=(4, 3))
        await until(pilot, lambda: command(pane).startswith("register "))

    drive(of_backend(), steps)


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
