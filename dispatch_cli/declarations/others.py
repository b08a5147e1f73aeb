"""Higher-order operators and guards."""

from __future__ import annotations

from dispatch_cli.declarations.context import Context
from dispatch_cli.declarations.fields import is_true, read_record, text_of
from dispatch_cli.declarations.format import GUARD, HIGHER_ORDER_OPERATOR
from dispatch_cli.declarations.operators import read_name, read_texts_by_key
from dispatch_cli.declarations.tree import Mapping, Node, Scalar, Sequence
from dispatch_cli.model.declarations import Guard, HigherOrderOperator


def read_higher_order_operators(context: Context, section: Node) -> None:
    """Read the section ``higher_order_operators``."""
    if type(section) is Sequence:
        for node in section.items:
            _read_higher_order_operator(context, node)


def _read_higher_order_operator(context: Context, node: Node) -> None:
    report = context.report
    values = read_record(report, node, HIGHER_ORDER_OPERATOR)
    if values is None:
        return
    name = text_of(report, values.get("name"))
    found = HigherOrderOperator(
        name or "",
        tuple((key, kernel) for key, kernel, _ in read_texts_by_key(context, values.get("dispatch"))),
        _texts(context, values.get("modes")),
        _texts(context, values.get("subclasses")),
        text_of(report, values.get("functionalize")),
        is_true(values.get("side_effect")) is True,
        report.span(node),
    )
    context.higher_order_operators.append(found)


def _texts(context: Context, node: Node | None) -> tuple[tuple[str, str], ...]:
    if type(node) is not Mapping:
        return ()
    pairs = [(text_of(context.report, key), read_name(context, value)) for key, value in node.pairs]
    return tuple((key, kernel) for key, kernel in pairs if key is not None and kernel is not None)


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
    key_node = values.get("key")
    key = context.keys.slot_glob(report, key_node) if type(key_node) is Scalar else None
    texts = {name: text_of(report, values.get(name)) for name in ("op", "rule", "not", "kernel", "not_kernel")}
    if key is None or texts["op"] is None:
        return
    context.guards.append(
        Guard(texts["op"], key, texts["rule"], texts["not"], texts["kernel"], texts["not_kernel"], report.span(node))
    )
