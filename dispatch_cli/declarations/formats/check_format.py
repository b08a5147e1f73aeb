"""The fields of guards, promises and suppressions in declarations."""

from __future__ import annotations

from dispatch_cli.declarations.formats.format_types import (
    BOOLEAN,
    TEXT,
    TEXTS,
    Field,
    Record,
    choice,
    some,
)
from dispatch_cli.model.calls.support import PROMISED
from dispatch_cli.model.names import Rule

A_RULE = choice(*(rule.value for rule in Rule))
_RULES_NAMED = some(A_RULE, "them")
GUARD = Record(
    "guard",
    "a guard",
    "A condition on the dispatch tables, which must hold for every operator that matches `op`, at every `key`. A slot "
    "holds what calls find there, also where the order of registrations left it stale. Higher-order operators have no "
    "guards. What calls must do is promised (`support`).",
    (
        Field(
            "op",
            TEXTS,
            "The operators: a glob over their names, or a list of globs.",
            required=True,
        ),
        Field(
            "key",
            TEXTS,
            "The runtime keys: names, globs, or alias keys (for all runtime keys that they cover), separated by "
            "commas or as a list. A key that only other PyTorch versions have is reported by `unmatched-guard`.",
            required=True,
        ),
        Field("except", TEXTS, "Runtime keys to leave out, given in the same ways."),
        Field("rule", _RULES_NAMED, "The rule that must fill the slots. With a list: any of them."),
        Field(
            "not",
            _RULES_NAMED,
            "The rule that must not fill the slots. With a list: none of them. A guard holds at a slot of which it is "
            "not known what it holds (see `dispatch-cli bases`), but for `not: not-known`.",
        ),
        Field(
            "kernel",
            TEXTS,
            "The kernel that must be in the slots, as a glob over its debug string or over the name of the Python "
            "function that it wraps. With a list: any of them.",
        ),
        Field("not_kernel", TEXTS, "The kernel that must not be in the slots, as a glob. With a list: none of them."),
        Field("fallthrough", BOOLEAN, "Whether the kernel in the slots must be a fallthrough."),
        Field("same_as", TEXT, "A runtime key whose slot must contain the same function."),
        Field("reason", TEXT, "Why it must hold; findings show it."),
    ),
    ("rule", "not", "kernel", "not_kernel", "fallthrough", "same_as"),
)
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
SUPPRESSION = Record(
    "suppression",
    "a suppression",
    "Accepted findings. A comment at the end of the line concerned, or on the line above, does the same: `# "
    "dispatch-cli: ignore[stale-live-table] REASON`. On the first line of an operator or a library it applies to all "
    "of it.",
    (
        Field("checks", TEXTS, "The checks, by id, code, or the beginning of either.", required=True),
        Field(
            "op",
            TEXT,
            "The operators, as a glob over their names.",
            default="all operators, and findings without one",
        ),
        Field("key", TEXT, "The dispatch keys, as a glob.", default="all keys, and findings without one"),
        Field("reason", TEXT, "Why the findings are accepted.", required=True),
    ),
)
