"""The view of changes, driven by keys, as a user does it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from threading import Event, current_thread, main_thread
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets._toast import Toast

from dispatch_cli.answers.diff.report import DiffReport, diff_report
from dispatch_cli.api import load_state
from dispatch_cli.engine.rules import Rule
from dispatch_cli.explore import change_slots
from dispatch_cli.explore.answers.changes import changes_answer, registrations_answer
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.choose import Choose
from dispatch_cli.explore.help import HelpScreen
from dispatch_cli.explore.pane import Pane
from dispatch_cli.explore.panes.changes import ChangesPane
from dispatch_cli.explore.panes.findings import FindingsPane
from dispatch_cli.explore.panes.slot import SlotPane
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.trying import TO_SAVE
from dispatch_cli.model.change import Addition, Removal
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.data import json_text
from dispatch_cli.render.document import TableBlock
from dispatch_cli.whatif.effect import SlotEffect, slot_changes
from dispatch_cli.whatif.findings import FindingsEffect, findings_effect
from dispatch_cli.whatif.whatif import WhatIf
from dispatch_cli.whatif.written import HEAD
from tests.cli.support import call
from tests.explore.support import drive, flat, newest, screen_text, until
from tests.page.states import state_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WIDE = (200, 60)
SCENARIO = "examples/scenarios/01_composite_override.yaml"


def pane_of(app: ExploreApp) -> ChangesPane:
    return app.query_one(ChangesPane)


async def find_operator(pilot: Pilot[None], name: str) -> None:
    """Type a name, and go to the operator."""
    await pilot.press("slash", "ctrl+u", *name, "enter", "escape")
    await pilot.pause()


async def go_to(app: ExploreApp, pilot: Pilot[None], name: str) -> None:
    """The same without typing, which takes long here."""
    await app.go(Spot(OperatorName.parse(name)), "changes")
    await pilot.pause()


async def found(session: Session, pilot: Pilot[None]) -> None:
    """Wait until findings have been looked for."""
    await until(pilot, lambda: session.whatif.findings is not None, seconds=60)
    await pilot.pause()


async def switch_off(app: ExploreApp, pilot: Pilot[None], key: str) -> None:
    """Put the cursor on the registration at a key, and press x."""
    await pilot.press("4")
    await pilot.pause()
    pane = pane_of(app)
    pane.view.focus()
    number = next(
        number
        for number in range(pane.view.choices())
        if getattr(getattr(pane.view.choice(number).target, "name", None), "key", None) == key
    )
    pane.view.move_to(number)
    await pilot.press("x")
    await pilot.pause()


def test_the_way_out_of_a_composite_override(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Task 1: aten::to.dtype fails at AutogradPrivateUse1; without its kernel, and with one of aten::_to_copy, not."""
    scenario = str(ROOT / SCENARIO)
    monkeypatch.chdir(tmp_path)
    session = Session(load_state([scenario]), (scenario,))
    operator = OperatorName.parse("aten::to.dtype")
    key = "AutogradPrivateUse1"
    assert session.state.dispatcher.table(operator)[key].rule is Rule.MISSING

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> str:
        await go_to(app, pilot, "aten::to.dtype")
        await switch_off(app, pilot, "PrivateUse1")
        await go_to(app, pilot, "aten::_to_copy")
        await pilot.press("4", "a")
        await pilot.pause()
        await pilot.press(*"PrivateUse1", "enter")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press("b", "a")
        await pilot.pause()
        await pilot.press(*"AutocastPrivateUse1", "enter")
        await pilot.pause()
        await pilot.press("down", "enter")
        await found(session, pilot)
        text = pane_of(app).view.text
        await pilot.press("w", "enter")
        return text

    text = drive(session, steps, WIDE)
    assert "3 findings gone" in text and "No finding is new" in text
    assert session.state.dispatcher.table(operator)[key].rule is Rule.MATH
    assert not session.unsaved
    ran = call("check-invariants", scenario, "whatif.yaml")
    assert ran.code == 0, ran.out
    ran = call("explain", "aten::to.dtype", key, scenario, "whatif.yaml", "--format", "json")
    assert '"rule": "math"' in ran.out


