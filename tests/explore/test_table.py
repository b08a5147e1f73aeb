"""The views of tables and slots: their reports are what their command lines print, and they show what is in them."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.pilot import Pilot

from dispatch_cli import api
from dispatch_cli.answers.shared.slot_row import TableRow
from dispatch_cli.answers.table.grid_document import cell_of
from dispatch_cli.engine.rules import Rule
from dispatch_cli.explore.answers.slot import slot_answer
from dispatch_cli.explore.answers.table import Resolver, TableOptions, table_answer
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.cells_view import CellsView
from dispatch_cli.explore.choose import Choose
from dispatch_cli.explore.pane import Pane
from dispatch_cli.explore.panes.slot import SlotPane
from dispatch_cli.explore.panes.table import TablePane
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.slot_blocks import ToRegistration, ToSwitchedOff
from dispatch_cli.explore.switch import filling, switch_off
from dispatch_cli.explore.table_rows import cpp_rows
from dispatch_cli.model.change import Removal
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.data import json_text
from dispatch_cli.render.text_lines import line_width
from dispatch_cli.render.words import short_kernel
from tests.cli.support import call
from tests.explore.support import drive as drive_app
from tests.explore.support import newest, until

EXAMPLES = Path(__file__).parents[2] / "examples"
BASE = ("--base", "torch-2.15")
SOURCES: dict[str, tuple[str, ...]] = {
    "the base": BASE,
    "files over it": ("examples/overlay.yaml", "examples/stale.yaml"),
    "a backend": ("examples/out_of_tree_backend.yaml",),
    "not known": (*BASE, "--base", "torch-2.15-mps"),
}


@cache
def session_of(name: str) -> Session:
    """A session over files or embedded states, loaded as the command line loads them."""
    arguments = SOURCES[name]
    files = [argument for argument in arguments if argument.endswith(".yaml")]
    bases = tuple(argument for argument in arguments if argument.startswith("torch-"))
    return Session(api.load_state(files, bases=bases), arguments)


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES.parent)


def printed(answer: PaneAnswer) -> str:
    """JSON that the command line of an answer prints."""
    result = call(*answer.command, "--format", "json")
    assert result.code == 0, result.err
    return result.out


def same(answer: PaneAnswer | None) -> PaneAnswer:
    """The answer, which is the one that its command line prints."""
    assert answer is not None
    assert "".join(json_text(answer.report)) == printed(answer)
    return answer


def spots(session: Session, count: int, seed: int) -> Iterator[Spot]:
    """Random operators and slots; first those that the files say something of."""
    chance, dispatcher = random.Random(seed), session.state.dispatcher
    names = [OperatorName.parse(name) for name in chance.sample(dispatcher.names(), min(count, len(dispatcher)))]
    own = session.state.own_operators() if session.state.base is not None else []
    for name in [*own, *names][:count]:
        yield Spot(name, chance.choice(dispatcher.universe.slots))


COUNTS = {"the base": 40, "files over it": 12, "a backend": 8, "not known": 8}


@pytest.mark.parametrize("name", COUNTS)
def test_what_is_shown_is_what_the_command_prints(name: str) -> None:
    session, chance = session_of(name), random.Random(5)
    for spot in spots(session, COUNTS[name], 4):
        options = TableOptions(
            grid=chance.random() < 0.5,
            every=chance.random() < 0.5,
            resolver=chance.choice([*Resolver]),
            keys=chance.choice(("", "cuda", "*Meta")),
        )
        same(table_answer(session, spot, options))
        same(slot_answer(session, spot))


def test_keys_without_a_slot() -> None:
    session = session_of("the base")
    for key in ("CompositeImplicitAutograd", "Autograd", "Sparse", "AutogradFunctionality"):
        same(slot_answer(session, Spot(OperatorName.parse("aten::add.Tensor"), key)))
    assert slot_answer(session, Spot(OperatorName.parse("aten::add.Tensor"), "Nothing")) is None


def test_higher_order_operators() -> None:
    session = session_of("the base")
    for name in ("cond", "while_loop", "flex_attention"):
        same(table_answer(session, Spot(higher_order=name), TableOptions(True, False, Resolver.PYTHON)))
        for key in ("CUDA", "AutogradCPU", "Autograd", "FakeTensorMode", "transform=Vmap"):
            same(slot_answer(session, Spot(None, key, name)))


class Panes(App[None]):
    """The two views beside each other, and what they told."""

    CSS = "TablePane, SlotPane { width: 1fr; }"

    def __init__(self, session: Session, spot: Spot) -> None:
        super().__init__()
        self.session = session
        self.spot = spot
        self.went: list[Pane.Went] = []
        self.places: list[str] = []

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield TablePane(self.session, id="pane-table")
            yield SlotPane(self.session, id="pane-slot")

    def on_mount(self) -> None:
        for pane in self.query(Pane):
            pane.open(self.spot)
        self.table.view.focus()

    @property
    def table(self) -> TablePane:
        return self.query_one(TablePane)

    @property
    def slot(self) -> SlotPane:
        return self.query_one(SlotPane)

    def on_pane_went(self, message: Pane.Went) -> None:
        self.went.append(message)
        self.slot.open(message.spot)
        if message.pane == "slot":
            self.slot.view.focus()

    def on_pane_edited(self, message: Pane.Edited) -> None:  # noqa: ARG002
        self.table.open(self.spot)
        self.slot.open(self.spot)

    def on_pane_open_place(self, message: Pane.OpenPlace) -> None:
        self.places.append(str(message.span))


Steps = Callable[[Panes, Pilot[None]], Coroutine[Any, Any, None]]


def drive(session: Session, spot: Spot, steps: Steps, size: tuple[int, int]) -> None:
    async def run() -> None:
        app = Panes(session, spot)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await steps(app, pilot)

    asyncio.run(run())


ADD = Spot(OperatorName.parse("aten::add.Tensor"), "CUDA")


def by_key(rows: Sequence[TableRow]) -> Mapping[str, TableRow]:
    return {row.key: row for row in rows}


def line_text(view: CellsView, number: int) -> str:
    return "".join(run.text for run in view.line_at(number))


@pytest.mark.parametrize("width", [100, 400])
def test_the_cells_show_the_fields_of_the_report(width: int) -> None:
    session = session_of("files over it")

    async def steps(app: Panes, _: Pilot[None]) -> None:
        for spot in spots(session, 12, 8):
            app.table.options = TableOptions()
            app.table.open(spot)
            for change in (None, app.table.action_toggle_every, app.table.action_toggle_grid):
                if change is not None:
                    change()
                answer = app.table.answer
                assert answer is not None
                (report,) = answer.report.operators
                rows, view = by_key(report.entries), app.table.view
                shown = [key for target in view.cells.targets for key in target.place.keys]
                assert len(shown) == len(set(shown))
                if change is not None:
                    assert set(shown) == set(rows)
                for target in view.cells.targets:
                    check(view, target, rows, grid=app.table.options.grid, whole=width == 400)

    drive(session, ADD, steps, (width, 40))


def essence(row: TableRow) -> tuple[object, ...]:
    """Facts that slots must have in common to share a row; PyTorch's own fallbacks differ in their line alone."""
    return (
        row.rule,
        None if row.core_fallback else row.kernel,
        row.live_kernel if row.stale else None,
        row.before,
        row.blockers,
        row.otherwise,
    )


