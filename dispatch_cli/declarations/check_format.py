"""The fields of guards, of suppressions and of settings in declarations."""

from __future__ import annotations

from dispatch_cli.declarations.format_types import (
    BOOLEAN,
    NAME,
    TEXT,
    TEXTS,
    Field,
    Record,
    choice,
    either,
    list_of,
    map_of,
    record,
    some,
)
from dispatch_cli.model.call import EndKind
from dispatch_cli.model.rule import Rule
from dispatch_cli.model.settings import Severity

A_RULE = choice(*(rule.value for rule in Rule))
_RULES_NAMED = some(A_RULE, "them")
RESOLVES = Record(
    "resolves",
    "the end of a call",
    "How a call must end.",
    (
        Field("end", choice(*(end.value for end in EndKind)), "What ends it."),
        Field("kernel", TEXTS, "The last kernel, as a glob over what a dump shows; of a list, any."),
        Field("key", TEXT, "The dispatch key of the last kernel."),
        Field("error", TEXTS, "The text of PyTorch's error, as a glob over its first line; of a list, any."),
    ),
    ("end", "kernel", "key", "error"),
)
GUARD = Record(
    "guard",
    "a guard",
    "What must hold of the computed tables: for every operator that matches `op`, at every `key`. One with `backend` "
    "asks whether a backend has the operators; one with `resolves` asks where a call ends. Both go without `key`. Of a "
    "higher-order operator `mode`, `subclass` and `transform` stand beside `key` or in its place: there `rule` is "
    "`kernel` where it has an implementation, and `missing` where it has none.",
    (
        Field(
            "op",
            TEXTS,
            "The operators, as a glob over their names, or a list of globs. Higher-order operators are meant by their "
            "name, or by a glob that begins with `higher_order::`.",
            required=True,
        ),
        Field(
            "key",
            TEXTS,
            "The runtime keys: names, globs, alias keys (all runtime keys that they cover), separated by commas or in "
            "a list. A key that only other PyTorch versions have is a finding of `unmatched-guard`.",
        ),
        Field("except", TEXTS, "Runtime keys that are left out of those, named in the same ways."),
        Field("mode", TEXTS, "The mode types of a higher-order operator, by name; of a list, all."),
        Field("subclass", TEXTS, "The tensor subclasses of a higher-order operator, by name; of a list, all."),
        Field("transform", TEXTS, "The functorch transforms of a higher-order operator, by name; of a list, all."),
        Field("rule", _RULES_NAMED, "The rule that must fill the slots; of a list, any."),
        Field("not", _RULES_NAMED, "The rule that must not fill them; of a list, none."),
        Field(
            "kernel",
            TEXTS,
            "The kernel that must be in them, as a glob over what a dump shows or over the name of the Python function "
            "that the kernel was made of; of a list, any.",
        ),
        Field("not_kernel", TEXTS, "The kernel that must not be in them, as a glob; of a list, none."),
        Field("fallthrough", BOOLEAN, "Whether the kernel in them falls through."),
        Field("same_as", TEXT, "A runtime key whose slot must hold the same function."),
        Field(
            "backend",
            TEXT,
            "A backend key, such as `PrivateUse1`, that must have the operators: by kernels of its own, or by "
            "composite ones. The backend fallback does not count.",
        ),
        Field("tensors", list_of(TEXT, "tensors"), "The tensors of the call that `resolves` is about: `cuda sparse`."),
        Field("contexts", list_of(TEXT, "contexts"), "Its contexts, in order: `autocast cuda`, `inference_mode`."),
        Field("device", TEXT, "Its device argument, for a factory: `cuda`."),
        Field("layout", TEXT, "Its layout argument, for a factory: `sparse`."),
        Field("dtype", TEXT, "Its dtype argument, for a factory: `qint8`."),
        Field(
            "generator",
            TEXT,
            "The device of its generator: `cpu`, or `cpu boxed` in a boxed call, where its key does not count.",
        ),
        Field("resolves", either(TEXT, record("resolves")), "Where the call must end; a text is a kernel."),
        Field("reason", TEXT, "Why it must hold; a report shows it."),
    ),
    ("rule", "not", "kernel", "not_kernel", "fallthrough", "same_as", "backend", "resolves"),
)
SUPPRESSION = Record(
    "suppression",
    "a suppression",
    "Findings that are meant to be so. Beside the line in question a comment does the same: "
    "`# dispatch-cli: ignore[stale-live-table] REASON`, at the end of the line or above it; where an operator or a "
    "library begins it speaks of the whole of it.",
    (
        Field("checks", TEXTS, "The checks, by id, code or prefix.", required=True),
        Field("op", TEXT, "The operators, as a glob over their names.", default="all, and none"),
        Field("key", TEXT, "The dispatch keys, as a glob.", default="all, and none"),
        Field("reason", TEXT, "Why the findings are meant to be so.", required=True),
    ),
)
A_SEVERITY = choice(*(severity.value for severity in Severity))
CHECK = Record(
    "check",
    "a section of settings",
    "Settings of check-invariants. Those of `pyproject.toml` come before them, and the command line comes first.",
    (
        Field("select", TEXTS, "The checks to run, by id, code or prefix; `all`, `default`.", default="`default`"),
        Field("ignore", either(TEXT, list_of(TEXT, "texts")), "Checks to leave out of those."),
        Field(
            "severity",
            map_of(NAME, A_SEVERITY, "checks to severities"),
            "How bad the findings of a check are; it is named by id, code or prefix.",
        ),
        Field("fail_on", A_SEVERITY, "The mildest severity that makes a run fail.", default="warning"),
    ),
)
