"""Findings once all modules are read: branches that agree are joined, and missing names are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dispatch_cli.model.condition import Condition, atoms, negated
from dispatch_cli.model.extracted import Extracted, ExtractedBlock, Unknown


def joined(things: Sequence[tuple[str, Extracted]]) -> list[tuple[str, Extracted]]:
    """Join equal registrations of one place that are made under a condition and under its opposite."""
    result: list[tuple[str, Extracted] | None] = []
    places: dict[Extracted, list[int]] = {}
    for file, thing in things:
        key = thing._replace(when=())
        for place in places.get(key, ()):
            earlier = result[place]
            assert earlier is not None
            when = _agreeing(earlier[1].when, thing.when)
            if when is not None:
                result[place] = file, earlier[1]._replace(when=when)
                break
        else:
            places.setdefault(key, []).append(len(result))
            result.append((file, thing))
    return [entry for entry in result if entry is not None]


def _agreeing(left: tuple[Condition, ...], right: tuple[Condition, ...]) -> tuple[Condition, ...] | None:
    """The conditions of something that takes place under either; None where they are not opposites in one point."""
    if set(left) == set(right) or not left:
        return left
    if not right:
        return right
    first = [condition for condition in left if condition not in right]
    second = [condition for condition in right if condition not in left]
    if len(first) == len(second) == 1 and negated(first[0]) == second[0]:
        return tuple(condition for condition in left if condition is not first[0])
    return None


def unknown_names(thing: Extracted) -> list[str]:
    expressions: list[str] = []
    for field in ("namespace", "name", "operator", "key", "dispatch_key"):
        value = getattr(thing, field, None)
        if isinstance(value, Unknown):
            expressions.append(value.expression)
    expressions += [device.expression for device in getattr(thing, "devices", ()) if isinstance(device, Unknown)]
    block = getattr(thing, "block", None)
    if block is not None:
        expressions += unknown_names(block)
    return list(dict.fromkeys(expressions))


def missing_names(things: Sequence[Extracted], given: frozenset[str]) -> tuple[tuple[str, int], ...]:
    """Expressions that would decide more, with the number of registrations that depend on each.

    given: the atoms that the settings of files have, which nothing in a file decides.
    """
    counts: Counter[str] = Counter()
    for thing in things:
        if isinstance(thing, ExtractedBlock):
            continue
        tests = [
            text for part in thing.when for text in atoms(part) if not (text.endswith(" is called") or text in given)
        ]
        counts.update(list(dict.fromkeys([*unknown_names(thing), *tests])))
    return tuple(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))
