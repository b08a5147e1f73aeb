"""Key-set expressions: ``CPU | AutogradCPU - AutogradFunctionality`` and what PyTorch makes of it.

The operators and their precedence are those of ``c10::DispatchKeySet`` in C++ and in Python: ``-`` binds tighter than
``&``, and ``&`` tighter than ``|``. So Python's parser reads them. The named sets and functions have PyTorch's names
where it has one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.keys.keyset import (
    COMPONENT,
    FUNCTIONS,
    NAMED_SETS,
    DispatchKeySet,
    components_of,
    functionalities_of,
)
from dispatch_cli.engine.keys.layout import layout_of
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.span import Span, cut_line
from dispatch_cli.model.suggest import KEYS_LISTED, suggestion
from dispatch_cli.model.universe import Universe

UNION = "DispatchKeySet"
"""The printed form of a key set, with keys between its brackets, is an expression too."""
MAX_LENGTH = 16 * 1024
"""Characters of one expression; PyTorch's longest key set prints in a fifth of it."""
MAX_SHOWN = 60
"""Characters of a wrong name that a message shows."""
_PREFIXES = ("torch._C.", "torch.", "c10.", "DispatchKey.", "BackendComponent.")
"""What Python and C++ write before a name."""
_JOIN = "join keys by | (or), & (and) or - (without)"
_OTHER_SIGN = re.compile(r"[^A-Za-z0-9_.:|&(),\s-]")
_HINTS = {
    "+": "write | for the union",
    "~": "write FULL - KEY for everything but a key",
    "^": "there is no symmetric difference; PyTorch has |, & and -",
    "{": "write DispatchKeySet(A, B), or A | B",
    "[": "write DispatchKeySet(A, B), or A | B",
}
_WORD = re.compile(r"[\w.:]+|.")


class ExpressionNoteKind(Enum):
    """Kind of surprise in an expression."""

    ADDS_NOTHING = "adds-nothing"
    """Alias keys and Undefined have no bits."""
    BACKENDS_STAY = "backends-stay"
    """A difference keeps backend bits."""
    OTHERS_GO = "others-go"
    """A difference takes a functionality away from every backend."""
    CROSS_PRODUCT = "cross-product"
    """A union contains keys that none of its parts does."""
    NO_FUNCTIONALITY = "no-functionality"
    """Backend bits without a functionality name no key."""
    NO_BACKEND = "no-backend"
    """A per-backend functionality without a backend bit names no key."""


class ExpressionNote(NamedTuple):
    """A note and the keys it is about."""

    kind: ExpressionNoteKind
    keys: tuple[str, ...]


def notes_of_difference(
    left: DispatchKeySet, right: DispatchKeySet, result: DispatchKeySet
) -> Iterator[ExpressionNote]:
    """Notes on where *result*, which is left - right, is not what the keys of the two would leave."""
    if result == left:
        return
    universe = left.layout.universe
    parts, functionalities = universe.runtime_parts, functionalities_of(right)
    components = {name.removesuffix(COMPONENT) for name in components_of(right)}
    expected = [
        key
        for key in left
        if parts[key][0] not in functionalities or (components and parts[key][1] not in {*components, None})
    ]
    closed = DispatchKeySet.of(universe, expected)
    extra = DispatchKeySet(left.layout, result.bits & ~closed.bits)
    yield ExpressionNote(ExpressionNoteKind.BACKENDS_STAY, components_of(extra))
    yield ExpressionNote(ExpressionNoteKind.OTHERS_GO, tuple(key for key in expected if not result.has(key)))


def notes_of_loose_bits(keys: DispatchKeySet) -> Iterator[ExpressionNote]:
    """Bits that stand for no key because their other half is not there."""
    universe = keys.layout.universe
    per_backend = tuple(name for name in functionalities_of(keys) if name in universe.per_backend)
    components = components_of(keys)
    if components and not per_backend:
        yield ExpressionNote(ExpressionNoteKind.NO_FUNCTIONALITY, components)
    if per_backend and not components:
        yield ExpressionNote(ExpressionNoteKind.NO_BACKEND, per_backend)


class KeyExpression(NamedTuple):
    """An expression that was read.

    reading: the expression with the brackets that the precedence of its operators implies.
    """

    text: str
    reading: str
    keys: DispatchKeySet
    notes: tuple[ExpressionNote, ...]


class _ExpressionPart(NamedTuple):
    keys: DispatchKeySet
    reading: str
    compound: bool = False

    @property
    def bracketed(self) -> str:
        return f"({self.reading})" if self.compound else self.reading


