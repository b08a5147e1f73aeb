"""Write the pictures in the README: of a command, of the explorer, and of the page in Chromium.

usage: python -m tests.write_screenshot
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cli.support import call
from tests.page.browser.chromium import Chromium, executable
from tests.page.browser.tab import Tab

if TYPE_CHECKING:
    from textual.app import App
    from textual.pilot import Pilot

EXAMPLES = Path(__file__).parents[1] / "examples"
EXAMPLE = "examples/overlay.yaml"
COMMANDS = {"support": ["support", "examples/extension", "-D", "WITH_CUDA", "--format", "svg"]}
"""Picture → the command that writes it."""


def picture(name: str) -> str:
    """The picture that a command writes, as SVG."""
    return call(*COMMANDS[name]).out


def path_of(name: str) -> Path:
    return EXAMPLES / f"{name}.svg"


def explorer(size: tuple[int, int] = (150, 40)) -> str:
    """The explorer in a terminal of so many columns and lines, with a slot that the example changes, as SVG."""
    from dispatch_cli.api import load_state
    from dispatch_cli.explore.session import Session
    from tests.explore.support import drive

    async def look(app: App[None], pilot: Pilot[None]) -> str:
        await pilot.press("slash", *"to.dtype", "enter", *["down"] * 4)
        await pilot.pause(1.0)
        return app.export_screenshot(title=f"dispatch-cli explore {EXAMPLE}")

    return drive(Session(load_state((EXAMPLE,)), (EXAMPLE,)), look, size)


def page(browser: str) -> bytes:
    """The page with the same slot, in a Chromium, as PNG."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        assert call("page", EXAMPLE, "-o", str(path)).code == 0
        chromium = Chromium(browser)
        tab = Tab(chromium, 1600, 900)
        tab.media(prefers_color_scheme="light")
        tab.open(path, "aten::to.dtype/AutogradPrivateUse1")
        screenshot = tab.screenshot()
        tab.close()
        chromium.close()
    return screenshot


def main() -> None:
    """Write every picture; that of the page where there is a Chromium."""
    for name in COMMANDS:
        path_of(name).write_text(picture(name), encoding="utf-8")
    path_of("explore").write_text(explorer(), encoding="utf-8")
    browser = executable()
    if browser is None:
        sys.exit("page.png is not written: it needs Chromium")
    path_of("page").with_suffix(".png").write_bytes(page(browser))


if __name__ == "__main__":
    main()
