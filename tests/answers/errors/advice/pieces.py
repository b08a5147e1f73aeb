"""The pieces of advice of all answers to pasted texts, and the programs that try them, read without PyTorch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dispatch_cli.answers.errors.messages import MESSAGES


class Piece(NamedTuple):
    """A piece of advice. sentence: as it is written in the code, its holes in braces."""

    kind: str
    sentence: str


class Entry(NamedTuple):
    """A piece that is tried, by a part of its sentence, or not. reason: why not; None: a program tries it."""

    kind: str
    part: str
    reason: str | None


def pieces() -> Iterator[Piece]:
    """All pieces of advice: of the kinds of texts, and of slots."""
    for kind, message in MESSAGES.items():
        for sentence in (*message.user, *message.author):
            yield Piece(kind, re.sub(r"^(?:\[[!+]?\w+\])+ ", "", sentence))


def programs() -> Iterator[str]:
    """The names of the programs, which are functions."""
    for path in sorted(Path(__file__).parent.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and any("tries(" in ast.unparse(by) for by in node.decorator_list):
                yield node.name


def entries() -> Iterator[Entry]:
    """The pieces that are tried and those that are not, from the calls of `tries` and `untried` in the modules here."""
    for path in sorted(Path(__file__).parent.glob("*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        reasons = {
            ast.unparse(node.targets[0]): node.value.value
            for node in module.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(module):
            name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if name in ("tries", "untried"):
                assert isinstance(node, ast.Call)
                given = [reasons[arg.id] if isinstance(arg, ast.Name) else ast.literal_eval(arg) for arg in node.args]
                unchanged = [ast.literal_eval(item.value) for item in node.keywords if item.arg == "unchanged"]
                kind, *parts = given if name == "tries" else given[:-1]
                reason = None if name == "tries" else given[-1]
                yield from (
                    Entry(kind, part, reason) for part in (*parts, *(part for shared in unchanged for part in shared))
                )
