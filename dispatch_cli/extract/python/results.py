"""Findings once all modules are read.

Branches that agree are joined, missing names are counted, and functions that register something when they are called
are told apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from dispatch_cli.extract.python.evaluation.values import (
    FunctionValue,
)
from dispatch_cli.extract.readable import unknown_parts
from dispatch_cli.model.conditions.condition import Condition, atoms, negated
from dispatch_cli.model.conditions.worlds import TORCH_VERSION, exclude_each_other
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.sources.extracted import (
    CalledFunction,
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    OperatorFunction,
)
from dispatch_cli.model.span import Span

MOST = 8
"""Registrations of one thing with which another is compared."""
Registrations = Sequence[tuple[str, Extracted]]


def joined(things: Sequence[tuple[str, Extracted]]) -> list[tuple[str, Extracted]]:
    """Join equal registrations of one place, of which one of the conditions is enough."""
    result: list[tuple[str, Extracted] | None] = []
    places: dict[Extracted, list[int]] = {}
    for file, thing in things:
        same = places.setdefault(thing._replace(when=()), [])
        when = thing.when
        place = len(result)
        result.append(None)
        for earlier in reversed(same):  # what two make together may join with an earlier registration
            entry = result[earlier]
            assert entry is not None
            either = _either(entry[1].when, when)
            if either is not None:
                same.remove(earlier)
                result[place] = None
                place, when = earlier, either
        result[place] = file, thing._replace(when=when)
        same.append(place)
    return [entry for entry in result if entry is not None]


def _either(left: tuple[Condition, ...], right: tuple[Condition, ...]) -> tuple[Condition, ...] | None:
    """The conditions of what happens under either; None unless one implies the other, or they differ in an opposite."""
    first = [condition for condition in left if condition not in right]
    second = [condition for condition in right if condition not in left]
    if not first:
        return left
    if not second:
        return right
    if len(first) == len(second) == 1 and negated(first[0]) == second[0]:
        return tuple(condition for condition in left if condition is not first[0])
    return None


def unknown_names(thing: Extracted) -> list[str]:
    """The expressions that decide what is not known of a registration."""
    return list(dict.fromkeys(value.expression for _, value in unknown_parts(thing)))


def missing_names(things: Sequence[Extracted], given: frozenset[str]) -> tuple[tuple[str, int], ...]:
    """Expressions that would decide more, with the number of registrations that depend on each.

    given: the atoms that the settings of files have, which nothing in a file decides.
    """
    counts: Counter[str] = Counter()
    for thing in things:
        if isinstance(thing, ExtractedBlock):
            continue
        tests = [
            TORCH_VERSION if text.startswith(TORCH_VERSION) else text
            for part in thing.when
            for text in atoms(part)
            if not (text.endswith(" is called") or text in given)
        ]
        counts.update(list(dict.fromkeys([*unknown_names(thing), *tests])))
    return tuple(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def without_rivals(
    things: Registrations, functions: Mapping[Extracted, FunctionValue]
) -> tuple[Registrations, Mapping[Extracted, FunctionValue]]:
    """The registrations, and those of functions whose file registers the same elsewhere: only one can be called.

    functions: of what is registered only when a function is called, that function.
    """
    kept: list[tuple[str, Extracted]] = []
    rivals: dict[Extracted, FunctionValue] = {}
    holders: dict[tuple[object, ...], list[tuple[FunctionValue | None, Extracted]]] = {}
    for file, thing in things:
        function = functions.get(thing)
        own = [holders.setdefault((file, *slot), []) for slot in _slots(thing)]
        contradicts = any(
            other is not function and not exclude_each_other(of_other.when, thing.when)
            for those in own
            for other, of_other in those
        )
        if function is not None and (contradicts or getattr(thing, "block", None) in rivals):
            rivals[thing] = function
            continue
        kept.append((file, thing))
        for those in own:
            those += [(function, thing)] * (len(those) < MOST)
    return kept, rivals


def _slots(thing: Extracted) -> Iterator[tuple[object, ...]]:
    """The things of a registration of which there can be one."""
    match thing:
        case ExtractedBlock(kind=LibraryKind.DEF):
            yield "namespace", thing.namespace
        case ExtractedDefinition() | CustomOperator():
            yield "definition", thing.name
        case ExtractedKernel():
            yield "kernel", thing.operator, thing.key
        case ExtractedFallback():
            yield "fallback", thing.key
        case OperatorFunction():
            yield thing.role, thing.operator, thing.devices


def called_functions(
    things: Registrations,
    functions: Mapping[Extracted, FunctionValue],
    at: Callable[[FunctionValue], Span],
) -> list[CalledFunction]:
    """The functions that register something when they are called. at: the place of one."""
    places: dict[FunctionValue, dict[Span, None]] = {}
    for _, thing in things:
        if thing in functions:
            places.setdefault(functions[thing], {})[thing.at] = None
    return [CalledFunction(function.name, at(function), tuple(those)) for function, those in places.items()]
