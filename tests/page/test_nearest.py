"""Names that the page offers for a misspelt one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import pytest

from dispatch_cli.answers.shared.nearest_names import misspelt_by
from dispatch_cli.answers.shared.selection import similar_names
from dispatch_cli.explore.catalogue import Catalogue
from dispatch_cli.model.names import without_overload
from tests.explore.support import newest
from tests.page.support import Script, needs_node, page_of, script_of
from tests.support import MISSPELT

pytestmark = needs_node


@pytest.fixture(scope="module")
def script() -> Iterator[Script]:
    with script_of(page_of("--base", "torch-2.15")) as page_script:
        yield page_script


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
    answer = script.ask("lookUp", query)
    ranked = [item["entry"]["name"] for item in answer["found"]]
    assert ranked[0] == first
    assert answer["near"] > 0
    assert len(ranked) == len(set(ranked)) <= answer["near"] + answer["total"]
    assert set(ranked) >= {item["entry"]["name"] for item in script.ask("search", query)["found"]}


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


@pytest.mark.slow
def test_explore_and_the_hints_of_commands_find_the_same(script: Script) -> None:
    """For names with random mistakes: names, namespaces and overloads, with and without them."""
    catalogue = Catalogue(newest())
    names = [entry.name for entry in catalogue.entries]
    chance = random.Random(20261)
    near = 0
    for _ in range(90):
        name = chance.choice(names)
        name = name.rpartition("::")[2] if chance.random() < 0.3 else name
        query = with_mistakes(chance, without_overload(name) if chance.random() < 0.4 else name)
        answer = script.ask("lookUp", query)
        numbers, what = catalogue.search(query)
        assert [item["entry"]["name"] for item in answer["found"]] == [names[number] for number in numbers], query
        assert bool(answer["near"]) == bool(what), query
        near += answer["near"] > 0
        if answer["near"] and "::" in query and not answer["total"]:
            hints = similar_names(names, query)
            assert without_overload(hints[0]) == without_overload(names[numbers[0]]), query
    assert near > 20


def with_mistakes(chance: random.Random, name: str) -> str:
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(name))
        letter = chance.choice("abcdeinorstx_A")
        name = chance.choice(
            [
                name[:at] + name[at + 1 :],
                name[:at] + letter + name[at:],
                name[:at] + letter + name[at + 1 :],
                name[:at] + name[at : at + 2][::-1] + name[at + 2 :],
            ]
        )
        name = name or "x"
    return name


@pytest.mark.parametrize("seed", range(5))
def test_letters_that_differ_are_counted_as_the_definition_says(seed: int) -> None:
    """Against the plain recursion, of any two short words."""

    @cache
    def cost(word: str, other: str) -> int:
        if not word or not other:
            return len(word) + len(other)
        costs = [cost(word[1:], other) + 1, cost(word, other[1:]) + 1]
        costs.append(cost(word[1:], other[1:]) + (word[0] != other[0]))
        if len(word) > 1 and len(other) > 1 and word[:2] == other[1::-1]:
            costs.append(cost(word[2:], other[2:]) + 1)
        return min(costs)

    chance = random.Random(seed)
    for _ in range(300):
        word, other = ("".join(chance.choices("abc_", k=chance.randrange(8))) for _ in range(2))
        most = chance.randrange(6)
        wanted = cost(word, other)
        assert misspelt_by(word, other, most) == (wanted if wanted <= most else None), (word, other, most)
