"""The view of the support matrix: its report is what the command prints, and a cell opens its call."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from dispatch_cli import api
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.panes.call import CallPane
from dispatch_cli.explore.panes.support import SupportPane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.names import OperatorName
from tests.explore.support import assert_prints, drive, screen_text, until

OPERATORS = "examples/custom_ops.yaml"
NORMALIZE = Spot(OperatorName.parse("pylib::normalize"))


def pane_of(app: ExploreApp) -> SupportPane:
    (pane,) = app.query(SupportPane)
    return pane


async def opened(app: ExploreApp, pilot: Pilot[None], spot: Spot) -> SupportPane:
    await app.go(spot, "support")
    await until(pilot, lambda: pane_of(app).answer is not None, 30)
    return pane_of(app)


@pytest.mark.parametrize(
    ("source", "spot"),
    [((OPERATORS,), NORMALIZE), (("--base", "torch-2.15"), Spot(OperatorName.parse("aten::add.Tensor")))],
    ids=["files", "a base"],
)
def test_the_report_is_that_of_the_command(source: tuple[str, ...], spot: Spot) -> None:
    files = [file for file in source if Path(file).exists()]
    session = Session(api.load_state(files, bases=source[1:]), source)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        assert_prints((await opened(app, pilot, spot)).answer)

    drive(session, steps)


def test_a_cell_opens_its_call() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        pane = await opened(app, pilot, NORMALIZE)
        await pilot.press("right", "right", "right", "right")
        assert "pylib::normalize on CPU, vmap: raises: it has no batching rule" in screen_text(app)
        report = pane.answer.report if pane.answer is not None else None
        row = next(operator for operator in report.operators if operator.operator == NORMALIZE.operator)  # type: ignore[union-attr]
        await pilot.press("enter")
        await until(pilot, lambda: app.stage.front == "call")
        (calls,) = app.query(CallPane)
        assert (calls.draft.tensors, calls.draft.contexts) == row.cells[4].call[:2]
        assert "Batching rule not implemented" in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.stage.front == "support")

    drive(Session(api.load_state([OPERATORS]), (OPERATORS,)), steps, (140, 40))


def test_an_operator_that_is_chosen_is_shown() -> None:
    """By its row; by its table where the matrix does not have it."""
    session = Session(api.load_state([OPERATORS], assumed_base="torch-2.15"), (OPERATORS,))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        pane = await opened(app, pilot, NORMALIZE)
        other = next(name for name in session.original.own_operators() if name != NORMALIZE.operator)
        await pilot.press("slash", *str(other), "enter")
        await until(pilot, lambda: pane.view.target.target[0] == other)
        assert app.stage.front == "support"
        await pilot.press("slash", "ctrl+u", *"aten::topk", "enter")
        await until(pilot, lambda: app.stage.front == "table")
        assert "aten::topk(Tensor self" in screen_text(app)

    drive(session, steps, (80, 24))
