"""Differences between two schemas of one operator, argument by argument."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.model.schema import FunctionSchema, SchemaError, parse_printed_schema


def schema_changes(old: str | None, new: str | None) -> tuple[str, ...]:
    """One sentence for each change; none where one side has no schema, or one that cannot be read."""
    if old is None or new is None or old == new:
        return ()
    try:
        before, after = parse_printed_schema(old), parse_printed_schema(new)
    except SchemaError:
        return ()
    return tuple(_changes(before, after))


def _changes(old: FunctionSchema, new: FunctionSchema) -> Iterator[str]:
    before, after = ({argument.name: argument for argument in schema.arguments} for schema in (old, new))
    for name, argument in before.items():
        if name not in after:
            yield f"argument removed: {argument.printed()}"
    for name, argument in after.items():
        was = before.get(name)
        if was is None:
            yield f"argument added: {argument.printed()}"
        elif was.printed() != argument.printed():
            yield f"{was.printed()} → {argument.printed()}"
        elif was.kwarg_only is not argument.kwarg_only:
            yield f"argument {name} is {'now' if argument.kwarg_only else 'no longer'} by keyword only"
    kept = [name for name in before if name in after]
    if kept != [name for name in after if name in before]:
        yield f"order of arguments: {', '.join(after)}"
    results = [", ".join(result.printed() for result in schema.returns) for schema in (old, new)]
    if results[0] != results[1]:
        yield f"returns {results[0] or 'nothing'} → {results[1] or 'nothing'}"
    if (old.is_vararg, old.is_varret) != (new.is_vararg, new.is_varret):
        yield "further arguments or returns (...)"
