"""The sections ``guards`` and ``support``: conditions that must hold, and promises."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.declarations.fields import Values, fits, read_records, scalars, text_of, texts_of
from dispatch_cli.declarations.formats.check_format import A_CONTEXT, A_RULE, GUARD, PROMISE
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.sections.context import FileContext
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model.calls.guard import Expectation, Guard, GuardField
from dispatch_cli.model.calls.support import Promise, SupportContext

_RULES = (GuardField.RULE, GuardField.NOT)


def read_guards(context: FileContext, section: Node) -> None:
    """Read the section ``guards``."""
    for node, values in read_records(context.problems, section, GUARD):
        _read_guard(context, node, values)


def _read_guard(context: FileContext, node: Node, values: Values) -> None:
    problems = context.problems
    before = problems.count
    wants = tuple(_wants(context, values))
    keys = tuple(_keys(context, values.get("key")))
    excepted = tuple(_keys(context, values.get("except")))
    ops = tuple(texts_of(context.problems, values.get("op")))
    if problems.count == before and ops and wants:
        reason = text_of(problems, values.get("reason"))
        context.guards.append(Guard(ops, keys, wants, reason, problems.span(node), context.through, excepted))


def _wants(context: FileContext, values: Values) -> Iterator[Expectation]:
    for field in GuardField:
        node = values.get(field.value)
        if node is None:
            continue
        if field in _RULES:
            items = scalars(context.problems, node)
            texts = tuple(item.text for item in items if fits(context.problems, item, A_RULE))
        elif field is GuardField.FALLTHROUGH:
            texts = (node.text,) if type(node) is Scalar else ()
        elif field is GuardField.SAME_AS:
            texts = tuple(key for key in (_one_key(context, node),) if key is not None)
        else:
            texts = tuple(texts_of(context.problems, node))
        if texts:
            yield Expectation(field, texts)


def _keys(context: FileContext, node: Node | None) -> Iterator[str]:
    for item in scalars(context.problems, node):
        yield from context.keys.slot_globs(context.problems, item)


def _one_key(context: FileContext, node: Node) -> str | None:
    """The one runtime key that a field names."""
    for item in scalars(context.problems, node):
        return context.keys.slot(context.problems, item)
    return None


def read_promises(context: FileContext, section: Node) -> None:
    """Read the section ``support``."""
    problems = context.problems
    for node, values in read_records(problems, section, PROMISE):
        before = problems.count
        ops = tuple(texts_of(problems, values.get("op")))
        backends = dict.fromkeys(_promised_backends(context, values.get("backends")))
        contexts = dict.fromkeys(_promised_contexts(problems, values.get("contexts")))
        reason = text_of(problems, values.get("reason"))
        if problems.count == before and ops and backends and contexts:
            context.promises.append(
                Promise(ops, tuple(backends), tuple(contexts), reason, problems.span(node), context.through)
            )


def _promised_backends(context: FileContext, node: Node | None) -> Iterator[str]:
    for item in scalars(context.problems, node):
        if (key := context.keys.device(context.problems, item)) is not None:
            yield key


def _promised_contexts(problems: Problems, node: Node | None) -> Iterator[SupportContext]:
    for item in scalars(problems, node, A_CONTEXT.words):
        if fits(problems, item, A_CONTEXT):
            yield SupportContext(item.text)
