"""Declarations that are in no file of this format: a document of plain data, made of sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dispatch_cli.declarations import tree
from dispatch_cli.declarations.tree import Node
from dispatch_cli.model.budget import Budget, weight

_START = (1, 1)


def _no_lines(_: str) -> Sequence[str]:
    return ()


class ExtractedDocument(NamedTuple):
    """A declaration file as plain data: mappings, lists, texts, numbers and booleans.

    name: what it is called where no place in the sources is to blame. lines: gives the lines of a source file, which
    are shown where a place in it is to blame; none where it cannot be read.
    """

    name: str
    data: Mapping[str, object]
    lines: Callable[[str], Sequence[str]] = _no_lines


def tree_of(data: object, budget: Budget) -> Node:
    """Plain data as a tree, as if it were written at the start of a file. Its depth is that of the format.

    Errors: OverBudget.
    """
    if isinstance(data, Mapping):
        budget.spend(1)
        pairs = tuple((_scalar(str(key), budget), tree_of(value, budget)) for key, value in data.items())
        return tree.Mapping(pairs, *_START)
    if isinstance(data, list | tuple):
        budget.spend(1)
        return tree.Sequence(tuple(tree_of(item, budget) for item in data), *_START)
    if isinstance(data, str):
        return _scalar(data, budget)
    budget.spend(1)
    return tree.Scalar("null" if data is None else str(data).lower(), True, *_START)


def _scalar(text: str, budget: Budget) -> tree.Scalar:
    budget.spend(weight(text))
    return tree.Scalar(text, False, *_START)