def check(view: CellsView, target: Any, rows: Mapping[str, TableRow], grid: bool, whole: bool) -> None:
    """Check that the line of a target shows what the report says of all of its slots."""
    place = target.place
    text = " ".join(line_text(view, number) for number in range(target.first, target.end))
    assert {essence(rows[key]) for key in place.keys} == {essence(place.row)}
    row = rows[place.keys[0]]
    assert row == place.row
    if grid:
        code = "".join(mark.text for mark in cell_of(row).marks)
        assert line_text(view, target.first)[target.x : target.x + target.width].strip().startswith(code)
        return
    assert ("!" in text.split(place.keys[0])[0]) == (row.stale and row.before is None)
    assert (row.rule.value in text) or (row.rule.dump_text in text)
    if whole and row.kernel is not None and not row.core_fallback and not row.fallthrough:
        assert short_kernel(row.kernel) in text
    if whole and row.span is not None:
        assert str(row.span) in text
    if row.stale:
        assert "stale:" in text
    if row.before is not None:
        assert "before:" in text


@pytest.mark.parametrize("name", ["aten::_cudnn_rnn_backward", "aten::abs"])
@pytest.mark.parametrize("width", [40, 56, 76])
@pytest.mark.parametrize("every", [False, True])
def test_rows_are_cut_and_a_title_keeps_its_start(name: str, width: int, every: bool) -> None:
    session = session_of("the base")
    answer = table_answer(session, Spot(OperatorName.parse(name)), TableOptions())
    assert answer is not None
    (operator,) = answer.report.operators
    shown = cpp_rows(operator, session.state.dispatcher.universe, {}, every, width)
    title, *further, _ = ["".join(run.text for run in line) for line in shown.top]
    assert title.startswith(f"{name}(")
    assert len(operator.schema) <= width * 2 or (len(further) == 1 and further[0].endswith("…"))
    for target in shown.targets:
        assert target.end == target.first + 1
        line, keys = shown.lines[target.first], target.place.keys
        assert line_width(line) <= width
        if len(keys) > 2:
            assert f"({len(keys)})" in "".join(run.text for run in line)


