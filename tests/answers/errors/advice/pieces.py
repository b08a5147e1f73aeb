"""The pieces of advice of all answers to pasted texts, and the programs that try them, read without PyTorch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from dispatch_cli.answers.errors import conclude
from dispatch_cli.answers.errors.messages import MESSAGES

STEPS = "steps"
"""In place of a kind: advice that depends on the slot."""
SENTENCE = 25
"""Characters from which on a text in the code that concludes is a sentence of advice."""


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
    """All pieces of advice: of the kinds of texts, and of the conclusions about slots."""
    for kind, message in MESSAGES.items():
        for sentence in (*message.user, *message.author):
            yield Piece(kind, re.sub(r"^(?:\[!?\w+\])+ ", "", sentence))
    yield from (Piece(STEPS, sentence) for sentence in _reached_sentences(conclude, "_steps"))


def _reached_sentences(module: ModuleType, function: str) -> Iterator[str]:
    """The sentences in a function, and in the functions and constants of its module that it uses."""
    defined: dict[str, ast.AST] = {}
    for node in ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.returns is not None and "str" in ast.unparse(node.returns):
            defined[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.JoinedStr):
            defined[ast.unparse(node.targets[0])] = node
    reached, waiting = set[str](), [function]
    while waiting:
        name = waiting.pop()
        if name not in reached and name in defined:
            reached.add(name)
            waiting += [node.id for node in ast.walk(defined[name]) if isinstance(node, ast.Name)]
            yield from _sentences(defined[name])


def _sentences(function: ast.AST) -> Iterator[str]:
    documentation = ast.get_docstring(function, clean=False) if isinstance(function, ast.FunctionDef) else None
    inside = {id(part) for node in ast.walk(function) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(function):
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            text = node.value
        else:
            continue
        if len(text) >= SENTENCE and text != documentation:
            yield text


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
