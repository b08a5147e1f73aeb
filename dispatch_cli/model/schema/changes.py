"""Differences between two schemas of one operator: argument by argument, return by return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from dispatch_cli.model.schema.model import Argument, FunctionSchema
from dispatch_cli.model.schema_part import SchemaPart, SchemaPartChange


def schema_changes(before: FunctionSchema, after: FunctionSchema) -> tuple[SchemaPartChange, ...]:
    """Every part in which *after* differs from *before*. The operators' names do not count.

    Arguments are the same by name; one whose name alone is another, between the same neighbours, is renamed.
    """
    return (*_of_arguments(before, after), *_of_order(before, after), *_of_returns(before.returns, after.returns))


def _of_arguments(before: FunctionSchema, after: FunctionSchema) -> Iterator[SchemaPartChange]:
    old, new = (
        {argument.name: argument for argument in before.arguments},
        {argument.name: argument for argument in after.arguments},
    )
    renamed = dict(_renamed(before.arguments, after.arguments))
    taken = set(renamed.values())
    for argument in before.arguments:
        other = new.get(renamed.get(argument.name, argument.name))
        if other is None:
            yield SchemaPartChange(SchemaPart.ARGUMENT, argument.printed(), None)
        elif argument.printed() != other.printed():
            yield SchemaPartChange(SchemaPart.ARGUMENT, argument.printed(), other.printed())
    for argument in after.arguments:
        if argument.name not in old and argument.name not in taken:
            yield SchemaPartChange(SchemaPart.ARGUMENT, None, argument.printed())
    if before.is_vararg != after.is_vararg:
        yield SchemaPartChange(SchemaPart.ARGUMENT, *("..." if side.is_vararg else None for side in (before, after)))


def _renamed(before: Sequence[Argument], after: Sequence[Argument]) -> Iterator[tuple[str, str]]:
    """The old and the new name of arguments that differ in nothing else, one between the same neighbours."""
    old, new = [argument.name for argument in before], [argument.name for argument in after]
    for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "replace" or last - first != end - start:
            continue
        for was, became in zip(before[first:last], after[start:end], strict=True):
            if was.name not in new and became.name not in old and _but_name(was) == _but_name(became):
                yield was.name, became.name


def _but_name(argument: Argument) -> tuple[object, ...]:
    return argument.real_type, argument.size, argument.default, argument.kwarg_only, argument.alias


def _of_order(before: FunctionSchema, after: FunctionSchema) -> Iterator[SchemaPartChange]:
    both = {argument.name for argument in before.arguments} & {argument.name for argument in after.arguments}
    old, new = (", ".join(_order(schema.arguments, both)) for schema in (before, after))
    if old != new:
        yield SchemaPartChange(SchemaPart.ORDER, old, new)


def _order(arguments: Sequence[Argument], names: set[str]) -> Iterator[str]:
    keyword_only = False
    for argument in arguments:
        if argument.name in names:
            if argument.kwarg_only and not keyword_only:
                keyword_only = True
                yield "*"
            yield argument.name


def _of_returns(before: Sequence[Argument], after: Sequence[Argument]) -> Iterator[SchemaPartChange]:
    for position in range(max(len(before), len(after))):
        old, new = (side[position].printed() if position < len(side) else None for side in (before, after))
        if old != new:
            yield SchemaPartChange(SchemaPart.RETURN, old, new)
