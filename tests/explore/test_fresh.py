"""What the screen says follows the state: after changes on trial, and after files have changed."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot

from dispatch_cli.api import load_state
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.panes.table import Detail
from dispatch_cli.explore.session import Session
from tests.explore.support import drive, flat, until

SCENARIO = "examples/scenarios/01_composite_override.yaml"
OPERATOR = """dispatch: 1
operators:
  - func: my::op(Tensor a) -> Tensor
    dispatch:
      CompositeExplicitAutograd: my_explicit
      CompositeImplicitAutograd: my_math
"""


def list_line(app: ExploreApp, row: int) -> str:
    """A line of the list of operators, as it is on the screen."""
    at = app.operators.list.region
    strips = app.screen._compositor.render_strips()
    return strips[at.y + row].crop(at.x, at.right).text


def test_the_sentence_below_a_table_that_was_not_shown_meanwhile(tmp_path: Path) -> None:
    """Moved behind the other kernel, the first one leaves the autograd slots stale."""
    file = tmp_path / "my.yaml"
    file.write_text(OPERATOR, encoding="utf-8")

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("enter", "G", "4", "down", "left_square_bracket")
        assert app.session.whatif.changes
        await pilot.press("1")
        await until(pilot, lambda: "Stale: a call runs my_math" in flat(str(app.query_one(Detail).content)))

    drive(Session(load_state([str(file)]), (str(file),)), steps)


def test_the_list_shows_the_findings_that_are_left() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: app.catalogue.found is not None)
        await until(pilot, lambda: "2E" in list_line(app, 0))
        await pilot.press("enter", *["down"] * 6, "enter", "down", "x")
        await until(pilot, lambda: not app.catalogue.found)
        await until(pilot, lambda: "2E" not in list_line(app, 0))

    drive(Session(load_state([SCENARIO]), (SCENARIO,)), steps)
