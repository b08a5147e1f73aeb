"""The fields of guards and of suppressions in declarations."""

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
from dispatch_cli.model.rule import Rule

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
