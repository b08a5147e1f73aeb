"""The section ``support``: promises, in declarations and in a project's settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from dispatch_cli.declarations import tree
from dispatch_cli.declarations.context import FileContext
from dispatch_cli.declarations.fields import fits, read_records, scalars, text_of, texts_of
from dispatch_cli.declarations.problems import Place, Problems
from dispatch_cli.declarations.source import Source
from dispatch_cli.declarations.support_format import A_CONTEXT, PROMISE, SUPPORT
from dispatch_cli.declarations.toml_reader import TomlError, TomlSource, parse_toml
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model.budget import OverBudget, weight
from dispatch_cli.model.support import Promise, SupportContext

_REACH = 10_000
"""Characters in which the next text of a TOML file is looked for."""


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


def read_project(source: Source, table: str) -> tuple[Problems, Node | None]:
    """The promises of a project file, as a file of declarations with nothing else. table: its name below ``tool``."""
    source = TomlSource(source.file, source.text, source.budget)
    problems = Problems(source)
    try:
        tool = parse_toml(source.text).get("tool")
    except TomlError as error:
        problems.add("toml-syntax", error.message, Place(error.line or 1, error.column))
        return problems, None
    settings = tool.get(table) if isinstance(tool, Mapping) else None
    section = {name: settings[name] for name in (SUPPORT.name,) if isinstance(settings, Mapping) and name in settings}
    try:
        entries = _TomlTree(source, table).node(section)
    except OverBudget as over:
        problems.add("too-large", over.message, Place(1, 1), over.hint)
        return problems, None
    assert type(entries) is tree.Mapping, "it was made of a mapping"
    version = Scalar("dispatch", True, 1, 1), Scalar("1", True, 1, 1)
    return problems, tree.Mapping((version, *entries.pairs), 1, 1)


class _TomlTree:
    """Plain data as a tree. The parser does not say where a text stands: it is where it is written next."""

    def __init__(self, source: TomlSource, table: str) -> None:
        self._source = source
        self._at = max(0, source.text.find(table))

    def node(self, value: object) -> Node:
        """A value, which is written behind the last one."""
        if isinstance(value, Mapping):
            pairs = tuple((self._key(key), self.node(item)) for key, item in value.items())
            return tree.Mapping(pairs, *(pairs[0][0][2:] if pairs else self._place()))
        if isinstance(value, list):
            at = self._place()
            return tree.Sequence(tuple(map(self.node, value)), *at)
        if isinstance(value, str):
            return self._next(value, rf"[\"']{re.escape(value)}[\"']")._replace(plain=False)
        return self._next(str(value).lower(), re.escape(str(value).lower()))

    def _key(self, text: str) -> Scalar:
        return self._next(text, rf"(?<![\w-]){re.escape(text)}(?![\w-])")

    def _next(self, text: str, pattern: str) -> Scalar:
        self._source.budget.spend(weight(text))
        match = re.compile(pattern).search(self._source.text, self._at, self._at + _REACH)
        if match is None:
            return Scalar(text, True, *self._place())
        self._at = match.start()
        place = self._place()
        self._at = match.end()
        return Scalar(text, True, *place)

    def _place(self) -> tuple[int, int]:
        return self._source.place_at(self._at)
