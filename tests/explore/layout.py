"""The screens of the main views in terminals of three sizes: `python -m tests.explore.layout` records them anew.

They are compared as text, without colours. Only the layout is tested by them: read what has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from textual.pilot import Pilot

from dispatch_cli.api import load_state
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.names import OperatorName
from tests.explore.support import drive, screen_text, until

FOLDER = Path(__file__).parent / "layouts"
FILE = "tests/explore/layouts/operators.yaml"
"""Relative to the root of the repository, which is the working directory."""
SCREENS = {
    (80, 24): ("table", "slot", "call"),
    (120, 40): ("changes", "findings"),
    (200, 60): ("table",),
}
"""The views that are recorded for each size."""
_SPOT = Spot(OperatorName.parse("mine::scale"), "CPU")
_BAR = "▁▂▃▄▅▆▇█"
_WORKING = "Looking for", "Checking", "being looked for"


def path_of(size: tuple[int, int], view: str) -> Path:
    """The recording of a screen."""
    return FOLDER / f"{view}.{size[0]}x{size[1]}.txt"


def screens(size: tuple[int, int]) -> dict[str, str]:
    """The screens of a size, by the id of their view."""

    async def steps(app: ExploreApp, pilot: Pilot[None]) -> dict[str, str]:
        await until(pilot, lambda: app.catalogue.findings is not None, 30)
        results = {}
        for view in SCREENS[size]:
            await app.go(_SPOT, view)
            await pilot.pause(0.3)
            await until(pilot, lambda: not any(word in screen_text(app) for word in _WORKING), 30)
            await pilot.pause()
            results[view] = "".join(f"{_plain(line, size[0])}\n" for line in screen_text(app).split("\n"))
        return results

    with patch("dispatch_cli.explore.operators.pane._CHECKED_AFTER", 0.01):
        return drive(Session(load_state([FILE]), (FILE,)), steps, size)


def _plain(line: str, width: int) -> str:
    """A line without its part of a scroll bar, which textual draws, at the edge of the screen."""
    return line[:-1].rstrip() if len(line) == width and {*line} != {line[-1]} and line[-1] in _BAR else line


def recorded() -> Iterator[tuple[Path, str]]:
    """All screens, with the files that they are in."""
    for size in SCREENS:
        for view, text in screens(size).items():
            yield path_of(size, view), text


if __name__ == "__main__":
    for path, text in recorded():
        path.write_text(text, encoding="utf-8")
