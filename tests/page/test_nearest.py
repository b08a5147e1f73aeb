"""What the page offers for a misspelt name."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.cli.support import call
from tests.page.node import Script, needs_node, script_of
from tests.support import MISSPELT

pytestmark = needs_node


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Script]:
    page = tmp_path_factory.mktemp("nearest") / "page.html"
    assert call("page", "--base", "torch-2.15", "-o", str(page)).code == 0
    with script_of(page) as found:
        yield found


def names(script: Script, query: str) -> list[str]:
    return [one["entry"]["name"] for one in script.ask("lookUp", query)["found"]]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("sotfmax", "aten::softmax.int"),
        *MISSPELT,
        ("lienar.out", "aten::linear.out"),
        ("torch.ops.aten.lienar", "aten::linear"),
    ],
)
def test_a_misspelt_name_comes_first(script: Script, query: str, first: str) -> None:
    said = script.ask("lookUp", query)
    found = [one["entry"]["name"] for one in said["found"]]
    assert found[0] == first
    assert said["near"] > 0
    assert len(found) == len(set(found)) <= said["near"] + said["total"]
    assert set(found) >= {one["entry"]["name"] for one in script.ask("search", query)["found"]}


@pytest.mark.parametrize(
    "query",
    [
        "addten",
        "sparsemm",
        "idxput",
        "conv2d",
        "to.dt",
        "nested",
        "sdpa",
        "bnbwd",
        "softm",
        "lnear",
        "layernorm",
        "",
        "ad*",
    ],
)
def test_what_letters_find_stays_as_it_is(script: Script, query: str) -> None:
    said = script.ask("lookUp", query)
    assert said["near"] == 0
    assert said["found"] == script.ask("search", query, said["total"])["found"]


def test_where_nothing_is_near_nothing_is_said(script: Script) -> None:
    for query in ("zzzzzz", "aten::zzzzzzzz", "a" * 1000):
        assert script.ask("lookUp", query) == {"total": 0, "found": [], "near": 0}


@pytest.mark.parametrize(
    ("address", "first"),
    [
        ("aten::sotfmax", "aten::softmax.int"),
        ("aten::lienar", "aten::linear"),
        ("aten::convoluiton", "aten::convolution"),
        ("atne::relu", "aten::relu"),
    ],
)
def test_an_address_of_no_operator_has_the_nearest(script: Script, address: str, first: str) -> None:
    like = [entry["name"] for entry in script.ask("similar", address)]
    assert like[0] == first
    assert len(like) <= 8


def test_the_nearest_are_found_quickly(script: Script) -> None:
    for query in ("lienar", "convoluiton", "a_" * 40, "torch.ops.aten.lienar"):
        start = time.perf_counter()
        script.ask("lookUp", query)
        assert time.perf_counter() - start < 2  # some 20 ms where nothing else runs
