"""The sections ``guards`` and ``support``: conditions that must hold, and promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from dispatch_cli.declarations.fields import Values, expect, fits, read_record, read_records, scalars, text_of, texts_of
from dispatch_cli.declarations.formats.check_format import A_RULE, GUARD, RESOLVES
from dispatch_cli.declarations.formats.support_format import A_CONTEXT, PROMISE
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.sections.context import FileContext
from dispatch_cli.declarations.tree import Mapping as MappingNode
from dispatch_cli.declarations.tree import Node, Scalar, Sequence
from dispatch_cli.model.calls.call import CallError, TensorSpec
from dispatch_cli.model.calls.call import Context as CallContext
from dispatch_cli.model.calls.guard import Expectation, Guard, GuardedCall, GuardField
from dispatch_cli.model.calls.options import Options, check_word
from dispatch_cli.model.calls.support import Promise, SupportContext

_Part = TypeVar("_Part")
_RULES = (GuardField.RULE, GuardField.NOT)
_GLOBS = (GuardField.KERNEL, GuardField.NOT_KERNEL)
_OF_SLOTS = (*_RULES, *_GLOBS, GuardField.FALLTHROUGH, GuardField.SAME_AS)
_ENDS: Mapping[str, GuardField] = {
    "end": GuardField.END,
    "kernel": GuardField.RAN,
    "key": GuardField.AT,
    "error": GuardField.ERROR,
}


def read_guards(context: FileContext, section: Node) -> None:
    """Read the section ``guards``."""
    for node, values in read_records(context.problems, section, GUARD):
        _read_guard(context, node, values)


def _read_guard(context: FileContext, node: Node, values: Values) -> None:
    problems = context.problems
    before = problems.count
    of_slots = tuple(_wants_of_slots(context, values))
    wants = (*of_slots, *_wants_of_others(context, values))
    keys = tuple(_keys(context, values.get("key")))
    excepted = tuple(_keys(context, values.get("except")))
    call = _call(context, values)
    if of_slots and "key" not in values:
        problems.add(
            "missing-field", f"{of_slots[0].field.value!r} is a condition on slots; add 'key' to say which ones", node
        )
    elif "key" in values and not of_slots and wants:
        problems.add(
            "unused-field",
            "'key' selects slots, but the guard has no condition on them, such as 'rule' or 'kernel'",
            node,
        )
    if excepted and "key" not in values:
        problems.add("unused-field", "'except' needs 'key': it excludes some of its keys", node)
    if call is None and any(name in values for name in ("tensors", "contexts")):
        problems.add("unused-field", "'tensors' and 'contexts' need 'resolves'", node)
    elif call is None and (unused := next((name for name in Options._fields if name in values), None)):
        problems.add("unused-field", f"{unused!r} needs 'resolves'", node)
    ops = tuple(texts_of(context.problems, values.get("op")))
    if problems.count == before and ops and wants:
        reason = text_of(problems, values.get("reason"))
        span = problems.span(node)
        context.guards.append(Guard(ops, keys, wants, call, reason, span, context.through, excepted))


def _wants_of_slots(context: FileContext, values: Values) -> Iterator[Expectation]:
    for field in _OF_SLOTS:
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


def _wants_of_others(context: FileContext, values: Values) -> Iterator[Expectation]:
    backend = values.get("backend")
    for item in scalars(context.problems, backend):
        if (key := context.keys.backend(context.problems, item)) is not None:
            yield Expectation(GuardField.BACKEND, (key,))
    resolves = values.get("resolves")
    if type(resolves) is Scalar:
        yield Expectation(GuardField.RAN, tuple(texts_of(context.problems, resolves)))
    elif type(resolves) is MappingNode:
        ends = read_record(context.problems, resolves, RESOLVES) or {}
        for name, field in _ENDS.items():
            node = ends.get(name)
            if node is None:
                continue
            texts = (_one_key(context, node),) if field is GuardField.AT else texts_of(context.problems, node)
            if valid_texts := tuple(text for text in texts if text is not None):
                yield Expectation(field, valid_texts)


def _call(context: FileContext, values: Values) -> GuardedCall | None:
    if "resolves" not in values:
        return None
    tensors = tuple(_parsed(context, values.get("tensors"), TensorSpec.parse))
    contexts = tuple(_parsed(context, values.get("contexts"), CallContext.parse))
    options = Options(*(_option(context, name, values.get(name)) for name in Options._fields))
    return GuardedCall(tensors, contexts, options)


def _option(context: FileContext, name: str, node: Node | None) -> str | None:
    text = text_of(context.problems, node)
    try:
        if text is not None:
            check_word(name, text)
    except CallError as error:
        assert node is not None, "a text is a node's"
        context.problems.add("bad-call", error.message, node, error.hint)
    return text


def _parsed(context: FileContext, node: Node | None, parse: Callable[[str], _Part]) -> Iterator[_Part]:
    for item in node.items if type(node) is Sequence else ():
        if type(item) is not Scalar:
            expect(context.problems, item, "a string")
        elif (text := text_of(context.problems, item)) is not None:
            try:
                yield parse(text)
            except CallError as error:
                context.problems.add("bad-call", error.message, item, error.hint)


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
