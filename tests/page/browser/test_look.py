"""The first screen, the state in the address, and links to repositories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dispatch_cli.answers.shared.operator_list import own_names
from tests.cli.support import ROOT, call
from tests.page.browser.tab import Tab
from tests.page.states import state_of

Pages = Callable[..., Path]
STALE, OVERLAY = "examples/stale.yaml", "examples/overlay.yaml"
OVERRIDE = "examples/scenarios/01_composite_override.yaml"
FALLBACK = "examples/scenarios/03_fallback_never_asked.yaml"
OF_FIX = "tests/explore/layouts/operators.yaml"
URL = "https://github.com/someone/something"


def test_a_stranger_is_told_what_a_slot_is_and_has_three_operators_to_open(tab: Tab, page_of: Pages) -> None:
    tab.open(page_of("--base", "torch-2.15"))
    assert "An operator has a slot for each dispatch key" in tab.text("main")
    links = "[...document.querySelectorAll('main a')].slice(0, 3)"  # above the matrix
    names = tab.evaluate(f"{links}.map(link => link.innerText)")
    assert tab.evaluate(f"{links}.every(link => link.getBoundingClientRect().bottom < 400)")
    assert names == ["aten::add.Tensor", "aten::linear", "aten::to.dtype"]
    tab.click("main p a[href^='#aten::']")
    tab.wait(f"document.querySelector('h1').innerText === '{names[0]}'")


def test_on_a_phone_the_headline_comes_first(tab: Tab, page_of: Pages) -> None:
    tab.size(390, 844, phone=True)
    tab.open(page_of("--base", "torch-2.15"))
    tops = [
        tab.evaluate(f"document.querySelector('{selector}').getBoundingClientRect().top")
        for selector in ("h1", "main .lead", "#query", "main p a", "main .facts", "main section", ".foot")
    ]
    assert tops == sorted(tops)
    assert tops[0] < 200 and tops[2] < 500
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_first_screen_counts_the_findings(tab: Tab, page_of: Pages) -> None:
    tab.open(page_of(OVERRIDE))
    link = "document.querySelector('main a[href=\"#!findings\"]')"
    assert tab.evaluate(f"{link}.innerText") == "2 errors, 1 info"
    assert tab.evaluate(f"{link}.getBoundingClientRect().bottom") < 400


def test_the_marks_of_operators_are_those_of_explore(tab: Tab, page_of: Pages) -> None:
    """A fallback changes slots of operators that the files do not name: they have no mark."""
    marked = "page.entries.filter(entry => entryMarks(entry).some(([mark]) => mark === '+')).map(entry => entry.name)"
    for file, names in ((OVERRIDE, {"aten::to.dtype"}), (FALLBACK, set())):
        tab.open(page_of(file))
        assert set(tab.evaluate(marked)) == own_names(state_of([str(ROOT / file)])) == names
    assert tab.evaluate("page.changes.operators.length") > 100


def test_without_a_state_to_compare_with_there_is_no_view_of_changes(tab: Tab, page_of: Pages) -> None:
    shown = "!document.getElementById('changes').hidden"
    tab.open(page_of("--base", "torch-2.15"))
    assert not tab.evaluate(shown)
    tab.open(page_of(OVERLAY))
    assert tab.evaluate(shown)


@pytest.mark.parametrize(
    ("address", "choose", "kept", "shown"),
    [
        ("!findings", "of-check", "?check=", "main .card code"),
        ("!coverage/CPU", "served-by", "?served=", "main caption"),
    ],
)
def test_a_filter_is_in_the_address(tab: Tab, page_of: Pages, address: str, choose: str, kept: str, shown: str) -> None:
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


def test_how_slots_are_shown_and_the_open_fix_are_in_the_address(tab: Tab, page_of: Pages) -> None:
    page = page_of(OF_FIX)
    tab.open(page, "mine::scale")
    tab.press("r")
    assert tab.evaluate("location.hash") == "#mine::scale?as=rows"
    tab.open(page, "!about")
    tab.open(page, "mine::scale?as=all")
    assert tab.texts("[aria-pressed=true]") == ["All rows"]
    tab.go("!findings")
    tab.click("main .card summary")
    tab.wait("location.hash.includes('?fix=')")
    link = tab.evaluate("location.hash.slice(1)")
    tab.open(page, "!about")
    tab.open(page, link)
    (open_one,) = tab.texts("main details[open] pre")
    printed = call("explain", "mine::scale", "AutogradCUDA", OF_FIX)
    assert printed.code == 0
    assert "AutogradCUDA: {kernel: scale_autogradcuda, redispatches: below-key}" in open_one


def test_a_changed_slot_has_both_values(tab: Tab, page_of: Pages) -> None:
    tab.open(page_of(OVERLAY), "aten::to.dtype")
    assert [text.split()[0] for text in tab.texts(".grid .slot.changed")] == ["M\u2192K*", "M\u2192f*"]
    places = ".legend", ".grid"
    tops = [tab.evaluate(f"document.querySelector('{place}').getBoundingClientRect().top") for place in places]
    assert tops == sorted(tops)


def test_places_lead_to_the_repository_that_is_named(tab: Tab, page_of: Pages) -> None:
    tab.open(page_of(STALE, "--source-url", f"{URL}.git"), "stale::explicit")
    links = tab.evaluate("[...document.querySelectorAll('main a.mono')].map(a => a.getAttribute('href'))")
    assert links and all(link.startswith(f"{URL}/blob/main/{STALE}#L") for link in links), links
    tab.open(page_of("--base", "torch-2.15"), "aten::to.dtype/AutocastCPU")
    (link,) = tab.evaluate("[...document.querySelectorAll('.slot-view a.mono')].map(a => a.getAttribute('href'))")
    assert link.startswith("https://github.com/pytorch/pytorch/blob/v2.15.0/aten/src/ATen/")
    assert "/__w/" not in tab.text(".slot-view")


@pytest.mark.parametrize(
    "url",
    [
        *("http://github.com/a/b", "https://user@github.com/a/b", "https://u:p@github.com/a/b"),
        *("https://github.com:8443/a/b", "https://github.com/a/b?c", "https://github.com/a/b#c", "javascript:alert(1)"),
        *("https://github.com/", "https://localhost/a/b", "https://github.com/a/../b", "https://git hub.com/a/b", ""),
        *("https://github.com/a/b\nc", 'https://github.com/a/"b', "https://github.com/a//b", "//github.com/a/b"),
    ],
)
def test_what_is_no_address_of_a_repository_is_refused(url: str, tmp_path: Path) -> None:
    result = call("page", str(ROOT / STALE), "--source-url", url, "-o", str(tmp_path / "x.html"))
    assert result.code == 2 and "is no address of a repository" in result.err, result.err
    assert not (tmp_path / "x.html").exists()


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
    from dispatch_cli.cli.source_url import project_url

    monkeypatch.chdir(tmp_path)
    assert project_url() is None
    (tmp_path / "pyproject.toml").write_text(f"[project.urls]\n{urls}\n", encoding="utf-8")
    assert project_url() == found
