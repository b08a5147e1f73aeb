"""A search that finds no operator shows those that may be meant."""

from __future__ import annotations

import random

import pytest
from textual.pilot import Pilot

from dispatch_cli.answers.shared.operator_list import ListedOperator
from dispatch_cli.explore.app import ExploreApp
from dispatch_cli.explore.catalogue import Catalogue
from dispatch_cli.explore.filters import Filters
from dispatch_cli.explore.fuzzy import is_scattered
from dispatch_cli.explore.nearest import nearest
from dispatch_cli.explore.session import Session
from tests.ends import ends
from tests.explore.support import drive, newest, screen_text, until
from tests.steps import counted
from tests.support import MISSPELT

NAMES = list(newest().dispatcher.names())


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("aten::ad.Tensro", "aten::add.Tensor"),
        ("sofmtax", "aten::softmax.int"),
        ("aten::adf", "aten::add.Scalar"),
        ("aten::convolution_bakward", "aten::convolution_backward"),
        ("torch.ops.aten.sofmtax.int", "aten::softmax.int"),
        ("matmull", "aten::matmul"),
        ("ad Tensro", "aten::add.Tensor"),
        ("aten::ADD.T*", "aten::add.Tensor"),
    ],
)
def test_the_nearest_comes_first(query: str, first: str) -> None:
    numbers, _ = nearest(NAMES, query)
    assert numbers
    assert len(numbers) == len(set(numbers))
    assert first in [NAMES[number] for number in numbers[:2]]


@pytest.mark.parametrize(
    ("query", "name", "key"),
    [
        ("add.Tensor AutogradCUDA", "aten::add.Tensor", "AutogradCUDA"),
        ("aten::abs  CPU", "aten::abs", "CPU"),
        ("Meta addten", "aten::add.Tensor", None),
    ],
)
def test_a_key_behind_a_name_is_of_the_slot(query: str, name: str, key: str | None) -> None:
    catalogue = Catalogue(newest())
    matches, _ = catalogue.search(query)
    assert (catalogue.entries[matches[0]].name, catalogue.key_in(query)) == (name, key)


@pytest.mark.parametrize(("query", "first"), MISSPELT)
def test_a_misspelt_name_comes_before_those_that_have_its_letters_here_and_there(query: str, first: str) -> None:
    catalogue = Catalogue(newest())
    matches, near = catalogue.search(query)
    assert catalogue.entries[matches[0]].name == first
    assert near == ("the nearest:" if catalogue.find(query) else "none; the nearest:")
    assert set(matches) >= set(catalogue.find(query))
    assert len(matches) == len(set(matches))


@pytest.mark.parametrize(
    "query",
    ["addten", "sparsemm", "idxput", "conv2d", "to.dt", "nested", "sdpa", "bnbwd", "softm", "lnear", "layernorm"],
)
def test_abbreviations_find_what_their_letters_find(query: str) -> None:
    catalogue = Catalogue(newest())
    assert catalogue.search(query) == (catalogue.find(query), "")


@pytest.mark.slow
def test_a_name_with_a_letter_twice_is_found() -> None:
    """Whatever else has its letters here and there; not where they are an abbreviation of what is found."""
    catalogue, chance = Catalogue(newest()), random.Random(20263)
    names = [name for name in NAMES if name.startswith("aten::") and len(bare(name)) > 1]
    abbreviations = 0
    for name in chance.sample(names, 150):
        end = len("aten::") + len(bare(name))
        at = chance.randrange(len("aten::"), end)
        query = name[: at + 1] + name[at:]
        best_names = [catalogue.entries[number].name for number in catalogue.search(query)[0][:8]]
        abbreviations += bool(best_names) and name not in best_names and not is_scattered(best_names[0], query)
        assert name in best_names or not is_scattered(best_names[0], query), query
    assert abbreviations < 8


def bare(name: str) -> str:
    return name.removeprefix("aten::").partition(".")[0]


def test_few_names_are_compared_letter_by_letter() -> None:
    """To compare two names of ten letters takes some hundred steps."""
    catalogue = Catalogue(newest())
    for query in ("lienar", "convoluiton", "a_" * 40, "torch.ops.aten.lienar"):
        with counted() as steps:
            catalogue.search(query)
        assert len(NAMES) < steps[0] < 50 * len(NAMES)


def test_nothing_is_near() -> None:
    assert nearest(NAMES, "qqqqqqq")[0] == []
    assert nearest(NAMES, "zz*qq")[0] == []
    assert nearest([], "add")[0] == []


@pytest.mark.parametrize(
    "query", ["a_" * 4000, "*?" * 4000, "[" * 4000, "a." * 4000, "aten::" + "add" * 2000, ":" * 9000]
)
def test_a_long_search_takes_no_longer(query: str) -> None:
    names = [*NAMES, *(f"{name}_more" for name in NAMES)][:5000]
    with counted() as steps, ends():
        nearest(names, query)
    assert 0 < steps[0] < 50 * len(names)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 10)])
def test_the_list_says_that_these_are_the_nearest(size: tuple[int, int]) -> None:
    async def steps(app: ExploreApp, pilot: Pilot[None]) -> None:
        await pilot.press("slash", *"sofmtax")
        await until(pilot, lambda: app.operators.list.query_text == "sofmtax")
        assert "none; the nearest:" in screen_text(app)
        entry = app.operators.list.entry
        assert entry is not None
        assert "softmax" in entry.name
        await until(pilot, lambda: f"--op {entry.name}" in app.command_bar.line)
        await pilot.press("ctrl+u", *"lienar")
        await until(pilot, lambda: app.operators.list.query_text == "lienar")
        assert "none" not in app.query_one(Filters).near
        assert "the nearest:" in screen_text(app)
        assert app.operators.list.entry == ListedOperator("aten::linear")
        await pilot.press("ctrl+u", *"aten::SOFTMAX*")
        await until(pilot, lambda: app.operators.list.query_text == "aten::SOFTMAX*")
        assert "none; in another case:" in screen_text(app)
        await pilot.press("ctrl+u", *"qqqqqqq")
        await until(pilot, lambda: not app.operators.list.found)
        assert "no operator matches" in screen_text(app)
        assert not app.query_one(Filters).near
        await pilot.press("escape")
        await until(pilot, lambda: len(app.operators.list.found) > 3000)

    drive(Session(newest(), ("--base", "torch-2.15")), steps, size)
