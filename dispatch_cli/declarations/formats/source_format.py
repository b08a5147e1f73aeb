"""The fields of declarations that only those have which were extracted from sources."""

from __future__ import annotations

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

REGISTERS = (
    "block",
    "definition",
    "kernel",
    "fallback",
    "custom_op",
    "triton_op",
    "register_fake",
    "register_kernel",
    "register_autograd",
    "register_vmap",
    "register_autocast",
    "py_impl",
)
"""Kinds of things that an undecided statement registers."""
UNKNOWN_FIELDS = ("name", "namespace", "dispatch_key", "device")
"""Fields of such a statement that can be unknown."""
_AT = Field("at", TEXT, AT.doc, required=True)
KNOWN_FIELDS = ("name", "namespace", "dispatch_key", "kernel", "schema")
"""Fields of such a statement that can be known."""
UNDECIDED = Record(
    "undecided",
    "an undecided registration",
    "A registration in the sources of which something is not known, such as its dispatch key. It is not registered: "
    "answers and findings do not take it into account.",
    (
        _AT,
        WHEN,
        Field("registers", choice(*REGISTERS), "What it registers.", required=True),
        Field(
            "unknown",
            map_of({"enum": [*UNKNOWN_FIELDS]}, TEXT, "fields to expressions"),
            "What is not known, by field, and the expression in the sources that decides it: "
            "`{dispatch_key: current_platform.dispatch_key}`.",
            required=True,
        ),
        Field(
            "known",
            map_of({"enum": [*KNOWN_FIELDS]}, TEXT, "fields to texts"),
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