def test_what_is_under_the_cpu_kernel() -> None:
    """Task 6: without the CPU kernel, the slot holds what is registered at an alias key; undone by u."""
    session = Session(newest(), ("--base", "torch-2.15"))
    operator = OperatorName.parse("aten::add.Tensor")

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> tuple[str, str]:
        await go_to(app, pilot, "aten::add.Tensor")
        await switch_off(app, pilot, "CPU")
        text = pane_of(app).view.text
        await pilot.press("u")
        await pilot.pause()
        return text, pane_of(app).view.text

    text, undone = drive(session, steps, WIDE)
    assert "RegisterCompositeExplicitAutogradNonFunctional_0.cpp" in text and "1 slot of 1 operator changed" in text
    assert "Nothing is changed" in undone and session.state is session.original
    session.whatif.redo()
    assert session.state.dispatcher.table(operator)["CPU"].rule is Rule.DEFAULT


@pytest.mark.parametrize(
    ("operator", "key"),
    [
        ("aten::linear", "CompositeImplicitAutograd"),
        ("aten::add.Tensor", "CPU"),
        (None, "AutogradXLA"),
        ("aten::abs", "CompositeExplicitAutograd"),
    ],
)
def test_slots_to_which_the_same_happens_are_one_row(operator: str | None, key: str) -> None:
    session = Session(newest(), ("--base", "torch-2.15"))
    there = session.whatif.registrations(None if operator is None else OperatorName.parse(operator))
    session.whatif.apply(*(Removal(registration.name) for registration in there if registration.name.key == key))
    slots = session.whatif.slots
    assert bool(slots) == any(registration.name.key == key for registration in there)
    universe = session.state.dispatcher.universe
    lines = [
        line
        for block in change_slots.blocks(universe, slots, (), ())
        if isinstance(block, TableBlock)
        for line in block.rows
    ]
    places = [slot.place for line in lines for slot in line.slots]
    assert sorted(places, key=str) == sorted((slot.place for slot in slots), key=str)
    assert len(lines) <= 8
    for line in lines:
        operators, keys = [dict.fromkeys(places) for places in zip(*(slot.place for slot in line.slots), strict=True)]
        assert len(line.slots) == len(operators) * len(keys)
        for side in ("before", "after"):
            (rule,) = {getattr(slot, side).rule for slot in line.slots}
            kernels = {getattr(slot, side).kernel and getattr(slot, side).kernel.label for slot in line.slots}
            assert len(kernels) == 1 or rule is Rule.FALLBACK
        assert len({slot.changes for slot in line.slots}) == 1


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_a_row_of_several_slots_lists_them_and_one_leads_to_its_slot(size: tuple[int, int]) -> None:
    session = Session(newest(), ("--base", "torch-2.15"))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await go_to(app, pilot, "aten::linear")
        await switch_off(app, pilot, "CompositeImplicitAutograd")
        view = pane_of(app).view

        def lines() -> list[change_slots.SlotLine]:
            targets = [view.choice(number).target for number in range(view.choices())]
            return [target for target in targets if isinstance(target, change_slots.SlotLine)]

        (first, *_) = before = lines()
        count = len(first.slots)
        assert count > 2
        assert f"({count}" in view.text
        view.move_to(next(n for n in range(view.choices()) if view.choice(n).target is first))
        assert not re.search(rf"  {first.slots[0].operator} +{first.slots[1].key} ", screen_text(app))
        await pilot.press("enter")
        await pilot.pause()
        assert view.target == first
        assert re.search(rf"  {first.slots[0].operator} +{first.slots[1].key} ", screen_text(app))
        assert [line.slots for line in lines()][1 : count + 1] == [(slot,) for slot in first.slots]
        assert len(lines()) == len(before) + count
        await pilot.press("enter")
        await pilot.pause()
        assert lines() == before
        await pilot.press("enter", "down", "down", "enter")
        await pilot.pause()
        assert app.front == "slot"
        assert (app.spot.operator, app.spot.key) == first.slots[1].place

    drive(session, steps, size)


