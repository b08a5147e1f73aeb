"""The fields of guards and of suppressions in declarations."""

from __future__ import annotations

from dispatch_cli.declarations.formats.format_types import (
    BOOLEAN,
    TEXT,
    TEXTS,
    Field,
    Record,
    choice,
    either,
    list_of,
    record,
    some,
)
from dispatch_cli.model.calls.call import EndKind
from dispatch_cli.model.rule import Rule

A_RULE = choice(*(rule.value for rule in Rule))
_RULES_NAMED = some(A_RULE, "them")
RESOLVES = Record(
    "resolves",
    "the end of a call",
    "How a call must end.",
    (
        Field("end", choice(*(end.value for end in EndKind)), "How it ends."),
        Field("kernel", TEXTS, "The last kernel, as a glob over its debug string. With a list: any of them."),
        Field("key", TEXT, "The dispatch key of the last kernel."),
        Field("error", TEXTS, "PyTorch's error, as a glob over the first line of its text. With a list: any of them."),
    ),
    ("end", "kernel", "key", "error"),
)
GUARD = Record(
    "guard",
    "a guard",
    "A condition on the dispatch tables, which must hold for every operator that matches `op`, at every `key`. A slot "
    "holds what calls find there, also where the order of registrations left it stale. With "
    "`backend`, a guard requires that a backend has the operators; with `resolves`, that a call ends in a certain "
    "way. Both take no `key`. Higher-order operators have no guards.",
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
        Field(
            "backend",
            TEXT,
            "A backend key, such as `PrivateUse1`, that must have the operators, by kernels of its own or by "
            "composite kernels. The backend fallback does not count.",
        ),
        Field("tensors", list_of(TEXT, "tensors"), "The tensors of the call for `resolves`, such as `cuda sparse`."),
        Field(
            "contexts",
            list_of(TEXT, "contexts"),
            "Its contexts, outermost first, such as `autocast cuda` and `inference_mode`.",
        ),
        Field("device", TEXT, "Its device argument, for a factory function, such as `cuda`."),
        Field("layout", TEXT, "Its layout argument, for a factory function, such as `sparse`."),
        Field("dtype", TEXT, "Its dtype argument, for a factory function, such as `qint8`."),
        Field(
            "generator",
            TEXT,
            "The device of its generator argument: `cpu`, or `cpu boxed` for a boxed call, in which it adds no key.",
        ),
        Field("resolves", either(TEXT, record("resolves")), "How the call must end; a string names the last kernel."),
        Field("reason", TEXT, "Why it must hold; findings show it."),
    ),
    ("rule", "not", "kernel", "not_kernel", "fallthrough", "same_as", "backend", "resolves"),
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
