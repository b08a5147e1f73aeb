"""PyTorch's refusal of a schema: the exception that it raises, with its text.

Sources: ``Lexer::expected`` in lexer.h, error_report.cpp, and ``SourceRange::print_with_context`` in source_range.cpp,
all below ``torch/csrc/jit/frontend``. Places there are bytes, so the texts are made of bytes here as well.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from dispatch_cli.model.schema.lexer import Lexeme, indentation, kind_of

_CONTEXT = 3
"""Line breaks up to which the text around the place is shown."""


class ErrorForm(Enum):
    """Text that PyTorch puts around the words of an error."""

    EXPECTED = auto()
    """``expected WORDS but found 'KIND' here:``, and the place of the token that is there."""
    POINTED = auto()
    """The words between line breaks, and the place of a token."""
    PLAIN = auto()
    """The words alone."""


class Theirs(NamedTuple):
    """An error in PyTorch's words.

    token: the number of the token that it points at, where that is not the current one.
    """

    form: ErrorForm
    words: str
    exception: type[Exception] = RuntimeError
    token: int | None = None


class SchemaRefusal(NamedTuple):
    """The error that PyTorch raises; the text need not be valid UTF-8."""

    exception: type[Exception]
    text: bytes


def expected(kind: str) -> Theirs:
    """The error of a token of another kind."""
    return Theirs(ErrorForm.EXPECTED, kind)


def pointed(words: str, token: int | None = None) -> Theirs:
    """An error with a place."""
    return Theirs(ErrorForm.POINTED, words, token=token)


def plain(words: str, exception: type[Exception] = RuntimeError) -> Theirs:
    """An error without a place."""
    return Theirs(ErrorForm.PLAIN, words, exception)


def asserted(condition: str, source: str, words: str) -> Theirs:
    """The error of a failed ``TORCH_INTERNAL_ASSERT``."""
    return plain(internal_assert_text(condition, source, words))


def internal_assert_text(condition: str, source: str, words: str) -> str:
    """The text of a failed ``TORCH_INTERNAL_ASSERT``.

    PyTorch also names the machine's build path and the line, which say nothing here: *source* is the path in its
    repository.
    """
    return f'{condition} INTERNAL ASSERT FAILED at "{source}", please report a bug to PyTorch. {words}'


def refusal(text: str, lexemes: list[Lexeme], current: int, theirs: Theirs) -> SchemaRefusal:
    """The error that PyTorch raises when it refuses *text* at the token with the number *current*."""
    words = _bytes(theirs.words)
    if theirs.form is ErrorForm.PLAIN:
        return _refusal(words, theirs.exception)
    place = min(current if theirs.token is None else theirs.token, len(lexemes) - 1)
    lexeme = lexemes[place]
    start, end = (len(_bytes(text[:offset])) for offset in (lexeme.start, lexeme.end))
    shown = _highlighted(_bytes(text), start, end)
    if theirs.form is ErrorForm.POINTED:
        return _refusal(b"\n" + words + b":\n" + shown, theirs.exception)
    kind = _bytes(kind_of(lexeme.token))
    return _refusal(b"expected " + words + b" but found '" + kind + b"' here:\n" + shown, theirs.exception)


def lexer_refusal(text: str, lexemes: list[Lexeme], bad: int) -> SchemaRefusal:
    """The error that PyTorch raises for the token with the number *bad*, which is no valid one."""
    lexeme = lexemes[bad]
    data = _bytes(text)
    start = len(_bytes(text[: lexeme.start]))
    if lexeme.token.startswith("\n"):
        end = start + lexeme.end - lexeme.start
        words = b"invalid indent level %d" % (end - start)
        return _refusal(words + b":\n" + _highlighted(data, start, end))
    # It names the character at which it began to look, which may be a blank before the one that it cannot read.
    looked_from = len(_bytes(text[: lexemes[bad - 1].end if bad else indentation(text, 0)[1]]))
    words = b"expected a valid token but found '" + data[looked_from : looked_from + 1] + b"' here:\n"
    return _refusal(words + _highlighted(data, start, start + 1))


def _refusal(text: bytes, exception: type[Exception] = RuntimeError) -> SchemaRefusal:
    """PyTorch passes the text on as C does, up to a zero byte."""
    return SchemaRefusal(exception, text.partition(b"\0")[0])


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _highlighted(data: bytes, start: int, end: int) -> bytes:
    """The lines around a range of bytes, with marks below it."""
    if end - start == len(data):
        return data
    stop = min(len(data), end)
    line = data.rfind(b"\n", 0, start) + 1
    before = line
    for _ in range(_CONTEXT - 1):
        before = data.rfind(b"\n", 0, max(before - 1, 0)) + 1
    out = bytearray(data[before:start])
    position = start
    shown_to = start
    while position < stop:
        shown_to = _line_end(data, position)
        out += data[position:shown_to] + b"\n"
        out += _marks(data, start, position, stop, shown_to)
        shown_to += 1
        position = shown_to
    if shown_to <= len(data):
        rest = data[shown_to : _context_end(data, stop)]
        out += rest if not rest or rest.endswith(b"\n") else rest + b"\n"
    return bytes(out)


def _marks(data: bytes, start: int, position: int, stop: int, line_end: int) -> bytes:
    """The line of marks below the line that *position* is in."""
    line = data.rfind(b"\n", 0, position) + 1
    marked_to = min(stop, _line_end(data, position))
    first = line
    while first < marked_to and (first < start or data[first : first + 1] == b" "):
        first += 1
    if first == marked_to:
        return b""
    # The text has a zero byte behind it, which counts as something to show.
    goes_on = line_end < stop and (stop == len(data) or data[line_end : stop + 1].strip(b"\n ") != b"")
    return b" " * (first - line) + b"~" * (marked_to - first) + (b"\n" if goes_on else b" <--- HERE\n")


def _line_end(data: bytes, position: int) -> int:
    start = data.find(b"\n", position)
    return len(data) if start < 0 else start


def _context_end(data: bytes, stop: int) -> int:
    """End of the last line that is shown."""
    end = _line_end(data, stop)
    for _ in range(_CONTEXT - 1):
        end = _line_end(data, end + 1) if end < len(data) else end
    return end
