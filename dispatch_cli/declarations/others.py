"""Guards."""

from __future__ import annotations

from dispatch_cli.declarations.context import Context
from dispatch_cli.declarations.fields import read_record, text_of
from dispatch_cli.declarations.format import GUARD
from dispatch_cli.declarations.tree import Node, Scalar, Sequence
from dispatch_cli.model.declarations import Guard


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
