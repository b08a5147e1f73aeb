"""The section ``guards``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from dispatch_cli.declarations.context import Context
from dispatch_cli.declarations.fields import Values, expect, read_record, text_of
from dispatch_cli.declarations.format import GUARD, RESOLVES
from dispatch_cli.declarations.text import suggestion
from dispatch_cli.declarations.tree import Mapping as MappingNode
from dispatch_cli.declarations.tree import Node, Scalar, Sequence, kind_of
from dispatch_cli.model.call import CallError, TensorSpec
from dispatch_cli.model.call import Context as CallContext
from dispatch_cli.model.guard import RULE_NAMES, Expectation, Guard, GuardedCall, Wish
from dispatch_cli.model.options import Options, check_word

_Part = TypeVar("_Part")
_RULES = (Wish.RULE, Wish.NOT)
_GLOBS = (Wish.KERNEL, Wish.NOT_KERNEL)
_OF_SLOTS = (*_RULES, *_GLOBS, Wish.FALLTHROUGH, Wish.SAME_AS)
_ENDS: Mapping[str, Wish] = {"end": Wish.END, "kernel": Wish.RAN, "key": Wish.AT, "error": Wish.ERROR}


def read_guards(context: Context, section: Node) -> None:
    """Read the section ``guards``."""
    if type(section) is Sequence:
        for node in section.items:
            _read_guard(context, node)


def _read_guard(context: Context, node: Node) -> None:
    report = context.report
    values = read_record(report, node, GUARD)
    if values is None:
        return
    before = report.count
    of_slots = tuple(_wants_of_slots(context, values))
    wants = (*of_slots, *_wants_of_others(context, values))
    keys = tuple(_keys(context, values.get("key")))
    call = _call(context, values)
    if of_slots and "key" not in values:
        report.add("missing-field", f"{of_slots[0].wish.value!r} speaks of slots, and needs 'key'", node)
    elif "key" in values and not of_slots and wants:
        report.add("unused-field", "'key' chooses slots, and nothing is asked of them", node)
    if call is None and any(name in values for name in ("tensors", "contexts")):
        report.add("unused-field", "'tensors' and 'contexts' belong to 'resolves'", node)
    elif call is None and (unused := next((name for name in Options._fields if name in values), None)):
        report.add("unused-field", f"{unused!r} belongs to 'resolves'", node)
    ops = tuple(_texts(context, values.get("op")))
    if report.count == before and ops and wants:
        reason = text_of(report, values.get("reason"))
        context.guards.append(Guard(ops, keys, wants, call, reason, report.span(node)))


def _wants_of_slots(context: Context, values: Values) -> Iterator[Expectation]:
    for wish in _OF_SLOTS:
        node = values.get(wish.value)
        if node is None:
            continue
        if wish in _RULES:
            found = tuple(_choices(context, node, RULE_NAMES))
        elif wish is Wish.FALLTHROUGH:
            found = (node.text,) if type(node) is Scalar else ()
        elif wish is Wish.SAME_AS:
            found = tuple(key for key in (_one_key(context, node),) if key is not None)
        else:
            found = tuple(_texts(context, node))
        if found:
            yield Expectation(wish, found)


def _wants_of_others(context: Context, values: Values) -> Iterator[Expectation]:
    backend = values.get("backend")
    for item in _scalars(context, backend):
        if (key := context.keys.backend(context.report, item)) is not None:
            yield Expectation(Wish.BACKEND, (key,))
    resolves = values.get("resolves")
    if type(resolves) is Scalar:
        yield Expectation(Wish.RAN, tuple(_texts(context, resolves)))
    elif type(resolves) is MappingNode:
        ends = read_record(context.report, resolves, RESOLVES) or {}
        for name, wish in _ENDS.items():
            node = ends.get(name)
            if node is None:
                continue
            key = _one_key(context, node) if wish is Wish.AT else None
            found = tuple(_texts(context, node)) if wish is not Wish.AT else (key,) if key is not None else ()
            if found:
                yield Expectation(wish, found)


def _call(context: Context, values: Values) -> GuardedCall | None:
    if "resolves" not in values:
        return None
    tensors = tuple(_parsed(context, values.get("tensors"), TensorSpec.parse))
    contexts = tuple(_parsed(context, values.get("contexts"), CallContext.parse))
    return GuardedCall(tensors, contexts, _options(context, values))


def _options(context: Context, values: Values) -> Options:
    return Options(*(_option(context, name, values.get(name)) for name in Options._fields))


def _option(context: Context, name: str, node: Node | None) -> str | None:
    text = text_of(context.report, node)
    try:
        if text is not None:
            check_word(name, text)
    except CallError as error:
        assert node is not None, "a text is a node's"
        context.report.add("bad-call", error.message, node, error.hint)
    return text


def _parsed(context: Context, node: Node | None, parse: Callable[[str], _Part]) -> Iterator[_Part]:
    for item in node.items if type(node) is Sequence else ():
        if type(item) is not Scalar:
            expect(context.report, item, "a text")
        elif (text := text_of(context.report, item)) is not None:
            try:
                yield parse(text)
            except CallError as error:
                context.report.add("bad-call", error.message, item, error.hint)


def _keys(context: Context, node: Node | None) -> Iterator[str]:
    for item in _scalars(context, node):
        yield from context.keys.slot_globs(context.report, item)


def _one_key(context: Context, node: Node) -> str | None:
    """The one runtime key that a field names."""
    for item in _scalars(context, node):
        return context.keys.slot(context.report, item)
    return None


def _texts(context: Context, node: Node | None) -> Iterator[str]:
    for item in _scalars(context, node):
        if (text := text_of(context.report, item)) is not None:
            yield text


def _choices(context: Context, node: Node, choices: tuple[str, ...]) -> Iterator[str]:
    for item in _scalars(context, node):
        if item.text in choices:
            yield item.text
        else:
            message = f"expected one of {', '.join(choices)}, found {kind_of(item)}"
            context.report.add("bad-value", message, item, suggestion(item.text, choices))


def _scalars(context: Context, node: Node | None) -> Iterator[Scalar]:
    """The texts of a field that takes one, or a list of them."""
    for item in node.items if type(node) is Sequence else (node,):
        if type(item) is Scalar and item.text:
            yield item
        elif item is not None:
            expect(context.report, item, "a text")
