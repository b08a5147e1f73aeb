"""A first look at declaration files that were found, not named: whether they can be read at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatch_cli.declarations import source
from dispatch_cli.declarations.header import read_header
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.yaml_reader import parse
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.span import Span


def broken_declarations(files: Iterable[str]) -> Iterator[Problem]:
    """The first problem of each file that is no YAML, or whose head cannot be read."""
    for file in files:
        try:
            problems = Problems(source.read(file))
        except source.SourceError as error:
            yield Problem(error.code, error.message, Span(file, error.line, error.column), hint=error.hint)
            continue
        root = parse(problems)
        if root is not None:
            read_header(problems, root)
        yield from problems.problems[:1]
