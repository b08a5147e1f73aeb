"""Functions that register the same: only one of them is called.

A function that nothing calls when its module is imported is taken to be called by those who use the module. Two of them
that define one operator, or have kernels for one key, cannot both be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from dispatch_cli.extract.python.values import FunctionValue
from dispatch_cli.model.condition import Atom, Condition, Not
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
"""Functions that register the same of which each excludes the others."""


def called(function: FunctionValue) -> Condition:
    """The condition that a function is called."""
    return Atom(f"{function.name}() is called")


def exclusive_functions(
    things: Sequence[tuple[str, Extracted]], functions: Mapping[Extracted, FunctionValue]
) -> list[tuple[str, Extracted]]:
    """The registrations; those of functions of one file that contradict each other exclude each other.

    functions: of what is registered only when a function is called, that function.
    """
    by_slot: dict[tuple[object, ...], list[tuple[FunctionValue | None, Extracted]]] = {}
    for file, thing in things:
        for slot in _slots(thing):
            by_slot.setdefault((file, *slot), []).append((functions.get(thing), thing))
    conditional: dict[FunctionValue, None] = {}
    later: dict[FunctionValue, dict[FunctionValue, None]] = {}
    for registrations in by_slot.values():
        for place, (function, thing) in enumerate(registrations[:MOST]):
            for other, of_other in registrations[:place]:
                if other is function or exclude_each_other(of_other.when, thing.when):
                    continue
                conditional.update(dict.fromkeys(each for each in (function or other,) if each is not None))
                if function is not None and other is not None:
                    later.setdefault(other, {})[function] = None
    whens = {
        function: (
            *((called(function),) if function in conditional else ()),
            *(Not(called(other)) for other in later.get(function, ()) if function not in later.get(other, ())),
        )
        for function in {**conditional, **later}
    }
    return [(file, _under(thing, whens, functions)) for file, thing in things]


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


def _under(
    thing: Extracted, whens: Mapping[FunctionValue, tuple[Condition, ...]], functions: Mapping[Extracted, FunctionValue]
) -> Extracted:
    """A thing under the conditions of the function that registers it."""
    function = functions.get(thing)
    more = () if function is None else tuple(part for part in whens.get(function, ()) if part not in thing.when)
    if not more:
        return thing
    if isinstance(thing, ExtractedDefinition | ExtractedKernel | ExtractedFallback) and thing.block in functions:
        block = _under(thing.block, whens, functions)
        assert isinstance(block, ExtractedBlock)
        thing = thing._replace(block=block)
    return thing._replace(when=(*thing.when, *more))


def called_functions(
    things: Sequence[tuple[str, Extracted]],
    functions: Mapping[Extracted, FunctionValue],
    at: Callable[[FunctionValue], Span],
) -> list[CalledFunction]:
    """The functions that register something when they are called. at: the place of one."""
    places: dict[FunctionValue, dict[Span, None]] = {}
    for _, thing in things:
        if thing in functions:
            places.setdefault(functions[thing], {})[thing.at] = None
    return [CalledFunction(function.name, at(function), tuple(those)) for function, those in places.items()]
