"""Names of embedded states and universes that users give: ``torch-2.9.1`` means ``torch-2.9``, and a note says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

from dispatch_cli.cli.output import say

if TYPE_CHECKING:
    from dispatch_cli.engine.history.state import State

_Value = TypeVar("_Value", str, None, tuple[str, ...])


def resolved(ctx: click.Context, _param: click.Parameter, value: _Value) -> _Value:
    """The callback of an option that takes such a name, or several."""
    if isinstance(value, str):
        return resolved_name(value, quiet=ctx.resilient_parsing)
    if isinstance(value, tuple):
        return tuple(resolved_name(one, quiet=ctx.resilient_parsing) for one in value)
    return value


def resolved_name(text: str, quiet: bool = False) -> str:
    """The embedded name that a text means; the text itself where it means none. quiet: without a note."""
    if not text.startswith("torch-"):
        return text
    from dispatch_cli import bases

    found = bases.resolve(text)
    if found.note is not None and not quiet:
        say_note(found.note)
    return found.name


def say_name_notes(state: State) -> None:
    """Say which names in files mean other ones, and where they are."""
    for note in state.declarations.notes:
        place = "" if note.span is None else f"{note.span.file}:{note.span.line}:{note.span.column}: "
        say_note(f"{place}{note.message}")


def say_note(text: str) -> None:
    """A note on standard error, on one line."""
    from dispatch_cli.render.text_safety import safe

    say(f"note: {safe(text)}\n")
