"""Names that are found by some of their letters, and their order."""

from __future__ import annotations

import json
import random

import pytest

from dispatch_cli.explore.fuzzy import Matcher, matched
from tests.cli.support import call
from tests.explore.support import newest

NAMES = newest().dispatcher.names()


def is_in(word: str, name: str) -> bool:
    """True if the letters of a word are in a name, in order."""
    letters = iter(name.lower())
    return all(letter in letters for letter in word.lower())


def queries() -> list[str]:
    dice = random.Random(7)
    results = []
    for _ in range(60):
        name = dice.choice(NAMES)
        places = sorted(dice.sample(range(len(name)), min(len(name), dice.randint(1, 6))))
        results.append("".join(name[at] for at in places).replace(" ", ""))
    return [*results, "zzzz", "q::", ".out", "add tensor", "tensor add"]


@pytest.mark.parametrize("query", queries())
def test_what_is_found(query: str) -> None:
    matcher = Matcher(NAMES)
    names = {NAMES[number] for number in matcher.find(query)}
    assert names == {name for name in NAMES if all(is_in(word, name) for word in query.split())}
    for name in list(names)[:50]:
        letters = [name[at].lower() for at in matched(name, query)]
        assert all(is_in(word, "".join(letters)) for word in query.split())


def test_typing_on_finds_the_same_as_asking_at_once() -> None:
    matcher, whole = Matcher(NAMES), "linalgnorm"
    for end in [*range(1, len(whole) + 1), 4, 2]:
        assert matcher.find(whole[:end]) == Matcher(NAMES).find(whole[:end])


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


def test_nothing_asked_is_everything_in_order() -> None:
    assert Matcher(NAMES).find("  ") == [*range(len(NAMES))]


def test_long_queries_and_names_take_no_long() -> None:
    names = ["a" * 5_000 + "b", "ab" * 2_000]
    assert Matcher(names).find("a" * 500 + "c") == [0, 1]  # the letters that count are all there
    assert Matcher(names).find("a" * 60 + "c") == []
    assert Matcher(["a" * 1_000_000]).find("ab") == []  # the name is gone through once


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


def test_a_glob_finds_higher_order_operators() -> None:
    matcher = Matcher(["aten::cond_like", "cond", "while_loop"])
    assert matcher.find("higher_order::c*") == [1]
    assert matcher.find("*loop") == [2]
    assert matched("aten::cond_like", "aten::c* like") == [11, 12, 13, 14]
