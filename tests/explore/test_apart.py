"""Where a view shows something else than its command line prints, the command line says so."""

from __future__ import annotations

from textual.pilot import Pilot

from dispatch_cli.api import load_state
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.panes.coverage import CoveragePane
from dispatch_cli.explore.session import Session
from tests.explore.support import drive, newest, until

STALE = "examples/stale.yaml"


def test_rows_that_keys_and_words_choose() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("7")
        await until(pilot, lambda: "coverage PrivateUse1" in app.command_bar.line)
        assert not app.command_bar.note
        await pilot.press("v")
        await until(pilot, lambda: app.command_bar.note == "(prints all rows; here only those served by: own kernel)")
        app.query_one(CoveragePane).filter.value = "copy"
        await until(
            pilot,
            lambda: app.command_bar.note == "(prints all rows; here only those served by: own kernel, with “copy”)",
        )
        await pilot.press("n")  # which the command has an option for
        await until(pilot, lambda: "--missing" in app.command_bar.line)
        assert app.command_bar.note == "(prints all rows; here only those with “copy”)"
        await pilot.press("1")
        await until(pilot, lambda: not app.command_bar.note)

    drive(Session(newest(), ("--base", "torch-2.15")), steps)


def test_findings_that_keys_choose() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("5")
        await until(pilot, lambda: app.command_bar.line)
        await pilot.press("v", "c")
        await until(
            pilot,
            lambda: app.command_bar.note == "(prints all rows; here only those of severity error, of stale-live-table)",
        )

    drive(Session(load_state([STALE]), (STALE,)), steps)


def test_registrations_in_order_and_fallbacks() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("4")
        await until(pilot, lambda: "register" in app.command_bar.line)
        assert app.command_bar.note == "(prints them by key, not in order)"
        await pilot.press("b")
        await until(pilot, lambda: not app.command_bar.line)
        assert app.command_bar.note == "no command prints the backend fallbacks"
        await pilot.press("x")
        await until(pilot, lambda: "diff" in app.command_bar.line)
        assert app.command_bar.note.startswith("(does not print the backend fallbacks)")

    drive(Session(load_state([STALE]), (STALE,)), steps)
