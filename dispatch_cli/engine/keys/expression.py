"""Key-set expressions: ``CPU | AutogradCPU - AutogradFunctionality`` and what PyTorch makes of it.

The operators and their precedence are those of ``c10::DispatchKeySet`` in C++ and in Python: ``-`` binds tighter than
``&``, and ``&`` tighter than ``|``. The named sets and functions have PyTorch's names where it has one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import NamedTuple, TypeVar

from dispatch_cli.engine.keys.keyset import (
    COMPONENT,
    FUNCTIONS,
    NAMED_SETS,
    DispatchKeySet,
    components_of,
    functionalities_of,
)
from dispatch_cli.engine.keys.tokens import (
    MAX_DEPTH,
    ExpressionMistake,
    Token,
    TokenKind,
    bare,
    cut,
    problem_at,
    tokens,
)
from dispatch_cli.engine.table.layout import layout_of
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.text.suggest import KEYS_LISTED, suggestion
from dispatch_cli.model.universe import Universe

UNION = "DispatchKeySet"
"""The printed form of a key set, with keys between its brackets, is an expression too."""
_Read = TypeVar("_Read")
_JOIN = "join keys by | (or), & (and) or - (without)"


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
    try:
        part = reader.whole()
    except ExpressionMistake as mistake:
        raise InputError((*reader.problems, mistake.problem)) from None
    if reader.problems:
        raise InputError(tuple(reader.problems))
    notes = [*reader.notes(), *notes_of_loose_bits(part.keys)]
    return KeyExpression(text, part.reading, part.keys, tuple(notes))


class _ExpressionReader:
    """Reads one expression by recursive descent; only brackets recurse, and they are counted."""

    def __init__(self, universe: Universe, text: str, origin: str) -> None:
        self.problems: list[Problem] = []
        self._universe = universe
        self._layout = layout_of(universe)
        self._text = text
        self._origin = origin
        self._components = {f"{backend}{COMPONENT}": 1 << i for i, backend in enumerate(universe.backends)}
        self._noted: dict[ExpressionNoteKind, dict[str, None]] = {}
        self._depth = 0

    def whole(self) -> _ExpressionPart:
        self._tokens = tokens(self._text, self._origin)
        self._next = next(self._tokens)
        part = self._union()
        if self._next.kind is not TokenKind.END:
            hint = _JOIN if self._next.kind is not TokenKind.SIGN else None
            raise self._mistake(f"expected |, & or -, found {self._shown()}", hint)
        return part

    def notes(self) -> Iterable[ExpressionNote]:
        return (ExpressionNote(kind, tuple(keys)) for kind, keys in self._noted.items())

    # the grammar

    def _union(self) -> _ExpressionPart:
        parts = self._joined("|", self._intersection)
        if len(parts) == 1:
            return parts[0]
        keys = DispatchKeySet(self._layout, _any_bits(part.keys.bits for part in parts))
        inside = {key for part in parts for key in part.keys}
        self._note(ExpressionNoteKind.CROSS_PRODUCT, (key for key in keys if key not in inside))
        return _ExpressionPart(keys, " | ".join(part.bracketed for part in parts), compound=True)

    def _intersection(self) -> _ExpressionPart:
        parts = self._joined("&", self._difference)
        if len(parts) == 1:
            return parts[0]
        keys = parts[0].keys
        for part in parts[1:]:
            keys &= part.keys
        return _ExpressionPart(keys, " & ".join(part.bracketed for part in parts), compound=True)

    def _difference(self) -> _ExpressionPart:
        parts = self._joined("-", self._atom)
        if len(parts) == 1:
            return parts[0]
        keys = parts[0].keys
        for part in parts[1:]:
            left, keys = keys, keys - part.keys
            self._add(notes_of_difference(left, part.keys, keys))
        return _ExpressionPart(keys, " - ".join(part.bracketed for part in parts), compound=True)

    def _joined(self, sign: str, read: Callable[[], _ExpressionPart]) -> list[_ExpressionPart]:
        parts = [read()]
        while self._takes(sign):
            parts.append(read())
        return parts

    def _atom(self) -> _ExpressionPart:
        token = self._next
        if self._takes("("):
            return self._within(token, self._union)
        if token.kind is TokenKind.NUMBER:
            self._advance()
            return _ExpressionPart(self._raw(token), token.text)
        if token.kind is not TokenKind.NAME:
            raise self._mistake(f"expected a key, found {self._shown()}")
        self._advance()
        name = self._in_any_case(bare(token.text))
        opening = self._next
        if not self._takes("("):
            return _ExpressionPart(self._named(name, token), name)
        if name == UNION:
            return self._within(opening, self._printed)
        function = FUNCTIONS.get(name)
        if function is None:
            known = ", ".join((*FUNCTIONS, UNION))
            hint = suggestion(name, FUNCTIONS) or f"there are {known}"
            raise self._mistake(f"there is no function {cut(name)!r}", hint, token)
        hint = f"{name} takes one key"
        key = self._within(opening, lambda: self._argument(hint), hint)
        keys = DispatchKeySet(self._layout) if key is None else function[1](self._universe, key)
        return _ExpressionPart(keys, f"{name}({key})")

    def _printed(self) -> _ExpressionPart:
        """``DispatchKeySet(CPU, AutogradCPU)``, as PyTorch prints it; it may be empty."""
        if self._next.text == ")":
            return _ExpressionPart(DispatchKeySet(self._layout), f"{UNION}()")
        parts = self._joined(",", self._intersection)
        keys = DispatchKeySet(self._layout, _any_bits(part.keys.bits for part in parts))
        return _ExpressionPart(keys, f"{UNION}({', '.join(part.reading for part in parts)})")

    def _argument(self, hint: str) -> str | None:
        """The one key of a function; None when it is unknown, which is noted."""
        token = self._next
        if token.kind is not TokenKind.NAME:
            raise self._mistake(f"expected a key, found {self._shown()}")
        self._advance()
        name = self._universe.key_named(bare(token.text))
        if self._next.text == "(":
            raise self._mistake("expected a key, found a function", hint, token)
        if name in self._layout.key_bits:
            return name
        self._unknown(name, token, self._layout.key_bits)
        return None

    def _within(self, opening: Token, read: Callable[[], _Read], hint: str = _JOIN) -> _Read:
        """The expression between brackets, after the opening one. hint: where more follows it."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._mistake(f"brackets nest deeper than {MAX_DEPTH}", None, opening)
        read_inside = read()
        if not self._takes(")"):
            message = f"expected ), found {self._shown()}"
            if self._next.kind is TokenKind.END:
                raise self._mistake(message, "this bracket is never closed", opening)
            raise self._mistake(message, hint)
        self._depth -= 1
        return read_inside

    # what names and numbers mean

    def _in_any_case(self, name: str) -> str:
        """The key of that name, whatever its case; other words are as they are."""
        is_word = any(name in known for known in (self._components, NAMED_SETS, FUNCTIONS))
        return name if is_word else self._universe.key_named(name)

    def _named(self, name: str, token: Token) -> DispatchKeySet:
        if (bits := self._layout.key_bits.get(name)) is not None:
            if not bits:
                self._note(ExpressionNoteKind.ADDS_NOTHING, (name,))
            return DispatchKeySet(self._layout, bits)
        if (bits := self._components.get(name)) is not None:
            return DispatchKeySet(self._layout, bits)
        if (named := NAMED_SETS.get(name)) is not None:
            return named[1](self._universe)
        if name in FUNCTIONS:
            raise self._mistake(f"{name} needs a key", f"write {name}(KEY)", token)
        self._unknown(name, token, (*self._layout.key_bits, *self._components, *NAMED_SETS))
        return DispatchKeySet(self._layout)

    def _raw(self, token: Token) -> DispatchKeySet:
        try:
            bits = int(token.text, 0)
        except ValueError:
            raise self._mistake(f"{cut(token.text)!r} is not a number", "write 0x… or decimal digits", token) from None
        width = self._layout.functionality_mask.bit_length()
        if bits >> width:
            message = f"only the lowest {width} bits are keys of {self._universe.name}"
            self.problems.append(problem_at(self._text, self._origin, token.start, message))
            return DispatchKeySet(self._layout)
        return DispatchKeySet(self._layout, bits)

    def _unknown(self, name: str, token: Token, known: Iterable[str]) -> None:
        message = f"{self._universe.name} has no dispatch key {cut(name)!r}"
        problem = problem_at(
            self._text,
            self._origin,
            token.start,
            message,
            suggestion(name, known) or KEYS_LISTED,
            "unknown-dispatch-key",
        )
        self.problems.append(problem)

    def _note(self, kind: ExpressionNoteKind, keys: Iterable[str]) -> None:
        self._add((ExpressionNote(kind, tuple(keys)),))

    def _add(self, notes: Iterable[ExpressionNote]) -> None:
        """Notes of one kind become one, with all their keys."""
        for note in notes:
            for key in note.keys:
                self._noted.setdefault(note.kind, {})[key] = None

    # tokens

    def _takes(self, sign: str) -> bool:
        if self._next.text != sign or self._next.kind is not TokenKind.SIGN:
            return False
        self._advance()
        return True

    def _advance(self) -> None:
        self._next = next(self._tokens)

    def _shown(self) -> str:
        return "the end" if self._next.kind is TokenKind.END else repr(cut(self._next.text))

    def _mistake(self, message: str, hint: str | None = None, token: Token | None = None) -> ExpressionMistake:
        start = (self._next if token is None else token).start
        return ExpressionMistake(problem_at(self._text, self._origin, start, message, hint))


def _any_bits(sets: Iterable[int]) -> int:
    bits = 0
    for keys in sets:
        bits |= keys
    return bits
