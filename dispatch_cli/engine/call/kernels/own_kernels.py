"""Facts about PyTorch's own kernels: what each does that does not redispatch by convention, as a table says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

Place = tuple[str, str, str]
"""A kernel: the file of its source, the key it is registered at, the operator."""
NO_FILE = "-"
_FILE = Path(__file__).with_suffix(".txt")
_SOURCE = re.compile(r"(?:^|[/\\ ])([A-Za-z0-9_]+)\.(?:cpp|h):[0-9]+")
_NUMBER = re.compile(r"_[0-9]+$")
"""Number that torchgen appends to the name of a file when it writes several of them."""
_PYTHON = re.compile(r"[/\\]torch[/\\](_prims|_functorch)[/\\]\w+\.py:[0-9]+")
"""Folders with Python code that registers kernels for PyTorch's operators."""
CALLS, RAISES, WRAPS = "calls", "raises", "wraps"
"""Kinds of effect: a composite kernel calls other operators; a kernel only raises; torchgen wrote it around another."""
ITERATES = "iterates"
"""Fact about structured operators, by their ``out=`` forms: a TensorIterator computes their shapes."""
_OF_CALLEES = (CALLS, ITERATES)


class Does(NamedTuple):
    """Effect of a kernel: its kind, which form of that, and a text of it. Each is empty where there is none."""

    what: str
    how: str = ""
    text: str = ""


NOTHING_KNOWN = Does("")


class KernelRow(NamedTuple):
    """A row. source, key: a ``*`` at the end stands for any text. operators: none where it is of all."""

    does: Does
    source: str
    key: str
    operators: tuple[str, ...]

    def is_of(self, source: str, key: str) -> bool:
        """True if it is about kernels of that file at that key."""
        return _fits(source, self.source) and _fits(key, self.key)


def _fits(text: str, pattern: str) -> bool:
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern


def place_of(debug: str, key: str, operator: str) -> Place:
    """Place that a kernel is from, by its debug text."""
    match = _SOURCE.search(debug)
    if match is not None:
        return _NUMBER.sub("", match[1]), key, operator
    python = _PYTHON.search(debug)
    return NO_FILE if python is None else f"torch/{python[1]}", key, operator


def does(place: Place) -> Does:
    """Effect of the kernel at a place."""
    source, key, operator = place
    return next((row.does for row in _rows_at(source, key) if not row.operators or operator in row.operators), Does(""))


@lru_cache(maxsize=4096)
def _rows_at(source: str, key: str) -> tuple[KernelRow, ...]:
    """The rows about kernels of a file at a key, those that count before others first."""
    matching = (row for row in rows() if row.does.what not in _OF_CALLEES and row.is_of(source, key))
    exact = [(bool(row.operators), "*" not in row.source, "*" not in row.key, row) for row in matching]
    return tuple(row for *_, row in sorted(exact, key=lambda entry: entry[:3], reverse=True))


@cache
def rows() -> tuple[KernelRow, ...]:
    """The rows of the table."""
    return tuple(_rows(_FILE.read_text(encoding="utf-8")))


@cache
def of_operators(what: str) -> dict[str, tuple[KernelRow, ...]]:
    """The rows that say that of some operators, by operator."""
    by_operator: dict[str, tuple[KernelRow, ...]] = {}
    for row in rows():
        for operator in row.operators if row.does.what == what else ():
            by_operator[operator] = (*by_operator.get(operator, ()), row)
    return by_operator


def _rows(text: str) -> Iterator[KernelRow]:
    for line in text.splitlines():
        words, _, more = line.partition("|")
        if words and not words.startswith("#"):
            way, source, key, *operators = words.split()
            what, _, how = way.partition(":")
            names = tuple(name if "::" in name else f"aten::{name}" for name in operators)
            yield KernelRow(Does(what, how, more.strip()), source, key, names)
