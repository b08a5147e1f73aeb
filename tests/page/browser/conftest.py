"""One Chromium for all tests of the page; without one they are skipped, and the summary says so."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.page.browser.chromium import Chromium, executable, version
from tests.page.browser.tab import Tab

_FOUND = executable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which browser the tests of the page ran in."""
    if _FOUND is None:
        terminalreporter.write_line("tests of the page in a browser: left out, no Chromium (apt install chromium)")
    else:
        terminalreporter.write_line(f"tests of the page in a browser: {version(_FOUND)}, {_FOUND}")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """The browser."""
    if _FOUND is None:
        pytest.skip("needs Chromium: apt install chromium, or name one in DISPATCH_CLI_CHROMIUM")
    browser = Chromium(_FOUND)
    yield browser
    browser.close()


@pytest.fixture
def new_tab(chromium: Chromium) -> Iterator[Callable[..., Tab]]:
    """Opens a tab of a given size; it is closed after the test."""
    opened: list[Tab] = []

    def opens(width: int = 1280, height: int = 800) -> Tab:
        opened.append(Tab(chromium, width, height))
        return opened[-1]

    yield opens
    for tab in opened:
        tab.close()


@pytest.fixture
def tab(new_tab: Callable[..., Tab]) -> Tab:
    """A tab that is 1280 pixels wide and 800 high."""
    return new_tab()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test that asks for a browser is marked so."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, from the file that ``DISPATCH_CLI_AXE`` names."""
    named = os.environ.get("DISPATCH_CLI_AXE")
    if not named or not Path(named).is_file():
        pytest.skip("needs axe-core: npm pack axe-core, and name its axe.min.js in DISPATCH_CLI_AXE")
    return Path(named).read_text(encoding="utf-8")
