"""The views of tables and slots: their reports are what their command lines print, and keys act on a slot."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from textual.pilot import Pilot

from dispatch_cli import api
from dispatch_cli.answers.explain.rule_steps import Concerned
from dispatch_cli.engine.rules import Rule
from dispatch_cli.explore.answers.slot import slot_answer
from dispatch_cli.explore.answers.table import TableOptions, table_answer
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.panes.slot import SlotPane
from dispatch_cli.explore.panes.table import TablePane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.changes.change import Removal
from dispatch_cli.model.names import OperatorName
from tests.explore.support import assert_prints, drive, newest, screen_text, until

BASE = ("--base", "torch-2.15")
SOURCES: dict[str, tuple[str, ...]] = {
    "the base": BASE,
    "files over it": ("examples/overlay.yaml", "examples/stale.yaml"),
    "not known": (*BASE, "--base", "torch-2.15-mps"),
}
ADD = Spot(OperatorName.parse("aten::add.Tensor"), "CUDA")


@cache
def session_of(name: str) -> Session:
    """A session over files or embedded states, loaded as the command line loads them."""
    arguments = SOURCES[name]
    files = [argument for argument in arguments if argument.endswith(".yaml")]
    bases = tuple(argument for argument in arguments if argument.startswith("torch-"))
    return Session(api.load_state(files, bases=bases), arguments)


def spots(session: Session, count: int) -> Iterator[Spot]:
    """Random operators and slots; first those that the files say something of."""
    chance, dispatcher = random.Random(4), session.state.dispatcher
    names = [OperatorName.parse(name) for name in chance.sample(dispatcher.names(), min(count, len(dispatcher)))]
    own = session.state.own_operators() if session.state.base is not None else []
    for name in [*own, *names][:count]:
        yield Spot(name, chance.choice(dispatcher.universe.slots))


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_shown_is_what_the_command_prints(name: str) -> None:
    session, chance = session_of(name), random.Random(5)
    for spot in spots(session, 6):
        options = TableOptions(
            grid=chance.random() < 0.5,
            every=chance.random() < 0.5,
            keys=chance.choice(("", "cuda", "*Meta")),
        )
        assert_prints(table_answer(session, spot, options))
        assert_prints(slot_answer(session, spot))


def test_keys_without_a_slot_and_higher_order_operators() -> None:
    session = session_of("the base")
    for key in ("CompositeImplicitAutograd", "Sparse", "AutogradFunctionality"):
        assert_prints(slot_answer(session, ADD._replace(key=key)))
    assert slot_answer(session, ADD._replace(key="Nothing")) is None
    assert_prints(table_answer(session, Spot(higher_order="cond"), TableOptions(True, False)))
    for key in ("CUDA", "Autograd", "FakeTensorMode", "transform=Vmap"):
        assert_prints(slot_answer(session, Spot(None, key, "cond")))


def test_a_change_on_trial_is_marked_and_taken_back() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(ADD, "table")
        await until(pilot, lambda: app.query_one(TablePane).view.has_focus)
        await pilot.press("x")
        await until(pilot, lambda: "* CUDA" in screen_text(app))
        (change,) = app.session.whatif.changes
        assert isinstance(change, Removal)
        assert (change.which.operator, change.which.key) == (ADD.operator, "CUDA")
        answer = app.query_one(TablePane).answer
        assert answer is not None
        rows = {row.key: row for row in answer.report.operators[0].entries}
        assert (rows["CUDA"].rule, rows["CUDA"].source) == (Rule.DEFAULT, "CompositeExplicitAutogradNonFunctional")
        await until(pilot, lambda: "before: " in screen_text(app))
        await pilot.press("v")
        await until(pilot, lambda: "K→D*" in screen_text(app))
        slot = app.query_one(SlotPane).view
        await until(pilot, lambda: "In torch-2.15, CUDA holds" in slot.text)
        await pilot.press("u")
        await until(pilot, lambda: "* CUDA" not in screen_text(app) and "on trial" not in slot.text)

    drive(Session(newest(), BASE), steps, (200, 60))


def test_keys_are_asked_for() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(ADD, "table")
        await until(pilot, lambda: app.query_one(TablePane).view.has_focus)
        await pilot.press("f", *"autogradc", "enter")
        await until(pilot, lambda: app.answer is not None and app.answer.command[-2:] == ("--key", "*autogradc*"))
        assert_prints(app.answer)
        await pilot.press("f", "ctrl+u", "enter")
        await until(pilot, lambda: app.answer is not None and "--key" not in app.answer.command)

    drive(Session(newest(), BASE), steps)


SAME = """
dispatch: 1
operators:
  - func: mylib::f(Tensor x) -> Tensor
    dispatch: {"CPU, CUDA": f_kernel, CompositeImplicitAutograd: f_math}
"""


def test_x_is_for_the_slot_of_the_user_in_a_row_of_several(tmp_path: Path) -> None:
    (tmp_path / "same.yaml").write_text(SAME)
    file = str(tmp_path / "same.yaml")
    session = Session(api.load_state([file]), (file,))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(OperatorName.parse("mylib::f"), "CUDA"), "table")
        view = app.query_one(TablePane).view
        await until(pilot, lambda: view.has_focus)
        assert {"CPU", "CUDA"} <= {*view.target.keys}
        await pilot.press("x")
        await until(pilot, lambda: session.whatif.changes)
        assert [change.which.key for change in session.whatif.changes if isinstance(change, Removal)] == ["CUDA"]

    drive(session, steps, (120, 50))


def test_e_opens_what_the_rule_took_and_says_where_there_is_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/")
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    file = "examples/scenarios/10_sparse_bypass.yaml"

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(OperatorName("mylib::norm"), "CPU"), "slot")
        await pilot.pause()
        pane = app.query_one(SlotPane)
        shown = {}
        for number in range(pane.view.choices()):
            pane.view.move_to(number)
            app.clear_notifications()
            pane.action_edit()
            await pilot.pause()
            (notice,) = app._notifications
            shown[type(pane.view.target)] = notice.message
        (span,) = (row.span for row in pane.answer.report.what.registrations if row.kernel == "norm_math")  # type: ignore[union-attr]
        assert f"The place is {span}." in shown[Concerned]
        assert any("There is no place in a file here" in text for text in shown.values())

    drive(Session(api.load_state((file,)), (file,)), steps)
