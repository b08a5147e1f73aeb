"""Atoms of conditions that can be true together."""

from __future__ import annotations

import itertools
import random

import pytest

from dispatch_cli.model.conditions.condition import And, Atom, Condition, Not, Or, atoms, parse_condition, value
from dispatch_cli.model.conditions.simplify import MOST_LENGTH, simplified, text_of_all
from dispatch_cli.model.conditions.worlds import assignments, can_hold, exclude_each_other, groups_of
from dispatch_cli.model.sources.file_choice import FileChoice, choices_of, file_choice, is_in_build, worded

EXCLUSIVE = [
    ("defined(X)", "not defined(X)"),
    ("defined(X)", "not X and not defined(X)"),
    ("X >= 2", "X < 2"),
    ("X == 1", "X == 2"),
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


# Conditions without what is superfluous in them, and texts of bounded length.


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        ("(a and b) or (a and not b)", "a"),
        ("(a and not b) or (a and b) or (b and not a)", "a or b"),
        ("a or (a and b)", "a"),
        ("a and (a or b)", "a"),
        ("not (not a)", "a"),
        ("a and not (a and b)", "a and not b"),
        ("a or not a", None),
        ("X >= 2 and X >= 3", "X >= 3"),
        ("X >= 2 or X < 2", None),
        ("defined(X) and X >= 3", "X >= 3"),
        ("not (a or b or c or d)", "not (a or b or c or d)"),
        ("a and not a", "a and not a"),
    ],
)
def test_what_is_superfluous_is_left_out(text: str, shorter: str | None) -> None:
    condition = simplified(parse_condition(text))
    assert (None if condition is None else str(condition)) == shorter


def test_random_conditions_hold_in_the_same_cases() -> None:
    chance = random.Random(7)

    def some(depth: int) -> Condition:
        kind = chance.choice("anot") if depth else "a"
        if kind == "a":
            return Atom(chance.choice("pqrst") + "()")
        if kind == "n":
            return Not(some(depth - 1))
        return (And if kind == "t" else Or)(tuple(some(depth - 1) for _ in range(chance.randint(2, 3))))

    for _ in range(200):
        condition = some(3)
        short = simplified(condition)
        assert short is None or len(str(short)) <= len(str(condition))
        for number in range(32):
            world = {f"{name}()": bool(number >> at & 1) for at, name in enumerate("pqrst")}
            assert value(condition, world) is (True if short is None else value(short, world)), str(condition)


def test_all_of_some_parts_is_not_one_of_them() -> None:
    parts = (Atom("a"), Atom("b"))
    assert len({And(parts), Or(parts), Not(And(parts)), Not(Or(parts)), Not(Atom("a")), Atom("a")}) == 6


def test_what_always_holds_has_no_text() -> None:
    assert text_of_all((parse_condition("a or not a"),)) == text_of_all(()) == ""
    assert len(text_of_all((Atom("x" * 1_000),))) <= MOST_LENGTH


# Conditions that say which of several files is in the build.


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
    """Any two files that are no rivals are together in one."""
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
        choices = [set(chosen) for chosen in choices_of(rivals)]
        assert all(chosen in largest for chosen in choices)
        for file, other in itertools.combinations_with_replacement(files, 2):
            assert any({file, other} <= chosen for chosen in choices) is (other not in rivals[file])
