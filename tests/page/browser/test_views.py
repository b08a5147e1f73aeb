"""Behaviour of the page: addresses, keys, themes, sizes, paper."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dispatch_cli.render.html import html
from tests.page.browser.tab import Tab
from tests.page.support import page_of
from tests.render.test_writers import HOSTILE, every_block

STALE = "examples/stale.yaml"
VIEWS = ("start", "changes", "findings", "coverage", "keys", "fallbacks", "higher-order", "about")
NAME = "stale::explicit"


@pytest.fixture
def opened(tab: Tab) -> Tab:
    tab.open(page_of(STALE))
    return tab


def focused(tab: Tab) -> str:
    return str(tab.evaluate("document.activeElement.id || document.activeElement.tagName"))


def test_links_back_and_forward(tab: Tab) -> None:
    tab.open(page_of(STALE), f"{NAME}/CUDA")
    assert tab.text("h1") == f"{NAME} at CUDA"
    tab.click("h1 a")
    tab.wait(f"document.querySelector('h1').innerText === '{NAME}'")
    assert tab.evaluate("document.title") == f"{NAME} - dispatch-cli"
    tab.go("!coverage/CUDA")
    for step, title in ((-1, NAME), (-1, f"{NAME} at CUDA"), (2, "Coverage of CUDA")):
        tab.evaluate(f"history.go({step})")
        tab.wait(f"document.querySelector('h1').innerText === {json.dumps(title)}")


NOWHERE = (
    ("stale::explict", "No such operator"),
    ("%zz", "No such operator"),
    ("!nothing", "No such view"),
    ("!coverage/CPUU", "No such backend"),
    ("!keys/CPUU", "No such view"),
    (f"{NAME}/CPUU", f"{NAME} at CPUU"),
    ("!constructor", "No such view"),
    ("!findings/x", "No such view"),
    ("!coverage/CPU/", "No such view"),
    ("!keys/%zz", "No such view"),
    ("!/y", "No such view"),
    (f"{NAME}/CPU/y", "No such operator"),
)
"""Addresses, and the titles that they get."""


def test_an_address_that_leads_nowhere_says_so(opened: Tab) -> None:
    for fragment, title in NOWHERE:
        opened.go(fragment)
        assert (fragment, opened.text("h1")) == (fragment, title)
        if "CPUU" in fragment:
            assert any("CPUU" in text for text in opened.texts("main p code"))
    assert not opened.troubles()


def test_keys_lead_everywhere(opened: Tab) -> None:
    there = [view for view in VIEWS if view != "changes"]  # there is nothing to compare with
    for number, view in enumerate(there, 1):
        opened.press(str(number))
        opened.wait(f"document.body.dataset.view === '{view}'")
        assert focused(opened) == "H1"
        assert opened.texts(".views [aria-current]") == [opened.texts(".views li:not([hidden]) a")[number - 1]]
    opened.press("?")
    assert opened.evaluate("document.querySelector('#keys').open")
    opened.press("Escape")
    assert not opened.evaluate("document.querySelector('#keys').open")
    assert not opened.troubles()


def test_arrows_in_the_grid_and_slots_in_turn(opened: Tab) -> None:
    opened.go(NAME)
    stops = "[...document.querySelectorAll('.grid a')].filter(e => e.tabIndex === 0).map(e => e.title.split(':')[0])"
    assert opened.evaluate(stops) == ["CPU"]
    opened.evaluate("document.querySelector('.grid a').focus()")
    opened.press("ArrowRight", "ArrowDown", "End", "Home", "ArrowRight", "ArrowUp", "ArrowUp")
    assert opened.evaluate(stops) == ["CUDA"]
    opened.press("Enter")
    opened.wait("document.body.classList.contains('at-slot')")
    assert opened.text("h1") == f"{NAME} at CUDA"
    opened.press("u")
    opened.wait("!document.body.classList.contains('at-slot')")
    opened.press("r")
    opened.wait("document.querySelector('.operator-view tr.row') !== null")
    opened.press("g")
    opened.wait("document.querySelector('.operator-view .grid') !== null")


def test_light_and_dark(opened: Tab) -> None:
    def background() -> str:
        return str(opened.evaluate("getComputedStyle(document.body).backgroundColor"))

    opened.media(prefers_color_scheme="light")
    light = background()
    opened.media(prefers_color_scheme="dark")
    dark = background()
    assert light != dark


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_screen(new_tab: Callable[..., Tab], width: int) -> None:
    tab = new_tab(width, 740)
    tab.size(width, 740, phone=width == 360)
    tab.open(page_of(STALE))
    for fragment in (*(f"!{view}" for view in VIEWS), NAME, f"{NAME}/AutogradCPU"):
        tab.go(fragment)
        wide = tab.evaluate("[document.documentElement.scrollWidth, document.body.scrollWidth]")
        assert max(wide) <= width, fragment


@pytest.mark.parametrize(("width", "theme"), [(360, "light"), (1200, "dark")])
def test_an_answer_in_html(new_tab: Callable[..., Tab], width: int, theme: str, tmp_path: Path) -> None:
    """Nothing is cut off sideways, and it is light or dark as the reader has it."""
    file = tmp_path / "answer.html"
    blocks = [block for hostile in HOSTILE for block in every_block(hostile)]
    file.write_text("".join(html(blocks, "t")), encoding="utf-8")
    tab = new_tab(width, 740)
    tab.media(prefers_color_scheme=theme)
    tab.send("Page.navigate", url=file.as_uri())
    tab.wait("document.readyState === 'complete' && document.body.innerText.length > 0")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    colors = [tab.evaluate(f"getComputedStyle(document.body).{name}") for name in ("backgroundColor", "color")]
    page, text = (sum(map(int, re.findall(r"\d+", color))) for color in colors)
    assert (page > text) is (theme == "light")


def test_a_cell_of_the_matrix_opens_its_call(new_tab: Callable[..., Tab]) -> None:
    """The first view of a page of files: arrows go from cell to cell, enter opens the call with its command."""
    tab = new_tab()
    tab.open(page_of("examples/custom_ops.yaml"))
    assert tab.texts("main .grid .groups th")[:2] == ["CPU", "CUDA"]
    assert tab.texts("main .grid tbody th")[:2] == ["pylib::add", "pylib::normalize"]
    tab.evaluate("document.querySelector('.grid a').focus()")
    for key in ("ArrowDown", "ArrowRight"):
        tab.press(key)
    tab.press("Enter")
    lost = "loses the gradient: no derivative is registered, and it writes to an argument or returns a view: the "
    assert tab.text("h1") == f"pylib::normalize on CPU, train: {lost}backward pass raises, or gradients are wrong"
    assert tab.text("main .command code").startswith("dispatch-cli resolve pylib::normalize examples/custom_ops.yaml ")
    assert tab.texts(".slot[aria-current]") == tab.texts(".slot[aria-current]")[:1] != []
