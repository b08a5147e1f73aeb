"""The fields of a declaration file itself: its header and its sections."""

from __future__ import annotations

from dispatch_cli.declarations.formats.format_types import (
    A_KERNEL,
    BOOLEAN,
    KEYS,
    NAME,
    TEXT,
    Field,
    Record,
    Type,
    choice,
    either,
    list_of,
    map_of,
    record,
)
from dispatch_cli.declarations.tree import Mapping, Scalar

VERSION = "1"
"""The version of the format, as the field `dispatch` has it."""
NO_FALLBACKS = "none"
_FALLBACKS = map_of(KEYS, A_KERNEL, "dispatch keys to kernels")
OPERATORS = Field(
    "operators",
    list_of(record("operator", "operators"), "operators"),
    "Operators, each with its registrations (the short form).",
)
HIGHER_ORDER_OPERATORS = Field(
    "higher_order_operators",
    list_of(record("higher_order_operator", "higher-order operators"), "higher-order operators"),
    "Higher-order operators.",
)
IMPORTED = Record(
    "imported",
    "the section of imported modules",
    "The registrations of modules that a capture imported after PyTorch. If such a module registers a kernel for one "
    "of PyTorch's operators, the kernel is here and the operator is not.",
    (
        Field("modules", list_of(TEXT, "strings"), "Their names, in the order of import."),
        OPERATORS,
        Field("fallbacks", _FALLBACKS, "Backend fallbacks by dispatch key."),
        HIGHER_ORDER_OPERATORS,
    ),
)
SUPPORT = Field("support", list_of(record("promise", "promises"), "promises"), "Promises that operators work.")
FILE = Record(
    "file",
    "a declaration file",
    "A declaration file. Its sections take effect in the order in which they are written.",
    (
        Field(
            "dispatch",
            Type(f"the format version {VERSION}", (Scalar,), {"const": int(VERSION)}, (VERSION,), plain=True),
            "The version of this format.",
            required=True,
        ),
        Field(
            "universe",
            either(TEXT, Type("a universe", (Mapping,), {"type": "object"})),
            "The set of dispatch keys: the name of an embedded universe, or a universe itself, as captures have it. "
            "All files of a run must have the same universe.",
            default="the newest embedded one",
        ),
        Field(
            "privateuse1",
            TEXT,
            "The name of the backend at PrivateUse1, as passed to `torch.utils.rename_privateuse1_backend`. With "
            "`npu`, tensors are on `npu`, and the keys PrivateUse1 and AutogradPrivateUse1 can be written as `NPU` "
            "and `AutogradNPU`. They are shown as PrivateUse1 and AutogradPrivateUse1, as PyTorch prints them. A run "
            "has one such name.",
        ),
        Field(
            "extends",
            either(TEXT, list_of(TEXT, "states and files")),
            "What to load before this file, in order: embedded PyTorch states and overlays by name, and declaration "
            "files by path relative to this file. A file that is reached twice is loaded once. Files outside the "
            "project are read only with --allow-outside.",
        ),
        Field(
            "snapshot",
            BOOLEAN,
            "The file is a snapshot of a running dispatcher, as `capture` writes it: the order of its registrations "
            "leaves no live table stale; it may name keys that PyTorch's parser does not know; and its schemas are "
            "as PyTorch prints them, some of which PyTorch's parser refuses.",
            default="false",
        ),
        Field(
            "pytorch",
            BOOLEAN,
            "For a snapshot: PyTorch itself made these registrations, except those in `imported`, so that "
            "check-invariants does not report findings about them. Otherwise check-invariants says that it is not "
            "known who made them.",
            default="false",
            needs=("snapshot",),
        ),
        Field(
            "imported",
            record("imported"),
            "For a snapshot: the registrations of modules that were imported after PyTorch. They are checked like "
            "declarations that extend the rest of the snapshot.",
            needs=("snapshot",),
        ),
        Field(
            "extracted",
            BOOLEAN,
            "The file was written by `extract`: what PyTorch refuses in it is reported as findings of "
            "check-invariants; in other files it is an error.",
            default="false",
        ),
        Field("notes", list_of(TEXT, "strings"), "Notes for readers of the file; they have no effect."),
        OPERATORS,
        Field(
            "libraries",
            list_of(record("library", "libraries"), "libraries"),
            "Registration blocks, in the order in which their static initialisers run (the long form).",
        ),
        Field(
            "fallbacks",
            either(choice(NO_FALLBACKS), _FALLBACKS),
            f"Backend fallbacks by dispatch key. `{NO_FALLBACKS}`: PyTorch's own ones are not registered, either.",
        ),
        HIGHER_ORDER_OPERATORS,
        Field(
            "changes",
            list_of(record("change", "changes"), "changes"),
            "Changes of what is registered: registrations that are left out or moved. `dispatch-cli explore` "
            "writes them.",
        ),
        Field(
            "modes",
            map_of(NAME, record("mode"), "names to mode types"),
            "What simulated calls have to know about mode types, by name.",
        ),
        Field(
            "guards",
            list_of(record("guard", "guards"), "guards"),
            "Conditions that must hold; check-invariants checks them.",
        ),
        SUPPORT,
        Field(
            "suppress",
            list_of(record("suppression", "suppressions"), "suppressions"),
            "Accepted findings of check-invariants.",
        ),
        Field(
            "functions",
            list_of(record("function"), "functions"),
            "Functions in the sources that register something when they are called.",
        ),
        Field(
            "undecided",
            list_of(record("undecided"), "undecided registrations"),
            "Registrations in the sources of which something is not known.",
        ),
        Field(
            "not_understood",
            list_of(record("not_understood"), "statements"),
            "Statements in the sources that were not understood.",
        ),
    ),
)
