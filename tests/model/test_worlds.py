"""Atoms of conditions that can be true together."""

from __future__ import annotations

import random

import pytest

from dispatch_cli.model.condition import atoms, parse_condition, value
from dispatch_cli.model.worlds import assignments, exclude_each_other, groups_of

EXCLUSIVE = [
    ("defined(X)", "not defined(X)"),
    ("defined(X)", "not X and not defined(X)"),
    ("X >= 2", "X < 2"),
    ("X == 1", "X == 2"),
    ("2 <= X", "X < 2"),
    ("X >= 12000", "not defined(X)"),
    ("X", "not defined(X)"),
    ("X", "X == 0"),
    ("X > 3", "X < 4"),
    ("X == 'cuda'", "X == 'cpu'"),
    ("X == 0x10", "X == 15"),
    ("A and B", "not (A or C)"),
]
TOGETHER = [
    ("defined(X)", "not X"),
    ("X < 2", "not defined(X)"),
    ("X >= 2", "X < 4"),
    ("X != 1", "X != 2"),
    ("defined(X)", "not defined(Y)"),
    ("X == 'cuda'", "X != 'cpu'"),
    ("f(X)", "not f(Y)"),
]


@pytest.mark.parametrize(
    ("one", "other", "expected"), [(*p, True) for p in EXCLUSIVE] + [(*p, False) for p in TOGETHER]
)
def test_conditions_exclude_each_other(one: str, other: str, expected: bool) -> None:
    first, second = (parse_condition(one),), (parse_condition(other),)
    assert exclude_each_other(first, second) is expected
    assert exclude_each_other(second, first) is expected


def preprocessor(text: str, defined: bool, number: int) -> bool:
    """Value of an atom about X in a C preprocessor."""
    known = number if defined else 0
    if text == "defined(X)":
        return defined
    return bool(eval(text.replace("X", str(known))))


def test_every_value_of_a_macro_is_in_a_world_and_every_world_has_a_value() -> None:
    dice = random.Random(7)
    for _ in range(200):
        texts = {"defined(X)"} if dice.random() < 0.5 else set()
        texts |= {f"X {dice.choice(['>=', '<=', '>', '<', '==', '!='])} {dice.randrange(4)}" for _ in range(3)}
        if dice.random() < 0.5:
            texts.add("X")
        order = sorted(texts)
        assigned = {tuple(assignment[text] for text in order) for assignment in assignments(groups_of(order))}
        values = [(False, 0), *((True, number) for number in range(-3, 8))]
        assert assigned == {tuple(preprocessor(text, *pair) for text in order) for pair in values}


def test_what_is_chosen_decides() -> None:
    texts = ["defined(X)", "X >= 2", "torch.cuda.is_available()", "Y"]
    chosen = {"X": "1", "torch.cuda.is_available()": "false", "Y": "undefined"}
    (only,) = assignments(groups_of(texts, chosen))
    assert only == {"defined(X)": True, "X >= 2": False, "torch.cuda.is_available()": False, "Y": False}


def test_conditions_with_very_many_atoms_are_not_tried_out() -> None:
    many = tuple(parse_condition(f"A{number}") for number in range(200))
    assert exclude_each_other(many, (parse_condition("not A0"),))
    either = tuple(parse_condition(f"A{number} or B{number}") for number in range(200))
    assert not exclude_each_other(either, (parse_condition("not (A0 or B0)"),))
    assert value(many[0], dict.fromkeys(atoms(many[0]), True)) is True