def evaluate(universe: Universe, text: str, origin: str = "argument") -> KeyExpression:
    """The key set that PyTorch computes from *text*.

    origin: what stands in the place of a file's name in a problem. Errors: InputError, with every unknown name, or
    the place where *text* stops being an expression.
    """
    reader = _ExpressionReader(universe, text, origin)
    part = reader.part(reader.parsed())
    if reader.problems:
        raise InputError(tuple(reader.problems))
    notes = [*reader.notes(), *notes_of_loose_bits(part.keys)]
    return KeyExpression(text, part.reading, part.keys, tuple(notes))


class _ExpressionReader:
    """Reads one expression. problems: the names that are not known."""

    def __init__(self, universe: Universe, text: str, origin: str) -> None:
        self.problems: list[Problem] = []
        self._universe = universe
        self._layout = layout_of(universe)
        self._text = text
        self._origin = origin
        # with the names of C++ as Python writes them, at their places
        self._python = re.sub(r"\s", " ", text.replace("::", " ."))
        self._blank = len(text) - len(self._python.lstrip())
        self._components = {f"{backend}{COMPONENT}": 1 << i for i, backend in enumerate(universe.backends)}
        self._noted: dict[ExpressionNoteKind, dict[str, None]] = {}

    def parsed(self) -> ast.expr:
        """The expression as Python reads it. Errors: InputError."""
        if len(self._text) > MAX_LENGTH:
            message = f"a key-set expression has at most {MAX_LENGTH} characters, not {len(self._text)}"
            raise InputError((Problem("key-expression", message),))
        if (sign := _OTHER_SIGN.search(self._text)) is not None:
            message = f"{sign[0]!r} has no meaning in a key-set expression"
            raise self._mistake(sign.start(), message, _HINTS.get(sign[0], _JOIN))
        try:
            return ast.parse(self._python[self._blank :], mode="eval").body
        except SyntaxError as error:
            raise self._unexpected(self._blank + error.offset - 1 if error.offset else len(self._text)) from None
        except (ValueError, RecursionError, MemoryError):
            raise self._mistake(0, "the expression is nested too deeply, or has too long a number") from None

    def notes(self) -> Iterable[ExpressionNote]:
        """Surprises in what was read."""
        return (ExpressionNote(kind, tuple(keys)) for kind, keys in self._noted.items())

    def part(self, node: ast.expr) -> _ExpressionPart:
        """Value of a part of the expression. Errors: InputError."""
        match node:
            case ast.BinOp(op=ast.BitOr()):
                return self._union(self._operands(node))
            case ast.BinOp(op=ast.BitAnd()):
                return self._intersection(self._operands(node))
            case ast.BinOp(op=ast.Sub()):
                return self._difference(self._operands(node))
            case ast.Name() | ast.Attribute():
                name = self._in_any_case(self._name(node))
                return _ExpressionPart(self._named(name, node), name)
            case ast.Constant(value=int() as bits) if not isinstance(bits, bool):
                return _ExpressionPart(self._raw(bits, node), self._written(node))
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self._called(self._in_any_case(self._name(function)), function, arguments)
        raise self._unexpected(self._start(node))

    def _operands(self, node: ast.BinOp) -> list[_ExpressionPart]:
        """The parts that an operator joins, in order."""
        nodes: list[ast.expr] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and type(left.op) is type(node.op):
            nodes.append(left.right)
            left = left.left
        return [self.part(operand) for operand in (left, *reversed(nodes))]

    def _union(self, parts: list[_ExpressionPart]) -> _ExpressionPart:
        keys = DispatchKeySet(self._layout, _any_bits(part.keys.bits for part in parts))
        inside = {key for part in parts for key in part.keys}
        self._note(ExpressionNoteKind.CROSS_PRODUCT, (key for key in keys if key not in inside))
        return _ExpressionPart(keys, " | ".join(part.bracketed for part in parts), compound=True)

    def _intersection(self, parts: list[_ExpressionPart]) -> _ExpressionPart:
        keys = parts[0].keys
        for part in parts[1:]:
            keys &= part.keys
        return _ExpressionPart(keys, " & ".join(part.bracketed for part in parts), compound=True)

    def _difference(self, parts: list[_ExpressionPart]) -> _ExpressionPart:
        keys = parts[0].keys
        for part in parts[1:]:
            left, keys = keys, keys - part.keys
            self._add(notes_of_difference(left, part.keys, keys))
        return _ExpressionPart(keys, " - ".join(part.bracketed for part in parts), compound=True)

    def _called(self, name: str, node: ast.expr, arguments: list[ast.expr]) -> _ExpressionPart:
        if name == UNION:  # as PyTorch prints it; it may be empty
            parts = list(map(self.part, arguments))
            keys = DispatchKeySet(self._layout, _any_bits(part.keys.bits for part in parts))
            return _ExpressionPart(keys, f"{UNION}({', '.join(part.reading for part in parts)})")
        function = FUNCTIONS.get(name)
        if function is None:
            known = ", ".join((*FUNCTIONS, UNION))
            hint = suggestion(name, FUNCTIONS) or f"there are {known}"
            raise self._mistake(self._start(node), f"there is no function {cut(name)!r}", hint)
        if len(arguments) != 1 or not isinstance(arguments[0], ast.Name | ast.Attribute):
            raise self._mistake(self._start(node), f"{name} takes one key", f"write {name}(KEY)")
        key = self._universe.key_named(self._name(arguments[0]))
        if key not in self._layout.key_bits:
            self._unknown(key, arguments[0], self._layout.key_bits)
            return _ExpressionPart(DispatchKeySet(self._layout), f"{name}({key})")
        return _ExpressionPart(function[1](self._universe, key), f"{name}({key})")

    # what names and numbers mean

    def _name(self, node: ast.expr) -> str:
        """A name without what is written before it, such as ``DispatchKey.`` Errors: InputError for what is none."""
        text = self._written(node).replace(" ", "")
        if not isinstance(node, ast.Name | ast.Attribute) or not text.replace(".", "_").isidentifier():
            raise self._unexpected(self._start(node))
        return text.rpartition(".")[2] if text.startswith(_PREFIXES) else text

    def _in_any_case(self, name: str) -> str:
        """The key of that name, whatever its case; other words are as they are."""
        is_word = name == UNION or any(name in known for known in (self._components, NAMED_SETS, FUNCTIONS))
        return name if is_word else self._universe.key_named(name)

    def _named(self, name: str, node: ast.expr) -> DispatchKeySet:
        if (bits := self._layout.key_bits.get(name)) is not None:
            if not bits:
                self._note(ExpressionNoteKind.ADDS_NOTHING, (name,))
            return DispatchKeySet(self._layout, bits)
        if (bits := self._components.get(name)) is not None:
            return DispatchKeySet(self._layout, bits)
        if (named := NAMED_SETS.get(name)) is not None:
            return named[1](self._universe)
        if name in FUNCTIONS:
            raise self._mistake(self._start(node), f"{name} takes one key", f"write {name}(KEY)")
        self._unknown(name, node, (*self._layout.key_bits, *self._components, *NAMED_SETS))
        return DispatchKeySet(self._layout)

    def _raw(self, bits: int, node: ast.expr) -> DispatchKeySet:
        width = self._layout.functionality_mask.bit_length()
        if bits >> width:
            message = f"only the lowest {width} bits are keys of {self._universe.name}"
            self.problems.append(self._problem(self._start(node), message))
            return DispatchKeySet(self._layout)
        return DispatchKeySet(self._layout, bits)

    # notes and problems

    def _note(self, kind: ExpressionNoteKind, keys: Iterable[str]) -> None:
        self._add((ExpressionNote(kind, tuple(keys)),))

    def _add(self, notes: Iterable[ExpressionNote]) -> None:
        """Notes of one kind become one, with all their keys."""
        for note in notes:
            for key in note.keys:
                self._noted.setdefault(note.kind, {})[key] = None

    def _start(self, node: ast.expr) -> int:
        """The place of a part in the text."""
        return self._blank + node.col_offset

    def _written(self, node: ast.expr) -> str:
        start = self._start(node)
        return self._python[start : start + (node.end_col_offset or 0) - node.col_offset]

    def _unknown(self, name: str, node: ast.expr, known: Iterable[str]) -> None:
        message = f"{self._universe.name} has no dispatch key {cut(name)!r}"
        hint = suggestion(name, known) or KEYS_LISTED
        self.problems.append(self._problem(self._start(node), message, hint, "unknown-dispatch-key"))

    def _unexpected(self, start: int) -> InputError:
        word = _WORD.match(self._text, start)
        if word is not None and word[0] == "(":
            return self._mistake(start, "this bracket is never closed, or is in the wrong place")
        shown = "the end" if word is None else repr(cut(word[0]))
        return self._mistake(start, f"expected keys with signs between them, found {shown}", _JOIN)

    def _mistake(self, start: int, message: str, hint: str | None = None) -> InputError:
        return InputError((*self.problems, self._problem(start, message, hint)))

    def _problem(self, start: int, message: str, hint: str | None = None, code: str = "key-expression") -> Problem:
        """A mistake at an offset; the origin stands where a file's name would."""
        *before, last = self._text[:start].split("\n")
        line, column = len(before) + 1, len(last) + 1
        return Problem(
            code, message, Span(self._origin, line, column), cut_line(self._text.split("\n")[line - 1], column), hint
        )


def cut(name: str) -> str:
    """A name as a message shows it."""
    return name if len(name) <= MAX_SHOWN else f"{name[:MAX_SHOWN]}…"


def _any_bits(sets: Iterable[int]) -> int:
    bits = 0
    for keys in sets:
        bits |= keys
    return bits
