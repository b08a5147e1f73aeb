"""Folding calls: nothing is lost, what is equal is said once, and it takes linear time."""

from __future__ import annotations

import random
from array import array
from typing import Any

import pytest

from dispatch_cli.trace.calls import NONE
from dispatch_cli.trace.tree import CallTree

Made = tuple[Any, ...]
"""A call: its kind, and the calls inside."""


def tree_of(made: list[Made]) -> tuple[CallTree, list[str], array[int]]:
    kinds: list[str] = []
    parents = array("i")

    def add(call: Made, parent: int) -> None:
        number = len(kinds)
        kinds.append(call[0])
        parents.append(parent)
        for child in call[1:]:
            add(child, number)

    for call in made:
        add(call, NONE)
    known: dict[str, int] = {}
    tree = CallTree(array("i", range(len(kinds))), parents, lambda number: known.setdefault(kinds[number], len(known)))
    return tree, kinds, parents


def shown(made: list[Made], most: int | None = None) -> list[str]:
    tree, kinds, _ = tree_of(made)
    return [
        f"{'  ' * item.level}{'group' if item.is_group else kinds[item.call]} x{item.times} @{item.call}"
        for item in tree.items(most)
    ]


A, B, C = ("A", ("x",), ("y",)), ("B",), ("C",)


def test_neighbours_and_groups_fold() -> None:
    assert shown([B, B, B]) == ["B x3 @0"]
    assert shown([A, A]) == ["A x2 @0", "  x x1 @1", "  y x1 @2"]
    assert shown([B, C, B, C, B, C]) == ["group x3 @0", "  B x1 @0", "  C x1 @1"]
    assert shown([B, C, C, B, C, C]) == ["group x2 @0", "  B x1 @0", "  C x2 @1"]
    assert shown([B, C, B]) == ["B x1 @0", "C x1 @1", "B x1 @2"]


@pytest.mark.parametrize("seed", range(15))
def test_every_call_is_in_one_line(seed: int) -> None:
    """Whatever is folded, each call is in the line of a call of its kind, and lines say how often."""
    dice = random.Random(seed)

    def some(depth: int) -> list[Made]:
        kinds = [(dice.choice("ABC"), *(some(depth - 1) if depth else ())) for _ in range(dice.randrange(4))]
        return [kind for kind in kinds for _ in range(dice.choice([1, 1, 2]))] * dice.choice([1, 2, 3])

    tree, kinds, parents = tree_of(some(3))
    results: list[int] = []
    for item in tree.items():
        if not item.is_group:
            results += item.every
            assert {kinds[call] for call in item.every} == {kinds[item.call]}
            assert item.call == item.every[0]
            assert len(item.every) % item.times == 0
            inside = sum(parents[call] == item.call for call in range(len(kinds)))
            assert (item.calls > 1) == (inside > 0)
    assert sorted(results) == [*range(len(kinds))]
