"""The section ``support``: promises."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.declarations.context import FileContext
from dispatch_cli.declarations.fields import fits, read_records, scalars, text_of, texts_of
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.support_format import A_CONTEXT, PROMISE
from dispatch_cli.declarations.tree import Node
from dispatch_cli.model.support import Promise, SupportContext


def read_promises(context: FileContext, section: Node) -> None:
    """Read the section ``support``."""
    problems = context.problems
    for node, values in read_records(problems, section, PROMISE):
        before = problems.count
        ops = tuple(texts_of(problems, values.get("op")))
        backends = dict.fromkeys(_backends(context, values.get("backends")))
        contexts = dict.fromkeys(_contexts(problems, values.get("contexts")))
        reason = text_of(problems, values.get("reason"))
        if problems.count == before and ops and backends and contexts:
            context.promises.append(Promise(ops, tuple(backends), tuple(contexts), reason, problems.span(node)))


def _backends(context: FileContext, node: Node | None) -> Iterator[str]:
    for item in scalars(context.problems, node):
        if (key := context.keys.device(context.problems, item)) is not None:
            yield key


def _contexts(problems: Problems, node: Node | None) -> Iterator[SupportContext]:
    for item in scalars(problems, node, A_CONTEXT.words):
        if fits(problems, item, A_CONTEXT):
            yield SupportContext(item.text)
