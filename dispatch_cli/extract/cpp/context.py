"""Conditions that hold at a place: what they decide, and which of them exclude one another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dispatch_cli.model.condition import And, Atom, Condition, Not, Or, atoms, negated, value

When = tuple[Condition, ...]


def conjuncts(condition: Condition) -> Iterable[Condition]:
    """The conditions that all have to hold for *condition*."""
    match condition:
        case And(operands):
            for operand in operands:
                yield from conjuncts(operand)
        case Not(Or(operands)):
            for operand in operands:
                yield from conjuncts(negated(operand))
        case _:
            yield condition


def facts(when: When) -> dict[str, bool]:
    """The atoms that *when* decides."""
    known: dict[str, bool] = {}
    for condition in when:
        match condition:
            case Atom(text):
                known[text] = True
            case Not(Atom(text)):
                known[text] = False
            case _:
                pass
    return known


def joined(when: When, more: Sequence[Condition]) -> When:
    """Both, without what is there already."""
    if not more:
        return when
    return tuple(dict.fromkeys((*when, *(part for condition in more for part in conjuncts(condition)))))


def excludes(when: When, other: When) -> bool:
    """True if they cannot both hold, as far as single atoms and equal conditions tell."""
    known = facts(when)
    return any(value(condition, known) is False or negated(condition) in when for condition in other)


def undecided(when: Iterable[Condition], known: Mapping[str, bool]) -> list[str]:
    """The atoms of *when* that are not known, each once."""
    return list(dict.fromkeys(text for condition in when for text in atoms(condition) if text not in known))
