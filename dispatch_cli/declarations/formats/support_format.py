"""The fields of promises in declarations."""

from __future__ import annotations

from dispatch_cli.declarations.formats.format_types import TEXT, TEXTS, Field, Record, choice, list_of, record, some
from dispatch_cli.model.calls.support import PROMISED

A_CONTEXT = choice(*(context.value for context in PROMISED))
PROMISE = Record(
    "promise",
    "a promise",
    "A promise that operators work: on each of the backends, in each of the contexts. `check-invariants` reports what "
    "breaks it (`broken-promise`). `dispatch-cli support --record` writes what can be promised today.",
    (
        Field("op", TEXTS, "The operators: a glob over their names, or a list of globs.", required=True),
        Field(
            "backends",
            TEXTS,
            "The backends: devices such as `cuda`, or their dispatch keys, as a string or a list.",
            required=True,
        ),
        Field(
            "contexts",
            some(A_CONTEXT, "them"),
            "How the operators are called: plainly (`eager`), with a gradient (`train`), with fake tensors (`fake`), "
            "by torch.compile (`compile`), in torch.func's transforms (`vmap`, `grad`, `jvp`), under autocast of the "
            "device (`autocast`), in inference mode (`inference`). With a list: all of them.",
            required=True,
        ),
        Field("reason", TEXT, "Why it is promised; findings show it."),
    ),
)
SUPPORT = Field("support", list_of(record("promise", "promises"), "promises"), "Promises that operators work.")
