"""Names are data: whatever is written in a file, nothing of it runs, and nothing of it becomes an element."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.page.browser.tab import LINKS_STAY, Tab
from tests.page.support import page_of

MARKUP = "script:not([id]), img, svg, iframe, object, embed, base, form:not([method=dialog]), [onmouseover], [onerror]"
ENTRIES = 5
"""Operators and higher-order operators of the file."""


@pytest.fixture(scope="module")
def hostile() -> Path:
    """The page of a file whose texts show a dialog or change the title when they run."""
    return page_of("tests/page/hostile.yaml")


def test_nothing_of_a_name_runs(tab: Tab, hostile: Path) -> None:
    tab.open(hostile)
    addresses = [
        f"!{view}" for view in ("start", "changes", "findings", "coverage", "fallbacks", "higher-order", "about")
    ]
    keys = ("CPU", "AutogradCPU", "PrivateUse1")
    links = tab.evaluate(
        f"page.entries.flatMap(entry => {json.dumps(keys)}.map(key => page.link(entry.name, key).slice(1)))"
    )
    assert len(links) == ENTRIES * len(keys)
    calls = "Object.keys(page.data.support.calls).filter(call => call.startsWith('1,'))"
    links += tab.evaluate(f"{calls}.map(call => page.linkTo('support', call).slice(1))")
    tags = set()
    for address in [*addresses, *links]:
        tab.go(address)
        assert tab.text("h1") != "This view has an error", tab.text("main")
        assert tab.evaluate(f"document.querySelectorAll({json.dumps(MARKUP)}).length") == 0, address
        assert tab.evaluate(LINKS_STAY), address
        tags |= set(tab.evaluate("[...new Set([...document.body.querySelectorAll('*')].map(e => e.localName))]"))
    assert "owned" not in tab.evaluate("document.title")
    assert tags.isdisjoint({"img", "svg", "iframe", "object", "link", "meta", "base", "video"})
    assert tab.troubles() == []
    assert tab.evaluate("performance.getEntriesByType('resource').length") == 0


def test_names_are_shown_as_they_are_written(tab: Tab, hostile: Path) -> None:
    tab.open(hostile, "!higher-order")
    names = [row["Operator"] for row in tab.rows("main table")]
    assert names == ["constructor", "__proto__"]
    kernels = tab.text("main")
    for name in names:
        tab.go("!higher-order")
        tab.click(f"main tbody tr:nth-child({names.index(name) + 1}) a")
        tab.wait("document.body.dataset.view === 'operator'")
        assert tab.text("h1") == name
        kernels += tab.text("main")
    assert "<script>alert(1)</script>" in kernels
    assert "\\u202eevil" in kernels


def test_an_address_is_data_too(tab: Tab, hostile: Path) -> None:
    tab.open(hostile)
    for text in ("<img src=z onerror=alert(1)>", "javascript:alert(1)", "!__proto__", "!<svg/onload=x>", "a/b/c"):
        for address in (text, quote(text)):
            tab.go(address)
            assert tab.text("h1").startswith("No such"), address
    tab.go(quote("<script>alert(1)</script>"))
    assert tab.texts("main p code") == ["<script>alert(1)</script>"]
    assert tab.troubles() == []