def test_moving_a_registration_makes_slots_stale() -> None:
    """Task 7: CompositeExplicitAutograd after CompositeImplicitAutograd recomputes no autograd slot."""
    session = Session(load_state(["examples/stale.yaml"]), ("examples/stale.yaml",))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> str:
        await find_operator(pilot, "stale::fine")
        await pilot.press("4")
        await pilot.pause()
        pane_of(app).view.focus()
        await pilot.press("right_square_bracket")
        await pilot.pause()
        text = pane_of(app).view.text
        await pilot.press("right_square_bracket")
        await until(
            pilot, lambda: any("It is the last already" in notification.message for notification in app._notifications)
        )
        return text

    text = drive(session, steps, WIDE)
    assert "stale: it should hold" in text and "stale-live-table" in text
    assert session.state.dispatcher.stale_slots(OperatorName.parse("stale::fine"))


def test_the_answer_is_what_the_command_line_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = Session(newest(), ("--base", "torch-2.15"))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> PaneAnswer | None:
        await go_to(app, pilot, "aten::mul.Tensor")
        await switch_off(app, pilot, "CPU")
        await pilot.press("w", "enter")
        await until(pilot, lambda: pane_of(app).answer is not None and not session.unsaved)
        return pane_of(app).answer

    answer = drive(session, steps, WIDE)
    assert answer is not None and answer.command[0] == "diff"
    ran = call(*answer.command, "--format", "json")
    assert ran.out == "".join(json_text(answer.report))


def test_the_command_of_a_saved_what_if_over_sources_finds_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file with the changes stands beside sources, which no base is named for."""
    copytree(ROOT / "examples/backend", tmp_path / "backend")
    monkeypatch.chdir(tmp_path)
    session = Session(state_of(["backend"]), ("backend",))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> PaneAnswer:
        await app.go(Spot(OperatorName("aten::lerp", "Tensor"), "PrivateUse1"), "slot")
        await until(pilot, lambda: bool(app.query(SlotPane)) and app.query_one(SlotPane).answer)
        await pilot.press("x")
        await until(pilot, lambda: session.unsaved)
        await pilot.press("w", "enter")
        await until(pilot, lambda: not session.unsaved)
        await app.go(app.spot, "findings")
        await until(pilot, lambda: app.query_one(FindingsPane).answer)
        answer = app.query_one(FindingsPane).answer
        assert answer is not None
        return answer

    answer = drive(session, steps)
    assert answer.command == ("check-invariants", "backend", "whatif.yaml", "--severity", "info")
    assert call(*answer.command, "--format", "json").out == "".join(json_text(answer.report))
    assert "sibling-disagreement" not in [row.finding.check for row in answer.report.findings]


def test_without_changes_it_is_what_register_prints() -> None:
    session = Session(newest(), ("--base", "torch-2.15"))
    owner = OperatorName.parse("aten::mul.Tensor")
    there = [registration for python in (False, True) for registration in session.whatif.registrations(owner, python)]
    answer = registrations_answer(session, owner, there)
    assert answer is not None
    assert call(*answer.command, "--format", "json").out == "".join(json_text(answer.report))


def test_a_fallback_is_switched_off_without_blocking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All operators are checked again in a thread, which is held here until the slots have been looked at."""
    monkeypatch.chdir(tmp_path)
    session = Session(newest(), ("--base", "torch-2.15"))
    may_search, search = Event(), WhatIf.search

    def held(tried: WhatIf) -> Callable[[], FindingsEffect]:
        find = search(tried)

        def wait() -> FindingsEffect:
            assert may_search.wait(60)
            return find()

        return wait

    monkeypatch.setattr(WhatIf, "search", held)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await go_to(app, pilot, "aten::add.Tensor")
        await pilot.press("4", "b")
        await switch_off_here(app, pilot, "AutocastCPU")
        await until(pilot, lambda: "slots of" in pane_of(app).view.text)
        assert "Findings are being looked for" in pane_of(app).view.text
        may_search.set()
        await found(session, pilot)
        await until(pilot, lambda: "1 finding new" in pane_of(app).view.text)
        assert "no-autocast-fallback" in pane_of(app).view.text

    drive(session, steps, WIDE)


