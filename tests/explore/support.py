"""Drives the explorer without a terminal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from functools import cache
from typing import Any, TypeVar
from unittest.mock import patch

from textual._compositor import Compositor
from textual.pilot import Pilot

from dispatch_cli.answers.findings.report import FindingsReport
from dispatch_cli.api import load_state
from dispatch_cli.engine.state import State
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.session import PaneAnswer, Session
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.render.data import json_text
from dispatch_cli.whatif.findings import Shared
from tests.cli.support import call

_Result = TypeVar("_Result")


@cache
def newest() -> State:
    """The newest embedded state. Tests do not change it."""
    return load_state((), bases=("torch-2.15",))


@cache
def _findings_of_newest() -> Shared[FindingsReport]:
    return Shared()


def drive(
    session: Session,
    steps: Callable[[ExploreApp, Pilot[None]], Awaitable[_Result]],
    size: tuple[int, int] = (120, 40),
    fails: bool = False,
    painted: bool = False,
) -> _Result:
    """Run the application on a screen of a size (columns, lines), and take steps in it.

    Findings of `newest` that a view needs are looked for once by all tests.

    fails: a view may fail; otherwise its error fails the test. painted: parts of the screen
    are painted as they change. Otherwise the whole screen is, when it changes as a whole, when a test looks at it, and
    at the end: that takes half of the time.
    """

    async def run() -> _Result:
        if session.original is newest() and session.source == ("--base", "torch-2.15"):
            session.original_findings = _findings_of_newest()
        app = ExploreApp(session)
        async with app.run_test(size=size, notifications=True) as pilot:
            await pilot.pause()
            result = await steps(app, pilot)
            await pilot.pause()
            if app.is_running:
                screen_text(app)
        if errors and not fails:
            raise errors[0]
        return result

    errors: list[Exception] = []
    failed = Pane.failed

    def note_error(view: Pane, error: Exception) -> None:
        errors.append(error)
        failed(view, error)

    with (
        patch.object(Pane, "failed", note_error),
        nullcontext() if painted else patch.object(Compositor, "render_partial_update", _not_painted),
    ):
        return asyncio.run(run())


def _not_painted(compositor: Compositor) -> None:
    compositor._dirty_regions.clear()


async def until(pilot: Pilot[None], condition: Callable[[], object], seconds: float = 30) -> None:
    """Wait until something is so. Errors: AssertionError, with what the screen shows, where it does not become so."""
    for _ in range(int(seconds / 0.02)):
        if condition():
            return
        await pilot.pause(0.02)
    assert isinstance(pilot.app, ExploreApp)
    assert condition(), screen_text(pilot.app)


def flat(text: str) -> str:
    """A text without line breaks."""
    return " ".join(text.split())


def screen_text(app: ExploreApp) -> str:
    """Text on the screen, line by line."""
    width, height = app.size
    lines = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in lines[:height]) if width else ""


def assert_prints(answer: PaneAnswer | None) -> Any:
    """The command line of an answer prints it; its JSON."""
    assert answer is not None
    result = call(*answer.command, "--format", "json")
    assert result.code in (0, 1), result.err
    assert result.out == "".join(json_text(answer.report))
    return json.loads(result.out)
