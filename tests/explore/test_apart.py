"""Views that show something else than their command lines print: the command line says so."""

from __future__ import annotations

import json

import pytest
from textual.pilot import Pilot

from dispatch_cli.api import load_state
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.panes.changes import ChangesPane
from dispatch_cli.explore.panes.coverage import CoveragePane
from dispatch_cli.explore.panes.findings import FindingsPane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.data import report_data
from tests.cli.support import call
from tests.explore.support import drive, newest, until

STALE = "examples/stale.yaml"


@pytest.mark.slow
def test_rows_that_keys_and_words_choose() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press(*"7b", *"privateuse1", "enter")
        await until(pilot, lambda: "coverage PrivateUse1" in app.command_bar.line)
        assert not app.command_bar.note
        await pilot.press("v")
        await until(pilot, lambda: app.command_bar.line.endswith("--base torch-2.15 --served-by kernel"))
        assert_prints_what_is_listed(app)
        app.query_one(CoveragePane).filter.value = "Copy own"
        await until(pilot, lambda: app.command_bar.note == "(prints all rows; here only those with “Copy own”)")
        assert app.command_bar.line.endswith("--base torch-2.15 --served-by kernel")
        await pilot.press("n")
        both = "(prints all rows; here only those that are not served, with “Copy own”)"
        await until(pilot, lambda: app.command_bar.note == both)
        assert app.command_bar.line.endswith("--base torch-2.15")
        app.query_one(CoveragePane).filter.value = ""
        await until(pilot, lambda: app.command_bar.note == "(prints all rows; here only those that are not served)")
        assert {row.served for row in app.query_one(CoveragePane).list.rows} == {False}
        await pilot.press("n")
        await until(pilot, lambda: not app.command_bar.note)
        assert_prints_what_is_listed(app)

    drive(Session(newest(), ("--base", "torch-2.15")), steps)


def assert_prints_what_is_listed(app: ExploreApp) -> None:
    pane = app.query_one(CoveragePane)
    assert pane.answer is not None
    printed = json.loads(call(*pane.answer.command, "--format", "json").out)
    assert [row["operator"] for row in printed["operators"]] == [row.operator for row in pane.list.rows]
    assert json.dumps(printed) == json.dumps(report_data(pane.answer.report))


def test_findings_that_keys_choose() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("5")
        await until(pilot, lambda: app.command_bar.line)
        await pilot.press("v", "c")
        await until(pilot, lambda: app.command_bar.note == "(prints all rows; here only those of severity error)")
        assert app.command_bar.line.endswith("examples/stale.yaml --severity info --select stale-live-table")
        await pilot.press("v", "v", "v", "t")
        await until(pilot, lambda: app.command_bar.line.endswith("--op stale::explicit --select stale-live-table"))
        assert not app.command_bar.note
        assert_prints_the_findings(app)
        await pilot.press("c", "c")
        await until(pilot, lambda: app.command_bar.line.endswith("--op stale::explicit --select unused-registration"))
        assert_prints_the_findings(app)
        await app.go(Spot(OperatorName.parse("stale::fine")))
        await until(pilot, lambda: app.command_bar.line.endswith("--op stale::fine --select unused-registration"))
        assert_prints_the_findings(app)
        await pilot.press("t")
        await until(
            pilot, lambda: app.command_bar.line.endswith("stale.yaml --severity info --select unused-registration")
        )
        assert_prints_the_findings(app)
        app.query_one(FindingsPane).filter.value = "stale::fine"
        await until(pilot, lambda: "here only those with" in app.command_bar.note)

    drive(Session(load_state([STALE]), (STALE,)), steps)


def assert_prints_the_findings(app: ExploreApp) -> None:
    pane = app.query_one(FindingsPane)
    assert pane.answer is not None
    printed = call(*pane.answer.command, "--format", "json").out
    assert json.loads(printed) == json.loads(json.dumps(report_data(pane.answer.report)))
    shown = [finding.message for row in pane.list.rows for finding in row.findings]
    assert shown
    assert sorted(shown) == sorted(finding["message"] for finding in json.loads(printed)["findings"])


def test_the_filter_of_a_list_is_no_matter_of_the_command_of_one_row() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("6", "f", *"meta")
        await until(pilot, lambda: app.command_bar.note == "(prints all rows; here only those with “meta”)")
        await pilot.press("enter", "down")
        await until(pilot, lambda: "keys " in app.command_bar.line and "Meta" in app.command_bar.line)
        assert not app.command_bar.note
        await pilot.press("m")
        await until(pilot, lambda: "with “meta”" in app.command_bar.note)
        await pilot.press("8", "f", *"every")
        await until(pilot, lambda: "with “every”" in app.command_bar.note, 60)
        await pilot.press("ctrl+u", *"view", "enter")
        await until(pilot, lambda: "--op" in app.command_bar.line)
        assert not app.command_bar.note

    drive(Session(newest(), ("--base", "torch-2.15")), steps)


def test_registrations_in_order_and_fallbacks() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("4")
        await until(pilot, lambda: app.command_bar.line.endswith("--op stale::explicit --view order"))
        await pilot.press("b")
        await until(pilot, lambda: app.command_bar.line.endswith("register examples/stale.yaml --view fallbacks"))
        await pilot.press("x")
        await until(pilot, lambda: "diff examples/stale.yaml examples/stale.yaml --new" in app.command_bar.line)
        view = app.query_one(ChangesPane).view
        await until(pilot, lambda: "Findings are being looked for" not in view.text, seconds=60)
        rows = [view.choice(number).target for number in range(view.choices())]
        kinds = [type(row).__name__ for row in rows]
        assert kinds[0] == "MadeChange"
        view.move_to(kinds.index("NamedRegistration"))
        await until(pilot, lambda: app.command_bar.line.endswith("whatif.yaml --view fallbacks"))
        view.move_to(0)
        await until(pilot, lambda: "diff" in app.command_bar.line)

    drive(Session(load_state([STALE]), (STALE,)), steps)
