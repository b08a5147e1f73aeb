"""Operators that a search finds, in their order, and the nearest where it finds none."""

from __future__ import annotations

import json

import pytest

from dispatch_cli.explore.operators.catalogue import Catalogue
from dispatch_cli.explore.operators.fuzzy import Matcher, matched
from tests.cli.support import call
from tests.explore.support import newest
from tests.support import MISSPELT

NAMES = list(newest().dispatcher.names())


def is_in(word: str, name: str) -> bool:
    """True if the letters of a word are in a name, in order."""
    letters = iter(name.lower())
    return all(letter in letters for letter in word.lower())


QUERIES = ("adt", "lnrm", "softmx", "_fo.sc", "zzzz", "q::", ".out", "add tensor", "tensor add")


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_found(query: str) -> None:
    matcher = Matcher(NAMES)
    names = {NAMES[number] for number in matcher.find(query)}
    assert names == {name for name in NAMES if all(is_in(word, name) for word in query.split())}
    for name in list(names)[:50]:
        letters = [name[at].lower() for at in matched(name, query)]
        assert all(is_in(word, "".join(letters)) for word in query.split())


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("add.tensor", "aten::add.Tensor"),
        ("addten", "aten::add.Tensor"),
        ("torch.ops.aten.add.Tensor", "aten::add.Tensor"),
        ("aten.bmm.default", "aten::bmm"),
        ("softmax", "aten::softmax.int"),
        ("to.dtype", "aten::to.dtype"),
        ("linear", "aten::linear"),
        ("conv2d", "aten::conv2d"),
        ("BMM", "aten::bmm"),
    ],
)
def test_the_best_comes_first(query: str, first: str) -> None:
    assert NAMES[Matcher(NAMES).find(query)[0]] == first


def test_operators_of_the_files_come_first_among_equals() -> None:
    names = ["aten::topk", "mine::topk_rows", "aten::rows_topk"]
    assert Matcher(names, frozenset({"mine::topk_rows"})).find("topk") == [1, 0, 2]
    assert Matcher(names).find("topk") == [0, 1, 2]


@pytest.mark.parametrize(
    "glob",
    [
        "aten::add*",
        "*.out",
        "aten::ad?",
        "aten::to*.default",
        "aten.mm*",
        "torch.ops.aten.add*",
        "*[Tt]ensor*",
        "ATEN*",
    ],
)
def test_a_glob_finds_what_it_finds_for_op(glob: str) -> None:
    printed = call("register", "--base", "torch-2.15", "--op", glob, "--format", "json")
    expected = [operator["operator"] for operator in json.loads(printed.out)["operators"]] if printed.code == 0 else []
    assert bool(expected) != (glob == "ATEN*")
    matcher = Matcher(NAMES)
    assert [NAMES[number] for number in matcher.find(glob)] == expected
    both = {NAMES[number] for number in matcher.find(f"{glob} or")}
    assert both == {name for name in expected if is_in("or", name)}
    assert len(matcher.find("add")) > 10  # what is typed next is looked for in all names


@pytest.mark.parametrize(("query", "first"), MISSPELT)
def test_a_misspelt_name_comes_before_those_that_have_its_letters_here_and_there(query: str, first: str) -> None:
    catalogue = Catalogue(newest())
    matches, near = catalogue.search(query)
    assert catalogue.entries[matches[0]].name == first
    assert near == ("the nearest:" if catalogue.find(query) else "none; the nearest:")
    assert set(matches) >= set(catalogue.find(query))
    assert len(matches) == len(set(matches))
