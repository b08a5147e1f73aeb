"""Short forms of conditions: without superfluous parts, and texts of bounded length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from dispatch_cli.model.conditions.condition import And, Atom, Condition, Not, Or, atoms, negated, value
from dispatch_cli.model.conditions.worlds import assignments, count, groups_of
from dispatch_cli.model.sources.file_choice import worded

MOST_WORLDS = 256
"""Consistent choices of truth values that are looked at; with more, a condition stays as it is."""
MOST_LENGTH = 200
"""Characters of a text."""
Case = Sequence[bool]
"""Truth values of some conditions, in their order."""


def cover(inside: Sequence[Case], outside: Sequence[Case]) -> list[list[tuple[int, bool]]]:
    """A few short conjunctions: at least one of them holds in each case of *inside*, and none in a case of *outside*.

    Each consists of positions and truth values. Other cases do not matter.
    """
    wanted, others = [_number(case) for case in inside], [_number(case) for case in outside]
    positions = range(len(inside[0])) if inside else range(0)
    conjunctions: list[tuple[int, int]] = []
    left = wanted
    alike = sum(1 << at for at in positions if len({number >> at & 1 for number in wanted}) == 1)
    widest = {number: _widest(number, others, positions, alike) for number in wanted}
    while left:
        best = max((widest[number] for number in left), key=lambda it: _covered(it, left))
        conjunctions.append(best)
        left = [number for number in left if (number ^ best[1]) & best[0]]
    return [[(at, bool(truth >> at & 1)) for at in positions if mask >> at & 1] for mask, truth in conjunctions]


def _number(case: Case) -> int:
    return sum(1 << position for position, holds in enumerate(case) if holds)


def _widest(case: int, others: Sequence[int], positions: range, alike: int) -> tuple[int, int]:
    """Positions that tell a case from all others, none of them superfluous; those that are false go first.

    alike: those at which all cases to be covered are equal; they go last.
    """
    mask = (1 << len(positions)) - 1
    for position in sorted(positions, key=lambda at: (alike >> at & 1, case >> at & 1, -at)):
        smaller = mask & ~(1 << position)
        if all((other ^ case) & smaller for other in others):
            mask = smaller
    return mask, case


def _covered(conjunction: tuple[int, int], cases: Sequence[int]) -> tuple[int, int]:
    mask, truth = conjunction
    return sum(not (case ^ truth) & mask for case in cases), -mask.bit_count()


@cache
def simplified(condition: Condition) -> Condition | None:
    """The condition, or a shorter one that holds in the same cases; None where it always holds."""
    if isinstance(condition, Atom) or (isinstance(condition, Not) and isinstance(condition.operand, Atom)):
        return condition
    names = list(dict.fromkeys(atoms(condition)))
    groups = groups_of(names)
    if count(groups) > MOST_WORLDS:
        return condition
    inside: list[list[bool]] = []
    outside: list[list[bool]] = []
    for world in assignments(groups):
        (inside if value(condition, world) else outside).append([world[name] for name in names])
    if not outside:
        return None
    if not inside:
        return condition
    single = [Atom(name) for name in names]
    direct = any_of(terms(cover(inside, outside), single))
    inverse = negated(any_of(terms(cover(outside, inside), single)))
    return min((direct, condition, inverse), key=lambda term: len(str(term)))


def terms(conjunctions: Iterable[Sequence[tuple[int, bool]]], conditions: Sequence[Condition]) -> list[Condition]:
    """The conjunctions that `cover` finds, as conditions."""
    return [
        all_of([conditions[position] if truth else negated(conditions[position]) for position, truth in term])
        for term in conjunctions
    ]


def all_of(conditions: Iterable[Condition]) -> Condition:
    """Conjunction of at least one condition, sorted by text, with the affirmed ones first."""
    return _joined(And, conditions, lambda part: str(part).startswith("not "))


def any_of(conditions: Iterable[Condition]) -> Condition:
    """Disjunction of at least one condition, sorted by text, with conjunctions last."""
    return _joined(Or, conditions, lambda part: isinstance(part, And))


def _joined(
    kind: type[And] | type[Or], conditions: Iterable[Condition], is_late: Callable[[Condition], bool]
) -> Condition:
    parts = (part for whole in conditions for part in (whole.operands if isinstance(whole, kind) else (whole,)))
    ordered = sorted({str(part): part for part in parts}.items(), key=lambda item: (is_late(item[1]), item[0]))
    return ordered[0][1] if len(ordered) == 1 else kind(tuple(part for _, part in ordered))


def short_text(condition: Condition) -> str:
    """The text of a condition, cut where it is long."""
    text = worded(condition)
    return text if len(text) <= MOST_LENGTH else f"{text[: MOST_LENGTH - 1]}…"


def text_of_all(conditions: Sequence[Condition]) -> str:
    """A short text of conditions that all hold; empty where they always do."""
    whole = simplified(conditions[0] if len(conditions) == 1 else And(tuple(conditions))) if conditions else None
    return "" if whole is None else short_text(whole)