@pytest.mark.parametrize("count", [2, 300])
def test_findings_of_a_large_namespace_are_looked_for_in_a_thread(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some findings depend on all operators of a namespace."""
    file = tmp_path / "my.yaml"
    operator = "  - func: my::op{}(Tensor a) -> Tensor\n    dispatch: {{CPU: k{}}}\n"
    file.write_text("dispatch: 1\noperators:\n" + "".join(operator.format(number, number) for number in range(count)))
    session = Session(load_state([str(file)]), (str(file),))
    in_main: set[bool] = set()

    def effect(*states: Any) -> FindingsEffect:
        in_main.add(current_thread() is main_thread())
        return findings_effect(*states)

    for module in ("whatif", "tried"):
        monkeypatch.setattr(f"dispatch_cli.whatif.{module}.findings_effect", effect)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await go_to(app, pilot, "my::op1")
        await switch_off(app, pilot, "CPU")
        await until(pilot, lambda: " new" in pane_of(app).view.text, seconds=60)

    drive(session, steps, WIDE)
    assert in_main == {count == 2}


async def switch_off_here(app: ExploreApp, pilot: Pilot[None], key: str) -> None:
    await pilot.pause()
    pane = pane_of(app)
    number = next(number for number in range(pane.view.choices()) if pane.view.choice(number).target.name.key == key)
    pane.view.focus()
    pane.view.move_to(number)
    await pilot.press("x")
    await pilot.pause()


def test_what_is_refused_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = Session(newest(), ("--base", "torch-2.15"))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(OperatorName.parse("aten::add.Tensor"), "CPU"), "changes")
        await pilot.pause()
        await pilot.press("b", "a")
        await pilot.pause()
        await pilot.press(*"AutogradXLA", "enter")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        # PyTorch's text: c10/core/dispatch/Dispatcher.cpp, registerFallback
        refused = "Tried to register multiple backend fallbacks for the same dispatch key AutogradXLA"
        await until(pilot, lambda: any(refused in notification.message for notification in app._notifications))

    drive(session, steps, WIDE)
    assert not session.whatif.changes


def test_a_search_for_findings_that_fails_shows_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def search() -> FindingsEffect:
        raise ValueError("no search today")

    monkeypatch.setattr(WhatIf, "search", lambda _: search)
    session = Session(newest(), ("--base", "torch-2.15"))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await go_to(app, pilot, "aten::add.Tensor")
        await pilot.press("4", "b")
        await switch_off_here(app, pilot, "AutogradXLA")
        await until(pilot, lambda: "ValueError: no search today" in screen_text(app))

    drive(session, steps, WIDE, fails=True)


def test_a_change_is_taken_back_by_x() -> None:
    session = Session(newest(), ("--base", "torch-2.15"))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await go_to(app, pilot, "aten::add.Tensor")
        await switch_off(app, pilot, "CPU")
        assert [type(change) for change in session.whatif.changes] == [Removal]
        await pilot.press("home", "x")

    drive(session, steps, WIDE)
    assert not session.whatif.changes


def test_leaving_without_the_changes_is_asked_for_twice() -> None:
    session = Session(newest(), ("--base", "torch-2.15"))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await go_to(app, pilot, "aten::add.Tensor")
        await switch_off(app, pilot, "CPU")
        await pilot.press("q")
        assert app.is_running and session.unsaved
        await pilot.press("q")
        await until(pilot, lambda: app._exit)

    drive(session, steps)


def test_what_is_written_is_said_and_covers_no_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is there stays: another name is proposed."""
    monkeypatch.chdir(tmp_path)
    Path("whatif.yaml").write_text(f"{HEAD}dispatch: 1\n# of yesterday\n", encoding="utf-8")
    session = Session(newest(), ("--base", "torch-2.15"))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await go_to(app, pilot, "aten::add.Tensor")
        await switch_off(app, pilot, "CPU")
        await pilot.press("w", "enter")
        text = "Written: whatif-2.yaml."
        await until(pilot, lambda: any(notification.message.startswith(text) for notification in app._notifications))
        await until(pilot, lambda: app.query(Toast))
        command = "dispatch-cli diff torch-2.15 whatif-2.yaml --base torch-2.15 --op aten::add.Tensor"
        await until(pilot, lambda: command in flat(screen_text(app)))
        await pilot.pause()
        notice, line = app.query_one(Toast).region, app.command_bar.region
        assert not notice.overlaps(line), (notice, line)

    drive(session, steps, (80, 24))
    assert Path("whatif.yaml").read_text(encoding="utf-8").endswith("# of yesterday\n")


def test_changes_are_written_to_the_file_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Places in it have its name from then on, and undo goes back over the writing."""
    monkeypatch.chdir(tmp_path)
    session = Session(newest(), ("--base", "torch-2.15"))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await go_to(app, pilot, "aten::add.Tensor")
        await switch_off(app, pilot, "CPU")
        await pilot.press("w", "escape", "w", "ctrl+u", *"mine.yaml", "enter")
        await until(pilot, lambda: not session.unsaved)
        assert "mine.yaml" in app.command_bar.line
        await pilot.press("u")
        assert not session.whatif.changes
        await pilot.press("ctrl+r")
        assert (
            session.whatif.state.dispatcher.table(OperatorName.parse("aten::add.Tensor"))["CPU"].rule is not Rule.KERNEL
        )

    drive(session, steps)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]
    ran = call("table", "--base", "torch-2.15", "mine.yaml", "--op", "aten::add.Tensor")
    assert ran.code == 0, ran.out


def said(app: ExploreApp) -> list[str]:
    return [notification.message for notification in app._notifications]


def test_without_a_working_directory_nothing_is_written_and_leaving_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, gone = tmp_path / "my.yaml", tmp_path / "gone"
    file.write_text("dispatch: 1\noperators:\n  - func: my::op(Tensor a) -> Tensor\n    dispatch: {CPU: k}\n")
    session = Session(load_state([str(file)]), (str(file),))
    gone.mkdir()
    monkeypatch.chdir(gone)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await go_to(app, pilot, "my::op")
        await switch_off(app, pilot, "CPU")
        gone.rmdir()
        await pilot.press("w", "enter")
        await until(pilot, lambda: any("the working directory is not there any more" in text for text in said(app)))
        await pilot.press("q")
        await until(pilot, lambda: any("The changes are not written" in text for text in said(app)))
        assert app.is_running

    drive(session, steps)


async def ask_kernel(app: ExploreApp, pilot: Pilot[None], key: str) -> None:
    """Ask what is to be registered for aten::add.Tensor at a key."""
    await go_to(app, pilot, "aten::add.Tensor")
    await pilot.press("4", "a")
    await pilot.pause()
    await pilot.press(*key, "enter")
    await pilot.pause()


def test_what_is_typed_is_the_name_of_the_new_kernel() -> None:
    session = Session(newest(), ("--base", "torch-2.15"))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await ask_kernel(app, pilot, "PrivateUse1")
        await pilot.press(*"my", "space", *"kernel", "enter")
        await pilot.pause()
        assert isinstance(app.screen, Choose) and "no blanks" in flat(screen_text(app))
        await pilot.press("ctrl+u", *"my_kernel", "enter")
        await pilot.pause()
        assert not isinstance(app.screen, Choose)

    drive(session, steps)
    (added,) = session.whatif.changes
    assert isinstance(added, Addition) and isinstance(added.kernel, Kernel)
    assert (added.key, added.kernel.function) == ("PrivateUse1", "my_kernel")
    assert 'kernel: "my_kernel"' in session.whatif.text


def test_an_unknown_key_is_said_and_can_be_corrected() -> None:
    session = Session(newest(), ("--base", "torch-2.15"))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await ask_kernel(app, pilot, "PrivatUse1")
        assert isinstance(app.screen, Choose)
        assert "There is no 'PrivatUse1' here; did you mean PrivateUse1?" in flat(screen_text(app))

    drive(session, steps)
    assert not session.whatif.changes


@pytest.fixture
def _no_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is found with a fallback switched off; other tests look for it, which takes seconds."""
    monkeypatch.setattr(WhatIf, "search", lambda _: FindingsEffect)


@pytest.mark.usefixtures("_no_findings")
@pytest.mark.parametrize("view", ["1", "2"])
def test_that_a_backend_fallback_is_of_all_operators_is_said(view: str) -> None:
    session = Session(newest(), ("--base", "torch-2.15"))
    dispatcher = session.state.dispatcher
    name = next(name for name in dispatcher if dispatcher.table(name)["AutogradXLA"].rule is Rule.FALLBACK)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(name, "AutogradXLA"), "table" if view == "1" else "slot")
        await pilot.pause()
        await pilot.press(view)
        await pilot.pause()
        await pilot.press("x")
        if view == "1":  # the row has twelve
            await pilot.pause()
            await pilot.press("enter")
        text = "The backend fallback at AutogradXLA is off for all operators; 4 shows the slots that it filled."
        await until(pilot, lambda: any(notice.startswith(text) for notice in said(app)))
        await pilot.press("question_mark")
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)
        assert "a backend fallback, for all operators" in flat(app.screen._text().plain)

    drive(session, steps)