def test_the_cursor_goes_to_the_key_and_the_slot_follows_it() -> None:
    async def steps(app: Panes, pilot: Pilot[None]) -> None:
        assert app.table.place is not None
        assert app.table.place.keys == ("CUDA",)
        await pilot.press("down")
        await pilot.pause()
        assert app.went[-1].spot.key == app.table.place.keys[0] == "HIP"
        assert app.slot.answer is not None
        assert app.slot.answer.report.what.key == "HIP"
        await pilot.press("enter")
        await pilot.pause()
        assert app.went[-1].pane == "slot"

    drive(session_of("the base"), ADD, steps, (160, 40))


def test_a_click_goes_to_a_cell_and_a_second_one_opens_it() -> None:
    async def steps(app: Panes, pilot: Pilot[None]) -> None:
        await pilot.press("v")
        view = app.table.view
        target = next(target for target in view.cells.targets if target.place.keys == ("SparseCPU",))
        where = (target.x + 2, target.first + len(view.cells.top))
        await pilot.click(view, offset=where)
        await pilot.pause()
        assert (app.went[-1].spot.key, app.went[-1].pane) == ("SparseCPU", None)
        await pilot.click(view, offset=where)
        await pilot.pause()
        assert (app.went[-1].spot.key, app.went[-1].pane) == ("SparseCPU", "slot")

    drive(session_of("the base"), ADD, steps, (200, 60))


def test_keys_are_filtered_while_they_are_typed() -> None:
    async def steps(app: Panes, pilot: Pilot[None]) -> None:
        await pilot.press("f", "x", "p", "u")
        await pilot.pause()
        answer = app.table.answer
        assert answer is not None
        assert answer.command[-4:] == ("--op", "aten::add.Tensor", "--key", "*xpu*")
        keys = [row.key for row in answer.report.operators[0].entries]
        assert keys == [key for key in app.table.session.state.dispatcher.universe.slots if "XPU" in key] != []
        await pilot.press("escape")
        await pilot.pause()
        assert app.table.answer is not None
        assert "--key" not in app.table.answer.command
        assert app.table.view.has_focus

    drive(session_of("the base"), ADD, steps, (100, 30))


def test_a_registration_opens_at_its_place_and_advice_comes_later() -> None:
    session = session_of("files over it")

    async def steps(app: Panes, pilot: Pilot[None]) -> None:
        assert app.slot.answer is not None
        view = app.slot.view
        view.focus()
        numbers = [n for n in range(view.choices()) if isinstance(view.choice(n).target, ToRegistration)]
        placed = [n for n in numbers if view.choice(n).target.concerned.span is not None]
        view.move_to(placed[0])
        await pilot.press("e")
        await pilot.press("enter")
        await pilot.pause()
        assert app.places == [str(view.choice(placed[0]).target.concerned.span)] * 2
        whole = slot_answer(session, app.spot)
        for _ in range(100):
            if app.slot.answer == whole:
                break
            await pilot.pause(0.05)
        assert app.slot.answer == whole

    drive(session, Spot(OperatorName.parse("aten::to.dtype"), "PrivateUse1"), steps, (160, 50))


def test_what_a_change_on_trial_changes_is_marked() -> None:
    session = Session(api.load_state((), bases=("torch-2.15",)), BASE)
    kernels = session.state.dispatcher.operator(ADD.operator).kernels  # type: ignore[arg-type]

    async def steps(app: Panes, pilot: Pilot[None]) -> None:
        await pilot.press("x")
        await pilot.pause()
        (change,) = session.whatif.changes
        assert isinstance(change, Removal)
        assert (change.which.operator, change.which.key) == (ADD.operator, "CUDA")
        assert app.table.answer is not None
        view, rows = app.table.view, by_key(app.table.answer.report.operators[0].entries)
        assert (rows["CUDA"].rule, rows["CUDA"].source) == (Rule.DEFAULT, "CompositeExplicitAutogradNonFunctional")
        target = next(target for target in view.cells.targets if "CUDA" in target.place.keys)
        lines = [line_text(view, number) for number in range(target.first, target.end)]
        assert lines[0].startswith("~ CUDA")
        assert "before the trial:" in lines[1]
        assert short_kernel(kernels["CUDA"][0].kernel.debug).partition(":")[0] in lines[1]
        assert "~ changed on trial (1 slot)" in view_text(view)
        await pilot.press("v")
        target = next(target for target in view.cells.targets if "CUDA" in target.place.keys)
        assert line_text(view, target.first)[target.x : target.x + 4] == "K→D~"
        assert "~ Before the changes on trial, CUDA held" in app.slot.view.text
        assert "holds the same" not in app.slot.view.text
        view = app.slot.view
        view.focus()
        view.move_to(next(n for n in range(view.choices()) if isinstance(view.choice(n).target, ToSwitchedOff)))
        await pilot.press("x")
        await pilot.pause()
        assert session.whatif.changes == ()
        assert "on trial" not in view.text + view_text(app.table.view)

    drive(session, ADD, steps, (200, 60))


