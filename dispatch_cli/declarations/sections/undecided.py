"""The sections ``functions``, ``undecided`` and ``not_understood``: what sources say beside what is registered."""

from __future__ import annotations

from dispatch_cli.declarations.fields import AT, is_true, read_place, read_records, scalars, text_of
from dispatch_cli.declarations.formats.source_format import (
    FUNCTION,
    KNOWN_FIELDS,
    NOT_UNDERSTOOD,
    UNDECIDED,
    UNKNOWN_FIELDS,
)
from dispatch_cli.declarations.sections.context import FileContext
from dispatch_cli.declarations.tree import Mapping, Node, Scalar
from dispatch_cli.model.declarations import RegisteringFunction, Undecided, UnreadStatement
from dispatch_cli.model.text.quoting import quoted
from dispatch_cli.model.text.suggest import suggestion


def read_undecided(context: FileContext, section: Node) -> None:
    """Read the section ``undecided``."""
    problems = context.problems
    for node, values in read_records(problems, section, UNDECIDED):
        with context.placed(node):
            unknown = tuple(_fields(context, values.get("unknown"), "unknown", UNKNOWN_FIELDS))
            registers = values.get("registers")
            texts = dict(_fields(context, values.get("known"), "known", KNOWN_FIELDS))
            at = read_place(problems, values.get(AT))
            if at is not None and type(registers) is Scalar:
                context.undecided.append(Undecided(registers.text, at, unknown, when=context.when, **texts))


def _fields(context: FileContext, node: Node | None, what: str, names: tuple[str, ...]) -> list[tuple[str, str]]:
    fields: list[tuple[str, str]] = []
    for key, value in node.pairs if type(node) is Mapping else ():
        if key.text not in names:
            hint = suggestion(key.text, names) or f"the fields are {', '.join(names)}"
            context.problems.add("unknown-field", f"{what!r} has no field {quoted(key.text)}", key, hint)
        elif (text := text_of(context.problems, value)) is not None:
            fields.append((key.text, text))
    return fields


def read_not_understood(context: FileContext, section: Node) -> None:
    """Read the section ``not_understood``."""
    problems = context.problems
    for node, values in read_records(problems, section, NOT_UNDERSTOOD):
        with context.placed(node):
            text, reason = (text_of(problems, values.get(name)) for name in ("text", "reason"))
            at = read_place(problems, values.get(AT))
            if at is not None and text is not None and reason is not None:
                bound, unread = (is_true(values.get(name)) or False for name in ("bound", "unread"))
                context.unread.append(UnreadStatement(at, text, reason, context.when, bound, unread))


def read_functions(context: FileContext, section: Node) -> None:
    """Read the section ``functions``."""
    problems = context.problems
    for _, values in read_records(problems, section, FUNCTION):
        name, at = text_of(problems, values.get("name")), read_place(problems, values.get(AT))
        registers = values.get("registers")
        places = (
            [read_place(problems, scalar) for scalar in scalars(problems, registers, "a place")] if registers else []
        )
        if at is not None and name is not None:
            context.functions.append(
                RegisteringFunction(name, at, tuple(place for place in places if place is not None))
            )
