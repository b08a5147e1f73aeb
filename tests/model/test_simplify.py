"""Conditions without what is superfluous in them, and texts of bounded length."""

from __future__ import annotations

import random

import pytest

from dispatch_cli.model.condition import And, Atom, Condition, Not, Or, parse_condition, value
from dispatch_cli.model.simplify import MOST_LENGTH, short_text, simplified, text_of_all


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


@pytest.mark.parametrize(("joined", "what"), [(" or ", "combinations"), (" and ", "conditions")])
def test_a_long_text_is_cut_after_a_part(joined: str, what: str) -> None:
    text = short_text(parse_condition(joined.join(f"condition_{number}()" for number in range(100))))
    assert text.startswith(f"condition_0(){joined}condition_1(){joined}")
    assert text.endswith(f" more {what}") and len(text) <= MOST_LENGTH + 30


def test_all_of_some_parts_is_not_one_of_them() -> None:
    parts = (Atom("a"), Atom("b"))
    assert len({And(parts), Or(parts), Not(And(parts)), Not(Or(parts)), Not(Atom("a")), Atom("a")}) == 6


def test_what_always_holds_has_no_text() -> None:
    assert text_of_all((parse_condition("a or not a"),)) == text_of_all(()) == ""
    assert len(text_of_all((Atom("x" * 1_000),))) <= MOST_LENGTH
