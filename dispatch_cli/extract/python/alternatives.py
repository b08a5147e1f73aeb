"""Functions that register something when they are called, by those who use their module.

Where two of a file define one operator, or have kernels for one key, only one of them can be called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from dispatch_cli.extract.python.values import FunctionValue
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
)
from dispatch_cli.model.span import Span
from dispatch_cli.model.worlds import exclude_each_other

MOST = 8
"""Registrations of one thing with which another is compared."""
Registrations = Sequence[tuple[str, Extracted]]


def without_rivals(
    things: Registrations, functions: Mapping[Extracted, FunctionValue]
) -> tuple[Registrations, Mapping[Extracted, FunctionValue]]:
    """The registrations, and those of functions whose file registers the same elsewhere.

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
