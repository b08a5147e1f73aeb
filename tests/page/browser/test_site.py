"""The index of all versions in Chromium, and the pages that it leads to."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.answers.history.report import HistoryReport, history_report
from dispatch_cli.answers.history.versions import Versions
from dispatch_cli.page.versions import versions_data
from dispatch_cli.page.write import versions_html
from tests.page.browser.tab import Tab
from tests.page.browser.test_hostile import MARKUP, NAMES
from tests.page.browser.test_look import COLORS, complaints
from tests.page.support import SITE_VERSIONS, site

OLD, NEW = (version.removeprefix("torch-") for version in reversed(SITE_VERSIONS))
ADD_RELU = "aten::_add_relu.out"
GONE = "aten::align_as"


def follow(tab: Tab, selector: str, file: str) -> None:
    """Click a link to another page, and wait until that is shown."""
    tab.evaluate(f"document.querySelector({json.dumps(selector)}).click()")
    tab.wait(f"location.pathname.endsWith('/{file}') && document.documentElement?.dataset.ready === 'yes'")


def test_an_operator_is_found_and_its_page_opened(tab: Tab) -> None:
    """Expected: align_as is in PyTorch 2.4 and not in 2.13, as the recorded dumps say (tests/page/test_site.py)."""
    tab.open(site() / "index.html")
    tab.click("#query")
    tab.type("align_as")
    assert tab.rows("#rows table") == [{"Operator": GONE, OLD: "\N{MIDDLE DOT}", NEW: "-"}]
    assert tab.evaluate("location.hash") == "#q=align_as"
    (link,) = tab.evaluate("[...document.querySelectorAll('#rows td a')].map(link => link.getAttribute('href'))")
    assert link == f"torch-{OLD}.html#{GONE}"
    follow(tab, "#rows td a", f"torch-{OLD}.html")
    assert tab.text("h1") == GONE
    follow(tab, ".views a[href='index.html']", "index.html")
    assert [(trouble.kind, Path(trouble.text).name) for trouble in tab.troubles()] == [("request", f"torch-{OLD}.html")]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(new_tab: Callable[..., Tab], axe: str, theme: str) -> None:
    tab = new_tab()
    tab.media(prefers_color_scheme=theme)
    tab.open(site() / "index.html", f"op={ADD_RELU}")
    tab.evaluate(f"{axe}; 0")
    assert complaints(tab, COLORS if theme == "dark" else "") == []


def hostile(report: HistoryReport) -> Any:
    """The data of an index whose operators have hostile names."""
    (operator,) = report.operators
    operators = tuple(operator._replace(operator=name, schema=name) for name in NAMES.values())
    return versions_data(replace(report, operators=operators), ["torch-2.4.html", "torch-2.15.html"])


def test_nothing_of_a_name_runs(tab: Tab, tmp_path: Path) -> None:
    data = hostile(history_report(Versions(["torch-2.4", "torch-2.15"]), ["aten::kthvalue"]))
    assert len(data["rows"]) == len(NAMES)
    page = tmp_path / "index.html"
    page.write_text("".join(versions_html(data)), encoding="utf-8")
    tab.open(page)
    links = tab.evaluate("[...document.links].map(link => link.getAttribute('href'))")
    assert len(links) > 3 * len(NAMES)
    assert all(link.startswith(("#", "torch-2.4.html", "torch-2.15.html")) for link in links)
    names = [row["Operator"] for row in tab.rows("#rows table")]
    assert len(names) == len(NAMES)
    assert NAMES["script"] in names
    for name in names:
        tab.evaluate(
            f"[...document.querySelectorAll('#rows th a')].find(a => a.innerText.trim() === {json.dumps(name)}).click()"
        )
        tab.settle()
        assert tab.text("#operator h2") == name
        assert tab.evaluate(f"document.querySelectorAll({json.dumps(MARKUP)}).length") == 0
    assert tab.evaluate("window.ran") is None
    assert tab.troubles() == []
