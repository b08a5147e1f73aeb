"""The size of a value as a tree: what it costs to compare, hash, print or copy it.

Python does all of these in C, where no signal arrives, and visits a part that is shared as often as it is referred to:
``x = [x, x]`` sixty times makes a list that is compared in 2⁶⁰ steps. So each of them is paid for here, beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from dispatch_cli.extract.python.values import EnumMember, TypeArguments, Value

MAX_PARTS = 200_000
"""Parts of a value that is compared, hashed, printed or copied, shared ones counted each time."""
MAX_TYPE_PARTS = 1_000
"""Parts of a type: types are gone through one by one."""
CHARACTERS = 64
"""So many characters of a text count as a part."""
PARTS = 16
"""So many parts are visited in C in the time of one unit of work."""


def size_of(value: Value, spend: Callable[[int], None]) -> int:
    """Parts of a value as a tree, `MAX_PARTS` + 1 for more, and for a value that contains itself.

    Each part is visited once. spend: called with the amount of work.
    """
    parts = _parts(value)
    if parts is None:
        return _leaf(value)
    sizes: dict[int, int] = {id(value): MAX_PARTS + 1}  # until it is known: of what contains itself
    kept = [parts]  # so that no id is used twice
    waiting = [(id(value), parts, iter(parts))]
    totals = [1]
    while waiting:
        key, parts, rest = waiting[-1]
        for part in rest:
            inner = _parts(part)
            if inner is None:
                totals[-1] += _leaf(part)
            elif id(part) in sizes:
                totals[-1] += sizes[id(part)]
            else:
                sizes[id(part)] = MAX_PARTS + 1
                kept.append(inner)
                waiting.append((id(part), inner, iter(inner)))
                totals.append(1)
                break
        else:
            spend(len(parts) // 4 + 2)
            sizes[key] = total = min(totals.pop(), MAX_PARTS + 1)
            waiting.pop()
            if totals:
                totals[-1] += total
    return sizes[id(value)]


def _parts(value: Value) -> Collection[Value] | None:
    """The parts of a value; None for what has none."""
    kind = type(value)
    if kind is tuple or kind is list:
        return value  # type: ignore[no-any-return]
    if kind is dict:
        return [*value, *value.values()]
    if kind is TypeArguments:
        return (value.origin, *value.arguments)
    return (value.value,) if kind is EnumMember else None


def _leaf(value: Value) -> int:
    return 1 + len(value) // CHARACTERS if isinstance(value, str | bytes) else 1
