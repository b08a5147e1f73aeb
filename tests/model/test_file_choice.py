"""Conditions that say which of several files is in the build."""

from __future__ import annotations

import itertools
import random

import pytest

from dispatch_cli.model.condition import Condition, Not, parse_condition
from dispatch_cli.model.file_choice import FileChoice, choices_of, file_choice, is_in_build, worded
from dispatch_cli.model.worlds import can_hold, groups_of


@pytest.mark.parametrize("file", ["a.cpp", "src/or/and not.cpp", "with, comma", "café/ü.cu", "(x).cpp"])
def test_the_text_says_the_choice(file: str) -> None:
    choice = FileChoice(file, ("b.cpp", "c d.cpp"))
    atom = is_in_build(choice)
    assert atom is not None and file_choice(atom.text) == choice
    assert parse_condition(str(Not(atom))) == Not(atom)


def test_a_name_that_no_condition_can_have() -> None:
    assert is_in_build(FileChoice('a"b c', ("d",))) is None


def test_rivals_are_never_together() -> None:
    def condition(file: str, *rivals: str) -> Condition:
        atom = is_in_build(FileChoice(file, rivals))
        assert atom is not None
        return atom

    a, b, c = condition("a", "b"), condition("b", "a", "c"), condition("c", "b")
    assert not can_hold((a, b)) and can_hold((a, c)) and not can_hold((Not(a), Not(b)))
    (group,) = groups_of([str(a), str(b), str(c)], {"c": "1"})
    assert [list(world.values()) for world in group.worlds] == [[True, False, True]]
    assert worded(a) == "a is in the build" and worded(Not(a)) == "a is not in the build"


def test_choices_are_the_largest_sets_without_rivals() -> None:
    dice = random.Random(5)
    for count in [1, 2, 3, 5, 7] * 20:
        files = [str(number) for number in range(count)]
        rivals: dict[str, set[str]] = {file: set() for file in files}
        for first, other in itertools.combinations(files, 2):
            if dice.random() < 0.4:
                rivals[first].add(other)
                rivals[other].add(first)
        sets = [set(some) for size in range(count + 1) for some in itertools.combinations(files, size)]
        free = [some for some in sets if not any(rivals[file] & some for file in some)]
        largest = [some for some in free if not any(some < other for other in free)]
        assert sorted(map(sorted, choices_of(rivals))) == sorted(map(sorted, largest))
