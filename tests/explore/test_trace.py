"""The view of a recorded program: it shows what `trace` prints, and leads to operators, slots and lines of Python."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from textual.pilot import Pilot

from dispatch_cli import api
from dispatch_cli.answers.trace.document import ShownLine
from dispatch_cli.cli.explore import with_recording
from dispatch_cli.cli.options import SourceOptions
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.operators.catalogue import CALLED, Marked
from dispatch_cli.explore.panes.trace import AskedCalls, TracePane, called_operators, calls_answer
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.trace.facts import CallFact
from tests.explore.support import assert_prints, drive, screen_text, until
from tests.trace.support import every
from tests.trace.test_recording import REAL

pytestmark = pytest.mark.slow

OWN = REAL.with_name("own.trace")
"""A program with a library of its own, recorded on PyTorch 2.13; of its registry the operators that it called."""


def session_of(file: Path, *files: str) -> Session:
    source, view = with_recording(SourceOptions(files, (), None, ()), str(file))
    state = api.load_state(files, bases=source.bases)
    return Session(state, (*files, "--base", *source.bases), trace=view)


def told(_: str) -> None:
    """Steps are not shown here."""


def recorded_counts(file: Path) -> Counter[str]:
    """Number of calls of each operator, by the lines of a recording."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()][1:]
    operators = {line[1]: line[2] for line in lines if line[0] == "o"}
    of_signature = {line[1]: operators[line[2]["operator"]] for line in lines if line[0] == "s"}
    return Counter(of_signature[line[1]] for line in lines if line[0] == "c")


ASKED = (
    AskedCalls(),
    AskedCalls("aten::linear"),
    AskedCalls(None, (CallFact.DECOMPOSES,)),
    AskedCalls("aten::linear", (CallFact.FALLBACK, CallFact.PYTHON)),
)


@pytest.mark.parametrize("asked", ASKED)
def test_what_is_shown_is_what_the_command_prints(asked: AskedCalls) -> None:
    shown = calls_answer(session_of(OWN), asked, told)
    assert_prints(shown)


def test_operators_are_counted_as_they_were_called() -> None:
    view = session_of(OWN).trace
    assert view is not None
    assert called_operators(view) == recorded_counts(OWN)


# the view


async def shown_in(app: ExploreApp, pilot: Pilot[None]) -> TracePane:
    """The view, when it has its calls and the keys."""
    await until(pilot, lambda: bool(app.query(TracePane)))
    pane = app.query_one(TracePane)
    await until(pilot, lambda: pane.view.has_focus and (pane.answer is not None or "did not call" in screen_text(app)))
    return pane


def command(pane: TracePane) -> str:
    return "" if pane.answer is None else " ".join(pane.answer.command)


async def go_to(pane: TracePane, pilot: Pilot[None], number: int) -> None:
    """The cursor goes to the line of a call."""
    lines = [pane.view.choice(at).target for at in range(pane.view.choices())]
    rows = [line.row if isinstance(line, ShownLine) else None for line in lines]
    pane.view.move_to([None if row is None else row.number for row in rows].index(number))
    await until(pilot, lambda: f"Call {number} " in pane.below.text)


def shown_lines(pane: TracePane) -> list[ShownLine]:
    lines = (pane.view.choice(at).target for at in range(pane.view.choices()))
    return [line for line in lines if isinstance(line, ShownLine)]


def test_a_call_leads_to_the_table_of_its_operator_at_the_slot_of_its_first_kernel() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        pane = await shown_in(app, pilot)
        assert command(pane) == f"trace {OWN} --full"
        await go_to(pane, pilot, 21)
        assert "AutocastCPU" in pane.below.text
        opened = [pane.below.choice(number).target for number in range(pane.below.choices())]
        assert {type(target) for target in opened} == {Spot}
        await pilot.press("enter")
        await until(pilot, lambda: (str(app.spot.operator), app.spot.key) == ("aten::linear", "AutocastCPU"))
        assert app.stage.front == "table"
        await pilot.press("backspace")
        await until(pilot, lambda: app.stage.front == "trace" and pane.view.has_focus)

    drive(session_of(OWN), steps)


def test_a_call_is_shown_with_its_findings(tmp_path: Path) -> None:
    (tmp_path / "every.trace").write_text(every(), encoding="utf-8")

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        pane = await shown_in(app, pilot)
        await go_to(pane, pilot, 18)
        assert "1 call ran the backend fallback at FuncTorchBatched" in pane.below.text

    drive(session_of(tmp_path / "every.trace"), steps)


def test_calls_are_chosen_by_operator_fact_and_words() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        pane = await shown_in(app, pilot)
        await go_to(pane, pilot, 21)
        await pilot.press("t")
        await until(pilot, lambda: command(pane) == f"trace {OWN} --op aten::linear --full")
        assert {line.row.operator for line in shown_lines(pane) if line.row is not None} == {"aten::linear"}
        await pilot.press("t", "v")
        await until(pilot, lambda: "--only fallback --only no-gradient --only stale" in command(pane))
        operators = {line.row.operator for line in shown_lines(pane) if line.row is not None}
        assert operators == set()  # the call inside of mylib::twice records its gradient
        for fact in CallFact:
            await pilot.press("v")
            await until(pilot, lambda fact=fact: command(pane) == f"trace {OWN} --only {fact.value} --full")
        await pilot.press("v", "f", *"twice", "enter")
        await until(pilot, lambda: command(pane) == f"trace {OWN} --full" and len(shown_lines(pane)) == 1)
        assert "here only those with “twice”" in pane.remark

    drive(session_of(OWN), steps)


def test_the_list_of_operators_marks_those_that_were_called() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await shown_in(app, pilot)
        await pilot.press("o")
        await until(pilot, lambda: app.operators.list.has_focus)
        assert app.operators.list.marked is Marked.CALLED
        listed = {app.catalogue.entries[number].name for number in app.operators.list.listed}
        assert listed == {*recorded_counts(OWN)}
        line = next(line for line in screen_text(app).splitlines() if "aten::copy_" in line)
        assert f"{CALLED}{recorded_counts(OWN)['aten::copy_']}" in line

    drive(session_of(OWN), steps)
