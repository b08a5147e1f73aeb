"""The sections ``functions``, ``undecided`` and ``not_understood``: what sources say beside what is registered."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.declarations.fields import Values, pairs_of, read_place, read_records, text_of
from dispatch_cli.declarations.formats.format_types import (
    AT,
    BOOLEAN,
    TEXT,
    WHEN,
    Field,
    Record,
    choice,
    list_of,
    map_of,
)
from dispatch_cli.declarations.sections.context import FileContext
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model.declarations import NotUnderstood, RegisteringFunction, Undecided
from dispatch_cli.model.text.quoting import quoted

_REGISTERS = (
    *("block", "definition", "kernel", "fallback", "custom_op", "triton_op", "register_fake", "register_kernel"),
    *("register_autograd", "register_vmap", "register_autocast", "py_impl"),
)
"""Kinds of things that an undecided statement registers."""
_UNKNOWN_FIELDS = ("name", "namespace", "dispatch_key", "device")
"""Fields of such a statement that can be unknown."""
_KNOWN_FIELDS = ("name", "namespace", "dispatch_key", "kernel", "schema")
"""Fields of such a statement that can be known."""
_AT = Field("at", TEXT, AT.doc, required=True)
UNDECIDED = Record(
    "undecided",
    "an undecided registration",
    "A registration in the sources of which something is not known, such as its dispatch key. It is not registered: "
    "answers and findings do not take it into account.",
    (
        _AT,
        WHEN,
        Field("registers", choice(*_REGISTERS), "What it registers.", required=True),
        Field(
            "unknown",
            map_of({"enum": [*_UNKNOWN_FIELDS]}, TEXT, "fields to expressions"),
            "What is not known, by field, and the expression in the sources that decides it: "
            "`{dispatch_key: current_platform.dispatch_key}`.",
            required=True,
        ),
        Field(
            "known",
            map_of({"enum": [*_KNOWN_FIELDS]}, TEXT, "fields to texts"),
            "What is known: the operator's `name`, the `namespace` of the block, the `dispatch_key` or device type, "
            "the `kernel` as the sources name it, the `schema`.",
            default="nothing",
        ),
    ),
)
NOT_UNDERSTOOD = Record(
    "not_understood",
    "a statement that was not understood",
    "A statement in the sources that may register something, and that `extract` did not understand.",
    (
        _AT,
        WHEN,
        Field("text", TEXT, "The statement, shortened.", required=True),
        Field("reason", TEXT, "Why it was not understood.", required=True),
        Field(
            "bound",
            BOOLEAN,
            "A bound of `extract` was reached here: part of the file is not read, or not in every case.",
            default="false",
        ),
        Field(
            "unread",
            BOOLEAN,
            "Nothing of the file could be read: it is not valid, or cannot be opened.",
            default="false",
        ),
    ),
)
FUNCTION = Record(
    "function",
    "a function that registers something",
    "A Python function that registers something when it is called, which nothing does while the modules are imported. "
    "What it registers is taken to be registered: it is public, or named elsewhere.",
    (
        _AT,
        Field("name", TEXT, "Its name.", required=True),
        Field(
            "registers",
            list_of(TEXT, "places"),
            "The places of what it registers, as `FILE:LINE:COLUMN`. Findings about them name the function.",
            required=True,
        ),
    ),
)


def read_undecided(context: FileContext, section: Node) -> None:
    for values in read_records(context.problems, section, UNDECIDED):
        with context.placed(values.node):
            unknown = tuple(_fields(values, "unknown", _UNKNOWN_FIELDS))
            registers, at = values.get("registers"), values.place()
            texts = dict(_fields(values, "known", _KNOWN_FIELDS))
            if at is not None and type(registers) is Scalar:
                statement = Undecided(registers.text, at, unknown, when=context.when, **texts)
                context.contents.undecided.append(statement)


def _fields(values: Values, field: str, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for key, value in pairs_of(values.get(field)):
        if key.text not in names:
            message = f"{field!r} has no field {quoted(key.text)}"
            values.problems.add("unknown-field", message, key, f"the fields are {', '.join(names)}")
        elif (text := text_of(values.problems, value)) is not None:
            yield key.text, text


def read_not_understood(context: FileContext, section: Node) -> None:
    for values in read_records(context.problems, section, NOT_UNDERSTOOD):
        with context.placed(values.node):
            text, reason, at = values.text("text"), values.text("reason"), values.place()
            bound, unread = values.flag("bound") is True, values.flag("unread") is True
            if at is not None and text is not None and reason is not None:
                context.contents.unread.append(NotUnderstood(at, text, reason, context.when, bound, unread))


def read_functions(context: FileContext, section: Node) -> None:
    problems = context.problems
    for values in read_records(problems, section, FUNCTION):
        name, at = values.text("name"), values.place()
        places = [read_place(problems, scalar) for scalar in values.scalars("registers", "a place")]
        if at is not None and name is not None:
            function = RegisteringFunction(name, at, tuple(place for place in places if place is not None))
            context.contents.functions.append(function)