@pytest.mark.usefixtures("_no_findings")
def test_the_slots_of_a_fallback_are_looked_for_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Meanwhile keys go on, and What if says what is being done; undo and redo find the same."""
    session = Session(newest(), ("--base", "torch-2.15"))
    dispatcher = session.state.dispatcher
    filled = {str(name) for name in dispatcher if dispatcher.table(name)["AutogradXLA"].rule is Rule.FALLBACK}
    name = next(name for name in dispatcher if str(name) in filled)
    may_look, in_screen = Event(), list[bool]()

    def held(*arguments: Any) -> list[SlotEffect]:
        if arguments[2].keys:  # without a fallback, few operators are compared
            in_screen.append(current_thread() is main_thread())
            assert in_screen[-1] or may_look.wait(60)
        return slot_changes(*arguments)

    monkeypatch.setattr("dispatch_cli.whatif.tried.slot_changes", held)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(name, "AutogradXLA"), "slot")
        await pilot.pause()
        await pilot.press("x", "4")
        await until(pilot, lambda: "Slots that change are being looked for" in screen_text(app))
        await pilot.press("1")  # other keys go on, and show the state that is tried
        await until(pilot, lambda: app.front == "table")
        assert session.state.dispatcher.table(name)["AutogradXLA"].rule is not Rule.FALLBACK
        assert not session.whatif.has_slots and not app.catalogue.tried
        await pilot.press("4")
        may_look.set()
        await until(pilot, lambda: f"{len(filled)} slots of {len(filled)} operators changed" in screen_text(app), 60)
        assert app.catalogue.tried == filled
        await pilot.press("u", "ctrl+r")
        await until(pilot, lambda: f"{len(filled)} slots of {len(filled)} operators changed" in screen_text(app), 60)

    drive(session, steps, WIDE)
    assert in_screen and not any(in_screen)
    whatif = session.whatif
    assert {str(slot.operator) for slot in whatif.slots} == filled and {slot.changes for slot in whatif.slots} == {(1,)}
    again = WhatIf(session.original)
    again.apply(*whatif.changes)
    assert [(slot.place, slot.changes) for slot in again.slots] == [(slot.place, slot.changes) for slot in whatif.slots]


@pytest.mark.usefixtures("_no_findings")
def test_all_operators_are_compared_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a backend fallback. Meanwhile keys go on, nothing of the time before is shown, and what is done is said."""
    session = Session(newest(), ("--base", "torch-2.15"))
    name = next(name for name in session.state.dispatcher)
    may_compare, threads = Event(), list[bool]()

    def held(*arguments: Any) -> DiffReport:
        threads.append(current_thread() is main_thread())
        assert threads[-1] or may_compare.wait(60)
        return diff_report(*arguments)

    monkeypatch.setattr("dispatch_cli.explore.answers.changes.diff_report", held)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(name), "changes")
        await until(pilot, lambda: "Nothing is changed" in screen_text(app))
        await app.go(Spot(name, "AutogradXLA"), "slot")
        await pilot.pause()
        await pilot.press("x", "4")
        await until(pilot, lambda: "without the backend fallback at AutogradXLA" in flat(screen_text(app)))
        shown = flat(screen_text(app))
        assert "Nothing is changed" not in shown and "no command line" not in shown
        assert "Looking for what changes" in shown and not any(threads)
        await pilot.press("u")
        await until(pilot, lambda: "Nothing is changed" in screen_text(app))
        assert "register" in app.command_bar.line
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "Looking for what changes" in screen_text(app))
        may_compare.set()
        await until(pilot, lambda: app.command_bar.line.startswith("dispatch-cli diff"), seconds=60)
        assert pane_of(app).answer == changes_answer(session)

    drive(session, steps, WIDE)


