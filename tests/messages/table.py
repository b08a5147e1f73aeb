"""The table of PyTorch's messages: ``messages.tsv``.

A row is a text with holes, or a piece of one from a shared library: what is said of it, the text, the exception, where
it is, in which versions. It is said to be understood, by the name of a kind, or why it is not.

``texts.tsv`` has whole texts that no recording has, each with the file in PyTorch's repository that prints it: those of
other builds (macOS), of older versions, and those that take a broken C++ extension to provoke.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

PATH = Path(__file__).with_name("messages.tsv")
UNJUDGED = "?"
HEADER = ("judgement", "text", "error", "sources", "versions")


class Row(NamedTuple):
    """judgement: a kind's name, or one of `REASONS`. sources: files below site-packages/torch, at most three."""

    judgement: str
    text: str
    error: str
    sources: tuple[str, ...]
    versions: tuple[str, ...]


REASONS = {
    "assertion": "PyTorch's own bookkeeping is broken; nothing that a declaration could show",
    "argument": "a Python function was given a wrong argument; the text says all",
    "value": "sizes, dtypes, layouts or values that a kernel or a transform refuses",
    "compiler": "torch.compile's, export's or AOTAutograd's own business",
    "cache": "kept inside: FakeTensorMode does not cache a call",
    "graph": "the autograd graph: leaves, hooks, views, the engine",
    "script": "TorchScript and its types",
    "other": "another part of PyTorch: distributed, quantization, profiling, files",
    "piece": "a piece of a longer text that says nothing alone",
    "not explained": "about dispatch, and met too seldom in public reports",
    "no text": "documentation, or a name: nothing that is printed as an error or a warning",
}
"""Reasons why a text is not understood."""


def read() -> list[Row]:
    """The rows as they are in the file."""
    lines = PATH.read_text(encoding="utf-8").split("\n")[1:-1] if PATH.exists() else []
    return [_row(line.split("\t")) for line in lines]


def _row(cells: list[str]) -> Row:
    judgement, text, error, sources, versions = cells
    return Row(judgement, _plain(text), error, tuple(sources.split(" ")), tuple(versions.split(" ")))


def write(rows: list[Row]) -> None:
    """Write the rows in order of their sources and texts."""
    lines = ["\t".join(HEADER)]
    lines += [
        "\t".join((row.judgement, _shown(row.text), row.error, " ".join(row.sources), " ".join(row.versions)))
        for row in sorted(rows, key=lambda row: (row.sources[0], row.text, row.error))
    ]
    PATH.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _shown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def _plain(text: str) -> str:
    signs = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
    parts = text.split("\\")
    plain = [parts[0]]
    position = 1
    while position < len(parts):
        part = parts[position]
        if part:
            plain.append(signs[part[0]] + part[1:])
        else:  # an escaped backslash: what follows is the next part
            position += 1
            plain.append("\\" + (parts[position] if position < len(parts) else ""))
        position += 1
    return "".join(plain)


class Text(NamedTuple):
    """A whole text. source: the file of PyTorch's repository, with the version where it is an older one."""

    kind: str
    text: str
    source: str


def read_texts() -> list[Text]:
    """The texts of ``texts.tsv``."""
    lines = PATH.with_name("texts.tsv").read_text(encoding="utf-8").split("\n")[1:-1]
    return [Text(kind, _plain(text), source) for kind, text, source in (line.split("\t") for line in lines)]
