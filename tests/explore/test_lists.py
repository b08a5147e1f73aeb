"""Lists of findings, keys, coverage and versions, driven by keys: what is listed is what the command line prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

import pytest
from textual.pilot import Pilot

from dispatch_cli import api
from dispatch_cli.answers.coverage.report import CoverageRow
from dispatch_cli.answers.keys.registrations import RegisteredKernel
from dispatch_cli.api import load_state
from dispatch_cli.checks.check import Finding
from dispatch_cli.engine.backend_answers import Service
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.panes.coverage import CoveragePane
from dispatch_cli.explore.panes.findings import FindingsPane
from dispatch_cli.explore.panes.keys import KeysPane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.model.names import OperatorName, Severity
from dispatch_cli.model.span import Span
from dispatch_cli.render.data import json_text
from dispatch_cli.render.document import MatrixCell
from tests.cli.support import call
from tests.explore.support import assert_prints, drive, newest, screen_text, until

pytestmark = pytest.mark.slow

Row = TypeVar("Row")
BACKEND = Path("examples/out_of_tree_backend.yaml")


def of_newest() -> Session:
    return Session(newest(), ("--base", "torch-2.15"))


def of_backend() -> Session:
    """Few operators, so that it is fast."""
    return Session(api.load_state((str(BACKEND),)), (str(BACKEND),))


def command(pane: Pane) -> str:
    return " ".join(pane.answer.command) if pane.answer is not None else ""


def rows_of(pane: Pane, kind: type[Row]) -> list[Row]:
    """The rows of a kind that are shown, which all open something."""
    targets = (pane.view.choice(number).target for number in range(pane.view.choices()))
    return [target for target in targets if isinstance(target, kind)]


def test_keys_and_the_operators_there() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("6")
        pane = app.query_one(KeysPane)
        await until(pilot, lambda: pane.answer is not None and pane.view.has_focus)
        assert command(pane) == "keys --universe torch-2.15"
        cells = rows_of(pane, MatrixCell)
        assert {cell.target for cell in cells} < {*app.session.state.dispatcher.universe.keys_by_id}
        await pilot.press("enter")
        await until(pilot, lambda: command(pane).startswith(f"keys {cells[0].target} "))
        await pilot.press("escape", "b", *"PrivateUse1", "enter")
        await until(pilot, lambda: command(pane).startswith("keys PrivateUse1 "))
        await pilot.press("r")
        await until(pilot, lambda: command(pane) == f"register {BACKEND} --key PrivateUse1")
        report = pane.answer.report  # type: ignore[union-attr]
        assert rows_of(pane, RegisteredKernel) == [*report.keys[0].kernels]
        row = pane.view.target
        await pilot.press("enter")
        await until(pilot, lambda: (str(app.spot.operator), app.spot.key) == (row.operator, "PrivateUse1"))

    drive(of_backend(), steps)


def test_an_operator_over_the_versions() -> None:
    """As the recordings of the versions have it, and the command prints it."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(OperatorName.parse("aten::add.Tensor")), "history")
        await until(pilot, lambda: app.command_bar.line == "dispatch-cli history aten::add.Tensor")
        assert_prints(app.answer)
        assert "In all 12 embedded versions, 2.4 to 2.15." in screen_text(app)

    drive(of_newest(), steps)


STALE = "examples/stale.yaml"


def test_rows_that_words_choose() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press(*"7b", *"privateuse1", "enter")
        await until(pilot, lambda: "coverage PrivateUse1" in app.command_bar.line)
        assert not app.command_bar.note
        assert_prints_what_is_listed(app)
        pane = app.query_one(CoveragePane)
        await pilot.press("f", *"allgather own", "enter")
        await until(pilot, lambda: app.command_bar.note == "(prints all; here only those with “allgather own”)")
        rows = rows_of(pane, CoverageRow)
        assert rows and {row.covered.service for row in rows} == {Service.KERNEL}
        await pilot.press("f", "ctrl+u", "enter")
        await until(pilot, lambda: not app.command_bar.note)
        assert_prints_what_is_listed(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.command_bar.line == "dispatch-cli coverage --base torch-2.15")

    drive(Session(newest(), ("--base", "torch-2.15")), steps)


def test_a_backend_begins_at_its_top_and_a_service_is_a_filter_of_the_command() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(OperatorName.parse("aten::topk")), "coverage")
        await until(pilot, lambda: app.command_bar.line == "dispatch-cli coverage --base torch-2.15")
        await until(pilot, lambda: "f Filter" not in screen_text(app))  # the focus is in the view
        await pilot.press("b", *"cuda", "enter")
        await until(pilot, lambda: "coverage CUDA" in app.command_bar.line)
        pane = app.query_one(CoveragePane)
        assert pane.view.scroll_offset.y == 0 and "CUDA: " in screen_text(app)
        await until(pilot, lambda: "f Filter" in screen_text(app))
        await pilot.press("f", *"nothing", "enter")
        await until(pilot, lambda: app.command_bar.line.endswith("coverage CUDA --base torch-2.15 --served-by nothing"))
        assert not app.command_bar.note
        assert_prints_what_is_listed(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.command_bar.line == "dispatch-cli coverage --base torch-2.15")
        assert not app.command_bar.note

    drive(of_newest(), steps, (80, 24))


