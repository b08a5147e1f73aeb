"""Differences between two schemas of one operator: argument by argument, return by return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dispatch_cli.model.schema.model import Argument, FunctionSchema


class SchemaPart(Enum):
    """Part of a schema that differs; the value is the name in machine formats."""

    ARGUMENT = "argument"
    ORDER = "order"
    """The arguments that both have come in another order, or become keyword-only or positional."""
    RETURN = "return"


class SchemaPartChange(NamedTuple):
    """One part that differs.

    before, after: as PyTorch prints it; None where it is not there. Of `SchemaPart.ORDER` the names of the arguments
    that both have, with ``*`` before the keyword-only ones.
    """

    part: SchemaPart
    before: str | None
    after: str | None


def schema_changes(before: FunctionSchema, after: FunctionSchema) -> tuple[SchemaPartChange, ...]:
    """Every part in which *after* differs from *before*. The operators' names do not count.

    Arguments are the same by name.
    """
    return (*_of_arguments(before, after), *_of_order(before, after), *_of_returns(before.returns, after.returns))


def _of_arguments(before: FunctionSchema, after: FunctionSchema) -> Iterator[SchemaPartChange]:
    old, new = ({argument.name: argument for argument in schema.arguments} for schema in (before, after))
    for name in dict.fromkeys((*old, *new)):
        was, became = (side[name].printed() if name in side else None for side in (old, new))
        if was != became:
            yield SchemaPartChange(SchemaPart.ARGUMENT, was, became)
    if before.is_vararg != after.is_vararg:
        yield SchemaPartChange(SchemaPart.ARGUMENT, *("..." if side.is_vararg else None for side in (before, after)))


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
