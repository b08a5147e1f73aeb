"""The format of declaration files, as one table.

What a field is called, what it takes and what it means is said here and in the modules ``*_format`` and nowhere else:
reading, the JSON Schema and the reference FORMAT.md all come from this table.
"""

from __future__ import annotations

from dispatch_cli.declarations.check_format import CHECK, GUARD, RESOLVES, SUPPRESSION
from dispatch_cli.declarations.format_types import (
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
from dispatch_cli.declarations.higher_order_format import HIGHER_ORDER_OPERATOR, HIGHER_ORDER_RULE, MODE
from dispatch_cli.declarations.kernel_format import (
    A_KERNEL,
    FAKE_IMPL,
    KERNEL,
    LIBRARY_KERNEL,
    PYTHON_FUNCTION,
    REDISPATCHES,
    WRAPS,
)
from dispatch_cli.declarations.operator_format import DEFINITION, FAKE_TENSOR_MODE, LIBRARY, OPERATOR
from dispatch_cli.declarations.tree import Mapping, Scalar

VERSION = "1"
"""The version of the format, as the field `dispatch` has it."""
NO_FALLBACKS = "none"
_FALLBACKS = map_of(KEYS, A_KERNEL, "dispatch keys to kernels")
OPERATORS = Field(
    "operators",
    list_of(record("operator", "operators"), "operators"),
    "Operators, each with its registrations: the short form.",
)
HIGHER_ORDER_OPERATORS = Field(
    "higher_order_operators",
    list_of(record("higher_order_operator", "higher-order operators"), "higher-order operators"),
    "Higher-order operators.",
)
IMPORTED = Record(
    "imported",
    "what modules registered",
    "What modules registered that a capture imported after PyTorch. A kernel that such a module registers for an "
    "operator of PyTorch's is here, and the operator is not.",
    (
        Field("modules", list_of(TEXT, "texts"), "Their names, in the order of import."),
        OPERATORS,
        Field("fallbacks", _FALLBACKS, "Backend fallbacks by dispatch key."),
        HIGHER_ORDER_OPERATORS,
    ),
)
FILE = Record(
    "file",
    "a declaration file",
    "A declaration file. Its sections take effect in the order they are written.",
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
            "The layout of dispatch keys: the name of an embedded universe, the path of a universe file, relative "
            "to this file, or what such a file holds. All files of a run must agree.",
            default="the newest embedded one",
        ),
        Field(
            "privateuse1",
            TEXT,
            "The name of the backend at PrivateUse1, as `torch.utils.rename_privateuse1_backend` gives it. With `npu`, "
            "tensors are on `npu`, and the keys PrivateUse1 and AutogradPrivateUse1 can be written `NPU` and "
            "`AutogradNPU`; they are shown under their own names, as PyTorch prints them. One name is given in a run.",
        ),
        Field(
            "extends",
            either(TEXT, list_of(TEXT, "states and files")),
            "What comes before: embedded states by name, and declaration files by path, relative to this file; in "
            "order. A file that is reached twice is loaded once. Files outside of the project are read with "
            "--allow-outside only.",
        ),
        Field(
            "core_fallbacks",
            BOOLEAN,
            "Whether the backend fallbacks that PyTorch itself registers are there.",
            default="true",
        ),
        Field(
            "snapshot",
            BOOLEAN,
            "The file is a snapshot of a running dispatcher, as `capture` writes it: its operators' live tables are in "
            "order whatever the order here; keys may be named that PyTorch's parser does not know, and schemas are as "
            "PyTorch prints them, of which its parser refuses some.",
            default="false",
        ),
        Field(
            "pytorch",
            BOOLEAN,
            "Of a snapshot: PyTorch itself registered what it holds, but for what is in `imported`. check-invariants "
            "does not report it then. Otherwise it says that it is not known who registered it.",
            default="false",
        ),
        Field(
            "imported",
            record("imported"),
            "Of a snapshot: what modules registered that were imported after PyTorch. It is checked like declarations "
            "that extend the rest of the snapshot.",
        ),
        Field("notes", list_of(TEXT, "texts"), "What readers of the file should know; nothing is computed from it."),
        OPERATORS,
        Field(
            "libraries",
            list_of(record("library", "libraries"), "libraries"),
            "Registration blocks in the order of static initialisers: the long form.",
        ),
        Field(
            "fallbacks",
            either(choice(NO_FALLBACKS), _FALLBACKS),
            f"Backend fallbacks by dispatch key. `{NO_FALLBACKS}` is short for `core_fallbacks: false`.",
        ),
        HIGHER_ORDER_OPERATORS,
        Field(
            "modes",
            map_of(NAME, record("mode"), "names to mode types"),
            "What calls have to know about types of modes, by name.",
        ),
        Field("guards", list_of(record("guard", "guards"), "guards"), "What must hold; see check-invariants."),
        Field(
            "suppress",
            list_of(record("suppression", "suppressions"), "suppressions"),
            "Findings of check-invariants that are meant to be so.",
        ),
        Field("check", record("check"), "Settings of check-invariants."),
    ),
)
RECORDS = (
    FILE,
    IMPORTED,
    OPERATOR,
    KERNEL,
    PYTHON_FUNCTION,
    WRAPS,
    FAKE_IMPL,
    FAKE_TENSOR_MODE,
    LIBRARY,
    DEFINITION,
    LIBRARY_KERNEL,
    REDISPATCHES,
    HIGHER_ORDER_OPERATOR,
    HIGHER_ORDER_RULE,
    MODE,
    GUARD,
    RESOLVES,
    SUPPRESSION,
    CHECK,
)
"""Every mapping of the format, in the order of the reference."""
