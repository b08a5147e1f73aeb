"""The first screen, the state in the address, and links to repositories; axe-core finds nothing to complain about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.page.browser.tab import Tab
from tests.page.support import page_of

STALE, OVERLAY = "examples/stale.yaml", "examples/overlay.yaml"
URL = "https://github.com/someone/something"


@pytest.mark.parametrize(
    ("address", "choose", "kept", "shown"),
    [
        ("!findings", "of-check", "?check=", "main .card code"),
        ("!coverage/CPU", "served-by", "?served=", "main caption"),
    ],
)
def test_a_filter_is_in_the_address(tab: Tab, address: str, choose: str, kept: str, shown: str) -> None:
    page = page_of(STALE)
    tab.open(page, address)
    tab.evaluate(f"{{ const s = byId('{choose}'); s.selectedIndex = 1; s.dispatchEvent(new Event('change')); }}")
    link = tab.evaluate("location.hash.slice(1)")
    assert link.startswith(f"{address}{kept}")
    texts, chosen = tab.texts(shown), tab.evaluate(f"byId('{choose}').value")
    tab.open(page, "!about")
    tab.open(page, link)
    assert tab.texts(shown) == texts and tab.evaluate(f"byId('{choose}').value") == chosen
    tab.go(f"{address}{kept}nothing%20so")
    assert tab.evaluate(f"byId('{choose}').selectedIndex") == 0


def test_places_lead_to_the_repository_that_is_named(tab: Tab) -> None:
    tab.open(page_of(STALE, "--source-url", f"{URL}.git"), "stale::explicit")
    links = tab.evaluate("[...document.querySelectorAll('main a.mono')].map(a => a.getAttribute('href'))")
    assert links and all(link.startswith(f"{URL}/blob/main/{STALE}#L") for link in links), links
    tab.open(page_of("--base", "torch-2.15"), "aten::to.dtype/AutocastCPU")
    (link,) = tab.evaluate("[...document.querySelectorAll('.slot-view a.mono')].map(a => a.getAttribute('href'))")
    assert link.startswith("https://github.com/pytorch/pytorch/blob/v2.15.0/aten/src/ATen/")
    assert "/__w/" not in tab.text(".slot-view")
    assert tab.evaluate("document.querySelectorAll('dd:empty').length") == 0


@pytest.mark.parametrize(
    ("urls", "found"),
    [
        ('Homepage = "https://example.org/mine"\nRepository = "https://github.com/a/b/"', "https://github.com/a/b"),
        ('"Source Code" = "https://gitlab.example.org/a/b.git"', "https://gitlab.example.org/a/b"),
        ('Source = "https://evil.example.org/a/b"', None),
        ('Source = "javascript:alert(1)"\nHomepage = "https://codeberg.org/a/b"', "https://codeberg.org/a/b"),
        ("Source = 3", None),
        ("Source = ", None),
    ],
)
def test_the_project_names_its_repository(
    urls: str, found: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dispatch_cli.cli.page import project_url

    monkeypatch.chdir(tmp_path)
    assert project_url() is None
    (tmp_path / "pyproject.toml").write_text(f"[project.urls]\n{urls}\n", encoding="utf-8")
    assert project_url() == found


BYPASS = "examples/scenarios/10_sparse_bypass.yaml"
STALE = "examples/stale.yaml"
ADDRESSES = (
    *("!start", "!changes", "!findings", "!coverage", "!coverage/CPU", "!keys"),
    *("!fallbacks", "!higher-order", "!about", "!support", "!support/1,stale::explicit", "!support/x"),
    *("stale::explicit", "stale::explicit/AutogradCPU", "stale::nothing", "!nothing"),
)
_RUN = """axe.run(document, { resultTypes: ['violations'], ONLY }).then(found => found.violations.flatMap(one =>
  one.nodes.map(node => `${one.id}: ${node.html.slice(0, 200)}: ${node.failureSummary}`)))"""
COLORS = "runOnly: ['color-contrast', 'link-in-text-block']"


def complaints(tab: Tab, only: str = "") -> list[str]:
    return list(tab.evaluate(_RUN.replace("ONLY", only)))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(new_tab: Callable[..., Tab], axe: str, theme: str) -> None:
    """Every view; in dark, what depends on colours. The page has no motion then, which would blur contrasts."""
    tab = new_tab()
    tab.media(prefers_color_scheme=theme, prefers_reduced_motion="reduce")
    tab.open(page_of(STALE, BYPASS))
    tab.evaluate(f"{axe}; 0")
    for address in ADDRESSES:
        tab.go(address)
        assert complaints(tab, COLORS if theme == "dark" else "") == [], address


def test_axe_finds_nothing_on_a_phone(new_tab: Callable[..., Tab], axe: str) -> None:
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


def test_axe_complains_of_what_is_wrong(tab: Tab, axe: str) -> None:
    tab.open(page_of(STALE, BYPASS))
    tab.evaluate(f"{axe}; 0")
    tab.evaluate("byId('main').append(document.createElement('img'), make('p', {}, make('a', { href: '#' })))")
    assert {complaint.partition(":")[0] for complaint in complaints(tab)} == {"image-alt", "link-name"}
