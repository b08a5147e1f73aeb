"""Findings once all modules are read.

Branches that agree are joined, missing names are counted, functions that register something when they are called are
told apart, and so are libraries that end before.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from dispatch_cli.extract.python.names import every_node
from dispatch_cli.extract.python.values import (
    Alternatives,
    Bound,
    ClassValue,
    FunctionValue,
    InstanceValue,
    LibraryValue,
    ObjectValue,
    Prepared,
    Scope,
    Value,
)
from dispatch_cli.model.condition import Condition, atoms, negated
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import (
    CalledFunction,
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    OperatorFunction,
    Unknown,
)
from dispatch_cli.model.span import Span
from dispatch_cli.model.worlds import exclude_each_other

MOST = 8
"""Registrations of one thing with which another is compared."""
Registrations = Sequence[tuple[str, Extracted]]
_KEEPING: frozenset[type] = frozenset(
    (
        *(Alternatives, Bound, ClassValue, FunctionValue, InstanceValue, LibraryValue, ObjectValue, Prepared),
        *(list, dict, tuple),
    )
)
"""Kinds of values that may refer to others."""


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


def may_keep(value: Value) -> bool:
    """True if a value may refer to a library."""
    return type(value) in _KEEPING


def kept_libraries(roots: Iterable[Value]) -> set[LibraryValue]:
    """The libraries that values refer to, directly or through others.

    PyTorch removes what a library has registered when nothing refers to the object any more. What is given to something
    that is not known is taken to be kept.
    """
    kept: set[LibraryValue] = set()
    seen: set[int] = set()
    pending = [root for root in roots if may_keep(root)]
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, LibraryValue):
            kept.add(value)
        else:
            pending += [referred for referred in _referred(value) if may_keep(referred)]
    return kept


def _referred(value: Value) -> Iterator[Value]:
    match value:
        case dict():
            yield from value.keys()
            yield from value.values()
        case Alternatives(options):
            yield from (option.value for option in options)
        case Bound(owner):
            yield owner
        case Prepared(function, arguments, keywords):
            yield from (function, *arguments, *keywords.values())
        case ObjectValue(attributes):
            yield from attributes.values()
        case InstanceValue(of, attributes):
            yield from (of, *attributes.values())
        case ClassValue():
            yield from value.scope.names.values()
        case FunctionValue():
            yield from (value.binds, value.wrapped, *value.defaults, *value.keyword_defaults.values())
            yield from value.attributes.values()
            yield from _closure(value)
        case _:
            yield from value


def _closure(function: FunctionValue) -> Iterator[Value]:
    """The values of the names in a function that are those of functions around it."""
    names = _names(function.node)
    scope: Scope | None = function.scope
    while scope is not None and scope.parent is not None:
        yield from (scope.names[name] for name in names if name in scope.names)
        scope = scope.parent


@lru_cache(maxsize=50_000)
def _names(code: ast.AST) -> frozenset[str]:
    return frozenset(node.id for node in every_node(code) if isinstance(node, ast.Name))
