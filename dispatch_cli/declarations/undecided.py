"""The sections ``undecided`` and ``not_understood``: what sources say beside what is registered."""

from __future__ import annotations

from dispatch_cli.declarations.context import FileContext
from dispatch_cli.declarations.fields import read_records, text_of
from dispatch_cli.declarations.places import AT, read_place
from dispatch_cli.declarations.source_format import NOT_UNDERSTOOD, UNDECIDED, UNKNOWN_FIELDS
from dispatch_cli.declarations.tree import Mapping, Node, Scalar
from dispatch_cli.model.declarations import Undecided, UnreadStatement
from dispatch_cli.model.suggest import suggestion

_KNOWN = ("name", "namespace", "dispatch_key", "kernel", "schema")


def read_undecided(context: FileContext, section: Node) -> None:
    """Read the section ``undecided``."""
    problems = context.problems
    for node, values in read_records(problems, section, UNDECIDED):
        with context.placed(node):
            unknown = tuple(_unknown(context, values.get("unknown")))
            registers = values.get("registers")
            texts = {name: text_of(problems, values.get(name)) for name in _KNOWN}
            at = read_place(problems, values.get(AT))
            if at is not None and type(registers) is Scalar:
                context.undecided.append(Undecided(registers.text, at, unknown, when=context.when, **texts))


def _unknown(context: FileContext, node: Node | None) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in node.pairs if type(node) is Mapping else ():
        if key.text not in UNKNOWN_FIELDS:
            hint = suggestion(key.text, UNKNOWN_FIELDS) or f"the fields are {', '.join(UNKNOWN_FIELDS)}"
            context.problems.add("unknown-field", f"'unknown' has no field {key.text!r}", key, hint)
        elif (text := text_of(context.problems, value, "an expression")) is not None:
            found.append((key.text, text))
    return found


def read_not_understood(context: FileContext, section: Node) -> None:
    """Read the section ``not_understood``."""
    problems = context.problems
    for node, values in read_records(problems, section, NOT_UNDERSTOOD):
        with context.placed(node):
            text, reason = (text_of(problems, values.get(name)) for name in ("text", "reason"))
            at = read_place(problems, values.get(AT))
            if at is not None and text is not None and reason is not None:
                context.unread.append(UnreadStatement(at, text, reason, context.when))
