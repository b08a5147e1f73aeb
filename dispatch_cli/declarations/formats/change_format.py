"""The fields of changes of the history before a file."""

from __future__ import annotations

from dispatch_cli.declarations.formats.format_types import ONE_KEY, TEXT, Field, Record, Type, record
from dispatch_cli.declarations.tree import Scalar

MOST_NUMBER = 1_000_000
A_NUMBER = Type("a number from 1", (Scalar,), {"type": "integer", "minimum": 1, "maximum": MOST_NUMBER})
_A_REGISTRATION = record("registration", "a registration")
REGISTRATION = Record(
    "registration",
    "a registration",
    "Names a registration of a file or of the embedded state. `kernel` and `number` are needed only if there are "
    "several at the key.",
    (
        Field("operator", TEXT, "The operator of a kernel, such as `aten::add.Tensor`.", excludes=("fallback",)),
        Field(
            "dispatch_key",
            ONE_KEY,
            "With `operator`: the key at which the kernel is registered, or `CatchAll`.",
            needs=("operator",),
        ),
        Field(
            "python_dispatch",
            ONE_KEY,
            "With `operator`, instead of `dispatch_key`: the key of a kernel of the Python dispatcher (`py_impl`).",
            needs=("operator",),
            excludes=("dispatch_key",),
        ),
        Field("fallback", ONE_KEY, "Instead of `operator`: the key of a backend fallback, as it was registered."),
        Field("kernel", TEXT, "The kernel's name or debug string; `fallthrough` for a fallthrough."),
        Field("number", A_NUMBER, "Which of those that fit, in the order in which they were registered."),
    ),
    ("operator", "fallback"),
)
CHANGE = Record(
    "change",
    "a change",
    "One change of what files and the embedded state register: of kernels, backend fallbacks, and kernels of the "
    "Python dispatcher, not of definitions and of higher-order operators. Changes are made when all files are read; "
    "those of a section name registrations as they are before the first of them. `check-invariants` looks at their "
    "operators as at those that the file registers something for. "
    "What it finds only with the changes is at the place of the change; for one of a backend fallback, it looks at "
    "all operators.",
    (
        Field("remove", _A_REGISTRATION, "The registration is left out, as if it had never been made."),
        Field(
            "move",
            _A_REGISTRATION,
            "The registration is made at another time. Registrations of embedded states have no order.",
            excludes=("remove",),
        ),
        Field("before", _A_REGISTRATION, "With `move`: it is made right before this registration.", needs=("move",)),
        Field(
            "after",
            _A_REGISTRATION,
            "With `move`: it is made right after this registration.",
            needs=("move",),
            excludes=("before",),
        ),
    ),
    ("remove", "move"),
)
