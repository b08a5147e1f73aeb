"""Content of the first frame, and work that is done only after it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.pilot import Pilot

from dispatch_cli.explore import tidying
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.first_frame import late
from dispatch_cli.explore.session import Session
from tests.explore.support import drive, newest, screen_text, until


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
def test_the_first_frame_has_the_list_the_table_and_the_command(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    frames: list[str] = []
    monkeypatch.setattr(ExploreApp, "post_display_hook", lambda app: frames.append(screen_text(app)))

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:  # noqa: ARG001
        first = frames[0]
        assert "aten::abs.out" in first
        assert "aten::abs(Tensor self) -> Tensor" in first
        assert "SparseCPU" in first
        assert "$ dispatch-cli table" in first

    drive(Session(newest(), ("--base", "torch-2.15")), steps, size)


def test_the_terminal_stays_as_it_is_until_the_first_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def __init__(self, app: object) -> None:  # noqa: ARG002
            self.written: list[str] = []

        def write(self, text: str) -> None:
            self.written.append(text)

    app = SimpleNamespace()
    driver: Any = late(Terminal)(app)  # type: ignore[arg-type]
    driver.write("another screen, ")
    driver.write("a frame")
    assert driver.written == []
    app.show_first_frame()
    driver.write("the next one")
    assert driver.written == ["another screen, a frame", "the next one"]
    frames: list[str] = []
    monkeypatch.setattr(ExploreApp, "post_display_hook", lambda app: frames.append(screen_text(app)))
    shown: list[str] = []
    monkeypatch.setattr(ExploreApp, "show_first_frame", lambda _: shown.append(frames[-1]))

    async def steps(_: ExploreApp, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: bool(shown))

    drive(Session(newest(), ("--base", "torch-2.15")), steps)
    assert len(shown) == 1 and "SparseCPU" in shown[0]


FIRST_FRAME = Path(__file__).with_name("first_frame.py")


def test_modules_for_what_was_not_asked_for_are_imported_after_the_first_frame() -> None:
    done = subprocess.run([sys.executable, str(FIRST_FRAME)], capture_output=True, text=True, check=True, timeout=60)
    imported = {name.removeprefix("dispatch_cli.") for name in done.stdout.split()}
    assert {"explore.panes.table", "answers.table.report"} <= imported
    later = {"model.declarations", "model.change", "whatif", "declarations", "checks", "explore.panes.slot"}
    assert not later & imported


def test_garbage_is_looked_for_once_the_user_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    names = ("freeze", "set_threshold", "enable", "collect")
    fake = SimpleNamespace(**{name: lambda *_, name=name: done.append(name) for name in names})
    monkeypatch.setattr(tidying, "gc", fake)
    monkeypatch.setattr(tidying, "_REST", 0.05)
    monkeypatch.setattr(ExploreApp, "own_process", True)

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:  # noqa: ARG001
        assert done[:3] == ["freeze", "set_threshold", "enable"]
        await until(pilot, lambda: done[3:] == ["collect"])
        await pilot.pause(0.2)
        assert done[3:] == ["collect"], "not again as long as nothing happens"
        await pilot.press("down")
        await until(pilot, lambda: done[3:] == ["collect", "collect"])

    drive(Session(newest(), ()), steps)
