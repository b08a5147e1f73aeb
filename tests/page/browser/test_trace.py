"""The calls of a recorded program in the browser: links, keys, sizes, hostile names, and what axe-core finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.support import call
from tests.page.browser.tab import LINKS_STAY, Tab
from tests.page.browser.test_hostile import MARKUP, NAMES
from tests.page.browser.test_look import complaints
from tests.page.support import page_of
from tests.trace.support import Writer

OWN = "tests/trace/recordings/own.trace"


def test_from_a_call_to_its_slot_and_back(tab: Tab) -> None:
    tab.open(page_of("--trace", OWN))
    tab.press("8")  # there is no state to compare with, and no view of changes
    tab.wait("document.querySelector('h1').innerText === 'Trace of train.py'")
    (command,) = tab.texts("main > .command code")
    assert command == f"dispatch-cli trace {OWN}"
    rows = tab.rows(".trace table")
    (twice,) = [row for row in rows if row["Operator"].endswith("mylib::twice")]
    assert (twice["Call"], twice["Times"], twice["Python line"]) == ("3", "\u00d72", "train.py:6")
    assert twice["Kernels in turn"] == "AutogradCPU (no autograd kernel) \u2192 CPU"
    tab.click(".trace a[href='#mylib::twice/AutogradCPU']")
    tab.wait("document.body.dataset.view === 'operator'")
    assert tab.text("h1") == "mylib::twice at AutogradCPU"
    tab.press("u")
    tab.wait("document.querySelector('h1').innerText === 'mylib::twice'")
    assert "2 calls" in tab.text(".operator-view .facts")
    tab.click(".operator-view .facts a[href='#!trace/mylib::twice']")
    tab.wait("document.querySelector('h1').innerText === 'Calls of mylib::twice'")
    assert {row["Operator"].split()[-1] for row in tab.rows(".trace table")} == {"mylib::twice"}
    assert tab.texts(".card h3") == []  # the calls inside of it record their gradients
    assert tab.troubles() == []


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 1280), ("light", 360)])
def test_axe_finds_nothing(new_tab: Callable[..., Tab], axe: str, theme: str, width: int) -> None:
    tab = new_tab(width, 740)
    tab.media(prefers_color_scheme=theme, prefers_reduced_motion="reduce")
    tab.open(page_of("--trace", OWN), "!trace")
    tab.evaluate(f"{axe}; 0")
    for address in ("!trace", "!trace/34", "!trace/mylib::twice", "mylib::twice"):
        tab.go(address)
        assert complaints(tab) == [], address


def test_nothing_of_a_recording_runs(tab: Tab, tmp_path: Path) -> None:
    writer = Writer(argv=[NAMES["closing"]], directory=NAMES["image"])
    for name in NAMES.values():
        writer.call(name)
        writer.call(f"my::{name}", thread=name)
        writer.add("x", {"reason": name, "text": name})
    writer.add_small_state()
    text = writer.text().replace(json.dumps("/home/me/train.py"), json.dumps(NAMES["image"]))
    (tmp_path / "t.trace").write_text(text.replace('"step"', json.dumps(NAMES["script"])), encoding="utf-8")
    page = tmp_path / "page.html"
    assert call("page", "--trace", str(tmp_path / "t.trace"), "-o", str(page)).code == 0
    tab.open(page)
    links = tab.evaluate("page.trace().called.map(name => page.linkTo('trace', name).slice(1))")
    assert len(links) == 2 * len(NAMES)
    for address in ("!trace", "!trace/0", *links):
        tab.go(address)
        assert tab.text("h1") != "This view has an error", tab.text("main")
        assert tab.evaluate(f"document.querySelectorAll({json.dumps(MARKUP)}).length") == 0, address
        assert tab.evaluate(LINKS_STAY), address
    assert tab.evaluate("window.ran") is None
    assert tab.troubles() == []
