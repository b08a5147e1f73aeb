"""Texts on the screen follow the state: after changes on trial, and after files have changed."""

from __future__ import annotations

from pathlib import Path
from threading import current_thread, main_thread

import pytest
from textual.events import AppFocus
from textual.pilot import Pilot

from dispatch_cli.answers.explain.advice_report import Change
from dispatch_cli.api import load_state
from dispatch_cli.engine.state import State
from dispatch_cli.explore.answers.slot import ToSwitchedOff
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.background import snapshot
from dispatch_cli.explore.panes import slot
from dispatch_cli.explore.panes.slot import SlotPane
from dispatch_cli.explore.session import CannotRead, Session, Spot
from dispatch_cli.model.changes.change import RegistrationName, Removal
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError
from tests.explore.support import drive, flat, screen_text, until

pytestmark = pytest.mark.slow

SCENARIO = "examples/scenarios/01_composite_override.yaml"
OPERATOR = """dispatch: 1
operators:
  - func: my::op(Tensor a) -> Tensor
    dispatch:
      CompositeExplicitAutograd: my_explicit
      CompositeImplicitAutograd: my_math
"""


def session_of(file: Path) -> Session:
    """A session over a file, which can be read again."""

    def read() -> tuple[State, None]:
        try:
            return load_state([str(file)]), None
        except InputError as error:
            raise CannotRead(str(error), error.problems) from None

    return Session(read()[0], (str(file),), read)


def said(app: ExploreApp) -> str:
    """The notices."""
    return "\n".join(notification.message for notification in app._notifications)


def test_a_file_is_read_again(tmp_path: Path) -> None:
    """Changes on trial stay where they can still be made; the others are named."""
    file = tmp_path / "my.yaml"
    file.write_text(OPERATOR, encoding="utf-8")
    more = OPERATOR + "  - func: my::other(Tensor a) -> Tensor\n"
    name = OperatorName.parse("my::op")

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("enter", "4", "x")
        removal = Removal(RegistrationName(name, "CompositeExplicitAutograd", number=1))
        assert app.session.whatif.changes == (removal,)
        file.write_text(more.replace("my_math", "new_math"), encoding="utf-8")
        await pilot.press("f5", "1")
        await until(pilot, lambda: "new_math" in screen_text(app))
        assert [entry.name for entry in app.catalogue.entries][:2] == ["my::op", "my::other"]
        assert app.session.whatif.changes == (removal,)
        assert name in app.session.state.dispatcher
        assert "CompositeExplicitAutograd" not in app.session.state.dispatcher.active(name)
        file.write_text(more.replace("      CompositeExplicitAutograd: my_explicit\n", ""), encoding="utf-8")
        await pilot.press("f5")
        await until(pilot, lambda: "cannot be made any more" in said(app))
        assert not app.session.whatif.changes

    drive(session_of(file), steps)


@pytest.mark.parametrize("view", ["1", "2", "3"])
def test_an_operator_that_is_gone_has_no_kernel_to_switch_off(view: str, tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text(OPERATOR, encoding="utf-8")

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("enter", view)
        file.write_text("dispatch: 1\n", encoding="utf-8")
        await pilot.press("f5")
        await until(pilot, lambda: not app.catalogue.entries)
        await pilot.press("x")
        assert not app.session.whatif.changes

    drive(session_of(file), steps)


def test_a_broken_file_shows_its_errors_and_the_state_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path("my.yaml")  # the screen has room for such a name in one line
    file.write_text(OPERATOR, encoding="utf-8")

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        before = app.session.state
        file.write_text(OPERATOR.replace("dispatch:\n", "dispatsch:\n", 1), encoding="utf-8")
        await pilot.press("f5")
        await until(pilot, lambda: "my.yaml:4:5" in screen_text(app))
        assert "did you mean" in screen_text(app)
        assert app.session.state is before
        await pilot.press("escape")
        assert "my_explicit" in screen_text(app)

    drive(session_of(file), steps)


def test_a_file_that_changed_meanwhile_is_named(tmp_path: Path) -> None:
    file = tmp_path / "my.yaml"
    file.write_text(OPERATOR, encoding="utf-8")

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: app.files.changed() == [] and app.files._stamps)
        app.post_message(AppFocus())
        await pilot.pause()
        assert not said(app)
        file.write_text(f"{OPERATOR}\n", encoding="utf-8")
        app.post_message(AppFocus())
        await until(pilot, lambda: "my.yaml changed on disk: f5 reads the files again" in said(app))

    drive(session_of(file), steps)


def test_advice_is_tried_by_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reported problem: no autograd kernel, and what explain advises first. Keys wait for no copy of the state."""
    copied_in = []

    def copied(state: State) -> State:
        copied_in.append(current_thread())
        return snapshot(state)

    monkeypatch.setattr(slot, "snapshot", copied)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        name, key = OperatorName.parse("aten::to.dtype"), "PrivateUse1"
        await app.go(Spot(name, f"Autograd{key}"), "slot")
        view = app.query_one(SlotPane).view
        await until(pilot, lambda: "Advice: " in flat(view.text))
        number = next(n for n in range(view.choices()) if isinstance(view.choice(n).target, Change))
        advised = view.choice(number).target
        view.move_to(number)
        view.scroll_end(animate=False)
        await pilot.press("enter")
        await until(pilot, lambda: app.session.unsaved)
        assert [str(change) for change in app.session.whatif.changes] == [
            str(Removal(RegistrationName(name, key, number=1)))
        ]
        notices = " ".join(notification.message for notification in app._notifications)
        assert "Its second step is yours: register the operators that aten::to.dtype decomposes to at" in notices
        # the advice is gone, and the cursor is on what is switched off
        await until(pilot, lambda: view.scroll_offset.y == 0 and isinstance(view.target, ToSwitchedOff))
        await until(pilot, lambda: "Looking for what would help" not in screen_text(app))
        assert view.target.which == RegistrationName(name, key, number=1)
        fills = advised.fills
        entry = app.session.state.dispatcher.table(OperatorName.parse("aten::to.dtype"))[fills.key]
        assert (entry.rule, entry.decision.source) == (fills.rule, fills.source)
        await pilot.press("u")
        assert not app.session.whatif.changes
        assert copied_in
        assert main_thread() not in copied_in

    drive(Session(load_state([SCENARIO]), (SCENARIO,)), steps, size=(120, 60))