SAME = """
dispatch: 1
operators:
  - func: mylib::f(Tensor x) -> Tensor
    dispatch: {"CPU, CUDA": f_kernel, CompositeImplicitAutograd: f_math}
"""


@pytest.mark.parametrize(("keys", "off"), [((), ["CUDA"]), (("up", "up"), ["CPU", "CUDA"])])
def test_x_asks_which_of_the_registrations_of_a_row(tmp_path: Path, keys: tuple[str, ...], off: list[str]) -> None:
    (tmp_path / "same.yaml").write_text(SAME)
    file = str(tmp_path / "same.yaml")
    session = Session(api.load_state([file]), (file,))
    spot = Spot(OperatorName.parse("mylib::f"), "CUDA")

    async def steps(app: Panes, pilot: Pilot[None]) -> None:
        assert app.table.place is not None
        assert app.table.place.keys == ("CPU", "CUDA")
        await pilot.press("x")
        assert isinstance(app.screen, Choose)
        text = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "Which registration is to be switched off?" in text
        assert "all 2" in text
        for key in keys:
            await pilot.press(*([key] if key == "up" else key))
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert [change.which.key for change in session.whatif.changes if isinstance(change, Removal)] == off
        messages = [notification.message for notification in app._notifications]
        assert messages == (
            ["2 registrations are off, at CPU, CUDA. u switches them on again."] if len(off) > 1 else []
        )
        session.whatif.undo()
        assert not session.whatif.changes

    drive(session, spot, steps, (120, 50))


def test_the_command_line_with_changes_reads_their_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = Session(api.load_state((), bases=("torch-2.15",)), BASE)
    changed = [Spot(OperatorName.parse(name), "CPU") for name in ("aten::round_", "aten::rand_like.generator")]
    for spot in changed:
        one = filling(session, spot)
        assert one is not None
        switch_off(session, spot, [one])
    session.whatif.write()
    for spot in (*changed, ADD):
        same(table_answer(session, spot))
        same(slot_answer(session, spot))


def view_text(view: CellsView) -> str:
    return "\n".join(line_text(view, number) for number in range(view.line_count()))


HOSTILE = "[bold red]x[/] [@click=app.quit]y[/] $foo {z}"


def test_names_of_kernels_are_data(tmp_path: Path) -> None:
    file = tmp_path / "hostile.json"
    kernels = {"CPU": HOSTILE, "CompositeExplicitAutograd": f"{HOSTILE} 2"}
    operator = {"func": "my::op(Tensor x) -> Tensor", "dispatch": kernels}
    file.write_text(json.dumps({"dispatch": 1, "operators": [operator]}), encoding="utf-8")
    session = Session(api.load_state([str(file)], allow_outside=True), (str(file),))

    async def steps(app: Panes, pilot: Pilot[None]) -> None:
        for key in ("", "v", "p", "p", "x"):
            if key:
                await pilot.press(key)
            await pilot.pause(0.2)
            drawn = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
            assert all(sign.isprintable() or sign == "\n" for sign in drawn)
        assert f"{HOSTILE} 2" in " ".join(app.slot.view.text.split())

    drive(session, Spot(OperatorName.parse("my::op"), "CPU"), steps, (200, 40))


def test_the_table_of_another_operator_stands_below() -> None:
    add, mul = OperatorName("aten::add", "Tensor"), OperatorName("aten::mul", "Tensor")

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> list[str]:
        await app.go(Spot(mul), "table")
        await pilot.press("equals_sign")
        await app.go(Spot(add), "table")
        pane = app.query_one(TablePane)
        await until(pilot, lambda: pane.answer is not None and "aten::mul.Tensor" in pane.answer.command)
        answer = pane.answer
        assert answer is not None
        assert call(*answer.command, "--format", "json").out == "".join(json_text(answer.report))
        assert [table.operator for table in answer.report.operators] == [str(add), str(mul)]
        lines = ["".join(run.text for run in line) for line in (*pane.view.cells.top, *pane.view.cells.lines)]
        assert [line.split("(")[0] for line in lines if line.startswith("aten::")] == [str(add), str(mul)]
        await app.go(Spot(mul), "table")
        await pilot.press("equals_sign")
        await app.go(Spot(add), "table")
        await until(pilot, lambda: pane.answer is not None and str(mul) not in pane.answer.command)
        return lines

    drive_app(Session(newest(), ("--base", "torch-2.15")), steps, (200, 60))
