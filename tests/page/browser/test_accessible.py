"""axe-core finds nothing to complain about in any view, in light and in dark, on a screen and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.page.browser.tab import Tab

BYPASS = "examples/scenarios/10_sparse_bypass.yaml"
STALE = "examples/stale.yaml"
ADDRESSES = (
    *("!start", "!changes", "!findings", "!coverage", "!coverage/CPU", "!keys", "!keys/CUDA", "!keys/Autograd"),
    *("!fallbacks", "!higher-order", "!about", "!support", "!support/1,stale::explicit", "!support/x"),
    *("stale::explicit", "stale::explicit/AutogradCPU", "stale::nothing", "!nothing"),
)
_RUN = """axe.run(document, { resultTypes: ['violations'], ONLY }).then(found => found.violations.flatMap(one =>
  one.nodes.map(node => `${one.id}: ${node.html.slice(0, 200)}: ${node.failureSummary}`)))"""
COLORS = "runOnly: ['color-contrast', 'link-in-text-block']"


def complaints(tab: Tab, only: str = "") -> list[str]:
    return list(tab.evaluate(_RUN.replace("ONLY", only)))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(new_tab: Callable[..., Tab], page_of: Callable[..., Path], axe: str, theme: str) -> None:
    """Every view; in dark, what depends on colours. The page has no motion then, which would blur contrasts."""
    tab = new_tab()
    tab.media(prefers_color_scheme=theme, prefers_reduced_motion="reduce")
    tab.open(page_of(STALE, BYPASS))
    tab.evaluate(f"{axe}; 0")
    for address in ADDRESSES:
        tab.go(address)
        assert complaints(tab, COLORS if theme == "dark" else "") == [], address


def test_axe_finds_nothing_on_a_phone(new_tab: Callable[..., Tab], page_of: Callable[..., Path], axe: str) -> None:
    tab = new_tab(360, 740)
    tab.open(page_of(STALE, BYPASS))
    tab.evaluate(f"{axe}; 0")
    for address in ("!start", "stale::explicit"):
        tab.go(address)
        assert complaints(tab) == [], address
    tab.press("r")
    assert complaints(tab) == []
    tab.press("?")
    assert complaints(tab) == []


def test_axe_complains_of_what_is_wrong(tab: Tab, page_of: Callable[..., Path], axe: str) -> None:
    tab.open(page_of(STALE, BYPASS))
    tab.evaluate(f"{axe}; 0")
    tab.evaluate("byId('main').append(document.createElement('img'), make('p', {}, make('a', { href: '#' })))")
    assert {complaint.partition(":")[0] for complaint in complaints(tab)} == {"image-alt", "link-name"}
