"""The crumb line, the view at the next start, folded namespaces, lines of files, fixes, bars."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from dispatch_cli.api import load_state
from dispatch_cli.explore import left_place
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.finding_rows import FindingFix
from dispatch_cli.explore.left_place import LeftPlace
from dispatch_cli.explore.panes.coverage import CoveragePane
from dispatch_cli.explore.panes.findings import FindingsPane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.source import source_lines
from dispatch_cli.explore.trace_blocks import BAR
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.render.text_lines import line_width
from tests.explore.support import drive, flat, newest, screen_text, until

FILE = "tests/explore/layouts/operators.yaml"
SCALE = Spot(OperatorName.parse("mine::scale"))


def session() -> Session:
    return Session(load_state([FILE]), (FILE,))


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_the_crumb_line_says_where_one_is_and_shortens_the_state(width: int) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> str:
        await app.go(SCALE._replace(key="CUDA"), "slot")
        await pilot.pause()
        return screen_text(app).splitlines()[1]

    line = drive(session(), steps, (width, 24))
    assert line.strip().endswith("> mine::scale > CUDA > Slot")
    assert (FILE in line) is (width == 200)
    assert ("…" in line) is (width != 200)


def test_namespaces_fold_and_unfold() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        shown, entries = app.operators.list, app.catalogue.entries
        whole = [*shown.found]
        await pilot.press("down", "h")
        assert len(shown.found) == len(whole) - sum(entry.name.startswith("aten::") for entry in entries) + 1
        assert f"aten::  {sum(entry.name.startswith('aten::') for entry in entries):,}" in screen_text(app)
        await pilot.press("H", "H")
        assert len(shown.found) == len(app.catalogue.namespaces)
        await pilot.press("slash", *"add.Tensor")
        await until(pilot, lambda: shown.entry is not None and shown.entry.name == "aten::add.Tensor")
        await pilot.press("escape", "H")
        await until(pilot, lambda: [*shown.found] == whole)

    drive(Session(newest(), ("--base", "torch-2.15")), steps)


def test_one_comes_back_to_where_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert left_place.read() == LeftPlace()
    left = LeftPlace("findings", "mine::scale_", "textual-light")
    left_place.note(left)
    assert left_place.read() == left
    app = ExploreApp(session(), left_place.read())
    assert (app.front, str(app.spot.operator), app.theme) == left
    other = ExploreApp(session(), LeftPlace("gone", "gone::gone", "gone"))
    assert (other.front, other.theme) == ("table", "textual-dark")
    for text in ("", "[1]", "{", json.dumps({"view": 3, "theme": ["x"]}), "\x00" * 20_000):
        (tmp_path / "dispatch-cli" / "explore.json").write_text(text)
        ExploreApp(session(), left_place.read())


@pytest.mark.skipif(os.name != "posix", reason="pipes and links")
def test_the_note_is_a_plain_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    file, other = tmp_path / "dispatch-cli" / "explore.json", tmp_path / "other"
    file.parent.mkdir()
    os.mkfifo(file)
    assert left_place.read() == LeftPlace()  # and does not wait for a writer
    file.unlink()
    other.write_text("original")
    file.symlink_to(other)
    left_place.note(LeftPlace("findings"))
    assert (other.read_text(), left_place.read()) == ("original", LeftPlace("findings"))


def test_a_fix_of_a_finding_is_tried_with_enter() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(SCALE, "findings")
        pane = app.query_one(FindingsPane)
        await until(pilot, lambda: "enter on it tries it" in pane.detail.text)
        number = next(n for n in range(pane.detail.choices()) if isinstance(pane.detail.choice(n).target, FindingFix))
        pane.detail.focus()
        pane.detail.move_to(number)
        await pilot.press("enter")
        await until(pilot, lambda: app.session.unsaved)
        await pilot.press("4")
        await until(pilot, lambda: "1 finding gone" in flat(screen_text(app)))

    drive(session(), steps)


def test_the_lines_around_a_place_are_shown_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    long = "# " + "x" * 500
    file.write_text(
        f"dispatch: 1\noperators:\n  - func: m::f(Tensor a) -> Tensor\n    {long}\n    dispatch: {{CPU: k}}\n"
    )
    load_state([str(file)])
    lines = [*source_lines(Span(str(file), 5, 16), 60)]
    texts = ["".join(run.text for run in line) for line in lines]
    assert texts[1:3] == ["  3 | - func: m::f(Tensor a) -> Tensor", texts[2]]
    assert texts[3] == "> 5 |   dispatch: {CPU: k}"
    assert texts[2].endswith("…") and all(line_width(line) <= 60 for line in lines)
    (low,) = source_lines(Span(str(file), 5, 16), 60, low=True)
    assert "".join(run.text for run in low) == "> 5 | dispatch: {CPU: k}"
    assert not [*source_lines(Span("never-read.cpp", 1, 1), 60)] and not [*source_lines(None, 60)]


@pytest.mark.parametrize("view", ["table", "slot", "findings"])
def test_at_24_lines_the_line_of_the_file_is_shown(view: str) -> None:
    file = "examples/scenarios/01_composite_override.yaml"

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await app.go(Spot(OperatorName.parse("aten::to.dtype"), "PrivateUse1"), view)
        await until(pilot, lambda: "17 | PrivateUse1: to_npu" in screen_text(app))

    drive(Session(load_state([file]), (file,)), steps, (80, 24))


def test_the_palette_finds_the_coverage_of_a_backend() -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+p")
        await pilot.pause()
        await pilot.press(*"coverage cuda")
        await until(pilot, lambda: "Coverage: CUDA" in screen_text(app))
        assert isinstance(app.focused, Input)
        await pilot.pause(0.3)
        await pilot.press("enter")
        await until(pilot, lambda: app.front == "coverage" and app.query_one(CoveragePane).backend == "CUDA")

    drive(session(), steps)


def test_the_longest_call_has_the_longest_bar() -> None:
    from tests.explore.test_trace import REAL, session_of, shown_in

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> list[int]:
        pane = await shown_in(app, pilot)
        lines = pane.list.text.splitlines()[1:]
        return [line.count(BAR) for line in lines]

    bars = drive(session_of(REAL), steps, (160, 40))
    assert max(bars) == 10 and min(bars) == 0