def test_a_notice_is_there_once_and_goes_with_the_next_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dispatch_cli.explore.noticing.SEEN", 60)  # however slow the machine is
    session = Session(newest(), ("--base", "torch-2.15"))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await go_to(app, pilot, "aten::add.Tensor")
        await pilot.press("4", "b", "b")
        await pilot.pause()
        for _ in range(3):
            app.notify("There is no place to open here.")
            await pilot.pause()
        assert said(app) == ["There is no place to open here."]
        await until(pilot, lambda: app.query(Toast))
        await pilot.press("down")
        assert said(app), "it can just be seen"
        monkeypatch.setattr("dispatch_cli.explore.noticing.SEEN", 0)
        await pilot.press("down")
        await until(pilot, lambda: not app.query(Toast))

    drive(session, steps, (80, 24))


def test_a_file_that_a_command_does_not_name_is_not_said_to_be_written() -> None:
    """Removed ones are in the state without the changes, and the command that prints it has no file of changes."""
    session = Session(newest(), ("--base", "torch-2.15"))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await find_operator(pilot, "aten::mul.Tensor")
        await switch_off(app, pilot, "CPU")
        await until(pilot, lambda: session.unsaved)
        answer = PaneAnswer(None, session.command("table"))
        for shown_answer, is_said in (
            (answer, True),
            (answer._replace(command=session.command_before("table")), False),
        ):
            view = app.stage.views[app.front]
            assert isinstance(view, Pane)
            view.answer = shown_answer
            app.show_command()
            assert (TO_SAVE in app.command_bar.note) == is_said

    drive(session, steps, WIDE)


def test_rows_that_are_gone_have_a_line_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    text = "dispatch: 1\noperators:\n- func: lib::b(Tensor x) -> Tensor\n  dispatch: {Autograd: b_autograd}\n"
    file.write_text(text, encoding="utf-8")

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("4")
        await until(pilot, lambda: app.front == "changes")
        await pilot.press("x", "5")
        await until(pilot, lambda: "marked -: no longer found" in screen_text(app))
        line = next(line for line in screen_text(app).splitlines() if "marked -" in line)
        assert "All checks passed" not in line
        assert "\\n" not in line

    drive(Session(load_state((str(file),)), (str(file),)), steps)
