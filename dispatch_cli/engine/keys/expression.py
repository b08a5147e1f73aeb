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
from dispatch_cli.engine.table.layout import layout_of
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.span import Span, cut_line
from dispatch_cli.model.text.suggest import KEYS_LISTED, suggestion
from dispatch_cli.model.universe import Universe

UNION = "DispatchKeySet"
"""The printed form of a key set, with keys between its brackets, is an expression too."""
MAX_LENGTH = 16 * 1024
"""Characters of one expression; PyTorch's longest key set prints in a fifth of it."""
MAX_SHOWN = 60
"""Characters of a wrong name that a message shows."""
_PREFIXES = ("torch._C.", "torch.", "c10.", "DispatchKey.", "BackendComponent.")
_JOIN = "join keys by | (or), & (and) or - (without)"
_SIGNS: dict[type[ast.operator], str] = {ast.BitOr: "|", ast.BitAnd: "&", ast.Sub: "-"}
_WORDS = re.compile(r"(?:\s|0[xX][0-9a-fA-F]+\b|[0-9]+\b|[A-Za-z_]\w*|::|[|&(),.-])*", re.ASCII)
"""Text that is an expression, as far as its words and signs tell."""
_OTHER_SIGNS = {
    "+": "write | for the union",
    "~": "write FULL - KEY for everything but a key",
    "^": "there is no symmetric difference; PyTorch has |, & and -",
    "{": "write DispatchKeySet(A, B), or A | B",
    "[": "write DispatchKeySet(A, B), or A | B",
}


