"""Writing a captured state: YAML for people, JSON for machines, equal in what they say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any

from dispatch_cli.capture.document import Document, document
from dispatch_cli.model.text.quoting import double_quoted, escaped, scalar

WIDTH = 120
"""Columns that a list of words is wrapped at."""


class Format(Enum):
    """The formats; the value is the ending of a file's name."""

    YAML = ".yaml"
    JSON = ".json"
    JSON_GZ = ".json.gz"

    @classmethod
    def of(cls, file: str) -> Format | None:
        """The format that the name of a file asks for, or None."""
        name = file.lower()
        if name.endswith(".yml"):
            return cls.YAML
        return next((each for each in cls if name.endswith(each.value)), None)


def state_text(state: Mapping[str, Any], as_json: bool) -> Iterator[str]:
    """The text of a captured state, in pieces.

    state: what `dispatch_cli.capture.probe` writes. The same state gives the same text.
    """
    content = document(state)
    if as_json:
        yield from json_text(content)
    else:
        yield from (f"# {line}\n" for line in head(state))
        yield from yaml_text(content)


def head(state: Mapping[str, Any]) -> list[str]:
    """Lines of a file about itself: which PyTorch, and how much of what. No time and no place."""
    operators = state["operators"]
    kernels = [kernels for operator in operators for kernels in operator["kernels"].values()]
    inactive = sum(len(each) - 1 for each in kernels)
    lines = [
        f"PyTorch {state['torch']} ({state['build']}), git {state['git'] or 'unknown'}",
        "The state of its dispatcher, written by `dispatch-cli capture`.",
    ]
    if state["modules"]:
        lines.append(f"Imported besides torch: {', '.join(state['modules'])}")
    lines += [
        f"{len(operators):,} operators with {sum(map(len, kernels)):,} kernels, {inactive:,} of them inactive",
        f"{sum(operator['schema'] is None for operator in operators):,} operators without a schema",
        f"{len(state['universe']['fallbacks']):,} backend fallbacks",
        f"{sum(len(operator['python']) for operator in operators):,} kernels of the Python dispatcher",
        f"{len(state['higher_order_operators']):,} higher-order operators",
    ]
    lines += [f"left out, because it cannot be interpreted: {skipped['name']}" for skipped in state["skipped"]]
    return [_ONE_LINE.sub("?", line) for line in lines]


_ONE_LINE = re.compile("[^ -~]")


# Texts


_PLAIN = re.compile(r"[A-Za-z_(][!-~ ]*[!-~]|[A-Za-z_]")
_NOT_PLAIN = re.compile(r": | #|:$|##")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
"""Words that some YAML reader takes for something else than text."""


@lru_cache(maxsize=1 << 16)
def _scalar(text: str) -> str:
    """*text* for a line of its own: without quotes where it can be read as nothing else."""
    if _PLAIN.fullmatch(text) and not _NOT_PLAIN.search(text) and text.lower() not in _WORDS:
        return text
    return double_quoted(text)


# YAML


def yaml_text(content: Document) -> Iterator[str]:
    """A document as YAML, in pieces. It reads back as what it was."""
    for field, value in content.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"\n{field}:\n"
            for item in value:
                yield _item(item, "  ")
        else:
            lines: list[str] = [""] if field in ("modes", "imported") else []
            _field(lines, field, value, "")
            yield "\n".join(lines) + "\n"


def _item(item: Document, indent: str) -> str:
    lines: list[str] = []
    _mapping(lines, item, indent + "  ")
    lines[0] = f"{indent}- {lines[0][len(indent) + 2 :]}"
    return "\n".join(lines) + "\n"


def _mapping(lines: list[str], mapping: Document, indent: str) -> None:
    for field, value in mapping.items():
        _field(lines, field, value, indent)


def _field(lines: list[str], field: str, value: Any, indent: str) -> None:
    name = f"{indent}{_scalar(field)}:"
    if isinstance(value, str):
        lines.append(f"{name} {_scalar(value)}")
    elif isinstance(value, bool):
        lines.append(f"{name} {'true' if value else 'false'}")
    elif isinstance(value, int):
        lines.append(f"{name} {value}")
    elif isinstance(value, dict):
        if value and all(type(item) is int for item in value.values()):
            lines += _wrapped(name, "{", [f"{scalar(key)}: {item}" for key, item in value.items()], "}", indent)
        elif value:
            lines.append(name)
            _mapping(lines, value, indent + "  ")
        else:
            lines.append(f"{name} {{}}")
    elif value and isinstance(value[0], dict):
        lines.append(name)
        for item in value:
            lines.append(_item(item, indent + "  ").removesuffix("\n"))
    else:
        lines += _wrapped(name, "[", [scalar(item) for item in value], "]", indent)


def _wrapped(name: str, start: str, words: list[str], end: str, indent: str) -> list[str]:
    """A list or mapping in brackets, on one line when it fits and wrapped when it does not."""
    line = f"{name} {start}{', '.join(words)}{end}"
    if len(line) <= WIDTH:
        return [line]
    lines = [f"{name} {start}"]
    line = indent + "  "
    for word in words:
        if len(line) + len(word) + 1 > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = indent + "  "
        line += f"{word}, "
    return [*lines, line.rstrip().removesuffix(",") + end]


def json_text(content: Document) -> Iterator[str]:
    """A document as JSON, in pieces: a line for every field, and for every item of a list. It is YAML as well."""
    start = "{"
    for field, value in content.items():
        yield f"{start}{_json(field)}: "
        items = value if isinstance(value, list) else ()
        lines = ",\n".join(map(_json, items))
        yield f"[\n{lines}\n]" if items else _json(value)
        start = ",\n"
    yield "}\n"


def _json(value: Any) -> str:
    return escaped(json.dumps(value, ensure_ascii=False))
