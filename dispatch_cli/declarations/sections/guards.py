"""The sections ``guards`` and ``support``: conditions that must hold, and promises."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.declarations.fields import Values, fits, read_records
from dispatch_cli.declarations.formats.format_types import BOOLEAN, TEXT, TEXTS, Field, Record, choice, some
from dispatch_cli.declarations.sections.context import FileContext
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model.calls.guard import Expectation, Guard, GuardField
from dispatch_cli.model.calls.support import PROMISED, Promise, SupportContext
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
        Field("op", TEXTS, "The operators: a glob over their names, or a list of globs.", required=True),
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


def read_guards(context: FileContext, section: Node) -> None:
    problems = context.problems
    for values in read_records(problems, section, GUARD):
        before = problems.count
        wants = tuple(_wants(context, values))
        keys, excepted = (tuple(_keys(context, values, field)) for field in ("key", "except"))
        ops = values.texts("op")
        if problems.count == before and ops and wants:
            span, reason = problems.span(values.node), values.text("reason")
            context.contents.guards.append(Guard(ops, keys, wants, reason, span, context.through, excepted))


def _wants(context: FileContext, values: Values) -> Iterator[Expectation]:
    for field in GuardField:
        node, name = values.get(field.value), field.value
        texts: tuple[str, ...]
        if field in (GuardField.RULE, GuardField.NOT):
            texts = tuple(item.text for item in values.scalars(name) if fits(context.problems, item, A_RULE))
        elif field is GuardField.FALLTHROUGH:
            texts = (node.text,) if type(node) is Scalar else ()
        elif field is GuardField.SAME_AS:
            keys = (context.keys.slot(context.problems, item) for item in values.scalars(name))
            texts = tuple(key for key in keys if key is not None)
        else:
            texts = values.texts(name)
        if texts:
            yield Expectation(field, texts)


def _keys(context: FileContext, values: Values, field: str) -> Iterator[str]:
    for item in values.scalars(field):
        yield from context.keys.slot_globs(context.problems, item)


def read_promises(context: FileContext, section: Node) -> None:
    problems = context.problems
    for values in read_records(problems, section, PROMISE):
        before = problems.count
        ops, reason = values.texts("op"), values.text("reason")
        devices = [context.keys.device(problems, item) for item in values.scalars("backends")]
        backends = tuple(dict.fromkeys(key for key in devices if key is not None))
        named = values.scalars("contexts", A_CONTEXT.words)
        contexts = dict.fromkeys(SupportContext(item.text) for item in named if fits(problems, item, A_CONTEXT))
        if problems.count == before and ops and backends and contexts:
            span = problems.span(values.node)
            context.contents.promises.append(Promise(ops, backends, tuple(contexts), reason, span, context.through))