class ExpressionMistake(Exception):
    """The text is not a key-set expression."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


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
    if len(text) > MAX_LENGTH:
        message = f"a key-set expression has at most {MAX_LENGTH} characters, not {len(text)}"
        raise InputError((Problem("key-expression", message),))
    reader = _ExpressionReader(universe, text, origin)
    try:
        part = reader.whole()
    except ExpressionMistake as mistake:
        raise InputError((*reader.problems, mistake.problem)) from None
    if reader.problems:
        raise InputError(tuple(reader.problems))
    notes = [*reader.notes(), *notes_of_loose_bits(part.keys)]
    return KeyExpression(text, part.reading, part.keys, tuple(notes))


class _ExpressionReader:
    """Reads one expression."""

    def __init__(self, universe: Universe, text: str, origin: str) -> None:
        self.problems: list[Problem] = []
        self._universe = universe
        self._layout = layout_of(universe)
        self._text = text
        self._origin = origin
        self._components = {f"{backend}{COMPONENT}": 1 << i for i, backend in enumerate(universe.backends)}
        self._noted: dict[ExpressionNoteKind, dict[str, None]] = {}
        self._start = 0

    def whole(self) -> _ExpressionPart:
        rest = _WORDS.sub("", self._text, count=1)
        if rest:
            message = f"{rest[0]!r} has no meaning in a key-set expression"
            raise self._mistake(message, _OTHER_SIGNS.get(rest[0], _JOIN), len(self._text) - len(rest))
        line = re.sub(r"\s", " ", self._text.replace("::", " ."))  # of the same length
        self._start = len(line) - len(line.lstrip())
        try:
            tree = ast.parse(line.lstrip(), mode="eval").body
        except SyntaxError as error:
            if line.rstrip()[-1:] in ("", *_SIGNS.values()):
                raise self._mistake("a key is missing at the end", None, len(self._text)) from None
            at = min(self._start + (error.offset or 1) - 1, len(self._text))
            raise self._mistake("this is not a key-set expression", _JOIN, at) from None
        except (RecursionError, MemoryError):
            raise self._mistake("this expression is too long, or nests too deep", None, 0) from None
        return self._part(tree)

    def notes(self) -> Iterable[ExpressionNote]:
        return (ExpressionNote(kind, tuple(keys)) for kind, keys in self._noted.items())

    # the grammar

    def _part(self, node: ast.expr) -> _ExpressionPart:
        match node:
            case ast.BinOp(op=operation) if type(operation) in _SIGNS:
                return self._joined(node, type(operation))
            case ast.Name() | ast.Attribute():
                name = self._in_any_case(self._bare(node))
                return _ExpressionPart(self._named(name, node), name)
            case ast.Constant(value=int(bits)) if not isinstance(bits, bool):
                return _ExpressionPart(self._raw(bits, node), self._written(node))
            case ast.Call(func=ast.Name() | ast.Attribute() as function, args=arguments, keywords=[]):
                return self._called(self._in_any_case(self._bare(function)), arguments, node)
        raise self._mistake("expected a key, or keys in brackets", _JOIN, self._at(node))

    def _joined(self, node: ast.expr, operation: type[ast.operator]) -> _ExpressionPart:
        """Parts with one sign between them."""
        nodes: list[ast.expr] = []
        while isinstance(node, ast.BinOp) and type(node.op) is operation:
            nodes.append(node.right)
            node = node.left
        parts = [self._part(part) for part in (node, *reversed(nodes))]
        keys = parts[0].keys
        for part in parts[1:]:
            before = keys
            if operation is ast.BitOr:
                keys |= part.keys
            elif operation is ast.BitAnd:
                keys &= part.keys
            else:
                keys -= part.keys
                self._add(notes_of_difference(before, part.keys, keys))
        if operation is ast.BitOr:
            inside = {key for part in parts for key in part.keys}
            self._note(ExpressionNoteKind.CROSS_PRODUCT, (key for key in keys if key not in inside))
        return _ExpressionPart(keys, f" {_SIGNS[operation]} ".join(part.bracketed for part in parts), compound=True)

    def _called(self, name: str, arguments: list[ast.expr], node: ast.expr) -> _ExpressionPart:
        """A function of a key, or ``DispatchKeySet(CPU, AutogradCPU)``, as PyTorch prints it; it may be empty."""
        if name == UNION:
            keys, parts = DispatchKeySet(self._layout), [self._part(argument) for argument in arguments]
            for part in parts:
                keys |= part.keys
            return _ExpressionPart(keys, f"{UNION}({', '.join(part.reading for part in parts)})")
        function = FUNCTIONS.get(name)
        if function is None:
            known = ", ".join((*FUNCTIONS, UNION))
            hint = suggestion(name, FUNCTIONS) or f"there are {known}"
            raise self._mistake(f"there is no function {_cut(name)!r}", hint, self._at(node))
        if len(arguments) != 1 or not isinstance(arguments[0], ast.Name | ast.Attribute):
            raise self._mistake(f"{name} takes one key", f"write {name}(KEY)", self._at(node))
        key = self._universe.key_named(self._bare(arguments[0]))
        if key not in self._layout.key_bits:
            self._unknown(key, arguments[0], self._layout.key_bits)
            return _ExpressionPart(DispatchKeySet(self._layout), name)
        return _ExpressionPart(function[1](self._universe, key), f"{name}({key})")

    # what names and numbers mean

    def _written(self, node: ast.expr) -> str:
        return self._text[self._at(node) : self._start + (node.end_col_offset or 0)]

    def _bare(self, node: ast.expr) -> str:
        """A name without what Python and C++ write before it, such as ``DispatchKey.``"""
        name = re.sub(r"\s", "", self._written(node)).replace("::", ".")
        return name.rpartition(".")[2] if name.startswith(_PREFIXES) else name

    def _in_any_case(self, name: str) -> str:
        """The key of that name, whatever its case; other words are as they are."""
        is_word = any(name in known for known in (self._components, NAMED_SETS, FUNCTIONS))
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
            raise self._mistake(f"{name} needs a key", f"write {name}(KEY)", self._at(node))
        self._unknown(name, node, (*self._layout.key_bits, *self._components, *NAMED_SETS))
        return DispatchKeySet(self._layout)

    def _raw(self, bits: int, node: ast.expr) -> DispatchKeySet:
        width = self._layout.functionality_mask.bit_length()
        if bits >> width:
            message = f"only the lowest {width} bits are keys of {self._universe.name}"
            self.problems.append(self._problem(message, None, self._at(node)))
            return DispatchKeySet(self._layout)
        return DispatchKeySet(self._layout, bits)

    def _unknown(self, name: str, node: ast.expr, known: Iterable[str]) -> None:
        message = f"{self._universe.name} has no dispatch key {_cut(name)!r}"
        hint = suggestion(name, known) or KEYS_LISTED
        self.problems.append(self._problem(message, hint, self._at(node), "unknown-dispatch-key"))

    def _note(self, kind: ExpressionNoteKind, keys: Iterable[str]) -> None:
        self._add((ExpressionNote(kind, tuple(keys)),))

    def _add(self, notes: Iterable[ExpressionNote]) -> None:
        """Notes of one kind become one, with all their keys."""
        for note in notes:
            for key in note.keys:
                self._noted.setdefault(note.kind, {})[key] = None

    # places

    def _at(self, node: ast.expr) -> int:
        return self._start + node.col_offset

    def _problem(self, message: str, hint: str | None, start: int, code: str = "key-expression") -> Problem:
        before = self._text[:start]
        line, column = before.count("\n") + 1, start - before.rfind("\n")
        shown = cut_line(self._text.split("\n")[line - 1], column)
        return Problem(code, message, Span(self._origin, line, column), shown, hint)

    def _mistake(self, message: str, hint: str | None, start: int) -> ExpressionMistake:
        return ExpressionMistake(self._problem(message, hint, start))


def _cut(name: str) -> str:
    """A name as a message shows it."""
    return name if len(name) <= MAX_SHOWN else f"{name[:MAX_SHOWN]}…"