def test_without_findings_there_is_no_filter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(
        "dispatch: 1\noperators:\n- func: a::b(Tensor x) -> ()\n  dispatch: {CompositeImplicitAutograd: k}\n",
        encoding="utf-8",
    )

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("5")
        await until(pilot, lambda: app.query(FindingsPane) and app.query_one(FindingsPane).answer is not None)
        pane = app.query_one(FindingsPane)
        await until(pilot, lambda: pane.view.text.strip())
        assert rows_of(pane, object) == []
        await until(pilot, lambda: "f Filter" not in screen_text(app))
        await pilot.press("f")
        assert app.screen is app.screen_stack[0]

    drive(Session(load_state(["a.yaml"]), ("a.yaml",)), steps)


def assert_prints_what_is_listed(app: ExploreApp) -> None:
    pane = app.query_one(CoveragePane)
    assert pane.answer is not None
    printed = json.loads(call(*pane.answer.command, "--format", "json").out)
    assert [row["operator"] for row in printed["operators"]] == [row.operator for row in rows_of(pane, CoverageRow)]
    assert printed == json.loads("".join(json_text(pane.answer.report)))


def test_findings_of_an_operator() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("5")
        pane = app.query_one(FindingsPane)
        await until(pilot, lambda: app.command_bar.line and listed(pane))
        printed = assert_prints(app.answer)["findings"]
        assert messages(pane) == {finding["message"] for finding in printed}
        await pilot.press("t")
        await until(pilot, lambda: app.command_bar.note == "(prints all; here only those of stale::explicit)")
        of_operator = {finding["message"] for finding in printed if finding["operator"] == "stale::explicit"}
        assert messages(pane) == of_operator != set()
        await app.go(Spot(OperatorName.parse("stale::fine")))
        await until(pilot, lambda: app.command_bar.note == "(prints all; here only those of stale::fine)")
        await pilot.press("t")
        await until(pilot, lambda: not app.command_bar.note)
        await pilot.press("f", *"error", "enter")
        await until(pilot, lambda: "here only those with" in app.command_bar.note)
        assert {finding.severity for finding in listed(pane)} == {Severity.ERROR}

    drive(Session(load_state([STALE]), (STALE,)), steps)


LIBRARY_FINDING = """
dispatch: 1
extends: [torch-2.15]
libraries:
  - {kind: IMPL, namespace: mylib, dispatch_key: CPU, impl: {"mylib::gone": gone_cpu}}
guards:
  - {op: mylib::nothing, key: CPU, rule: kernel}
"""


def test_enter_never_opens_the_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a finding it goes to the slot; where the state has none, to the check's documentation. e is for the editor."""
    opened: list[Span] = []
    monkeypatch.setattr(ExploreApp, "on_pane_open_place", lambda _, message: opened.append(message.span))
    file = tmp_path / "a.yaml"
    file.write_text(LIBRARY_FINDING, encoding="utf-8")

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("5")
        pane = app.query_one(FindingsPane)
        await until(pilot, lambda: pane.answer is not None and pane.view.has_focus)
        targets = [pane.view.choice(number).target for number in range(pane.view.choices())]
        assert len(listed(pane)) > 1
        for number, target in enumerate(targets):
            pane.view.move_to(number)
            await pilot.press("enter")
            await until(pilot, lambda: app.stage.front != "findings" or len(app.screen_stack) == 2 or said(app))
            if isinstance(target, tuple) and isinstance(target[0], Finding):
                has_operator = target[0].operator == "mylib::gone"
                assert (app.stage.front in ("slot", "table")) == has_operator
                await pilot.press("escape")
                await until(pilot, lambda: pane.view.has_focus)
        assert not opened
        pane.view.move_to(0)
        await pilot.press("e")
        await until(pilot, lambda: opened)

    drive(Session(load_state([str(file)]), (str(file),)), steps)


def said(app: ExploreApp) -> bool:
    """True if there is a notice."""
    return len(app._notifications) > 0


def listed(pane: FindingsPane) -> list[Finding]:
    """The findings that are shown."""
    return [finding for group in rows_of(pane, tuple) for finding in group if isinstance(finding, Finding)]


def messages(pane: FindingsPane) -> set[str]:
    """Their sentences."""
    return {finding.message for finding in listed(pane)}
