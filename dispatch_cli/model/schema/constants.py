"""Default values in schemas: reading numbers, strings and devices, and printing them as PyTorch does.

Sources: ``parseSingleConstant`` in function_schema_parser.cpp, parse_string_literal.h, ``operator<<`` of IValue,
``printQuotedString`` in c10/util/StringUtil.h, c10/core/Device.cpp.
"""

from __future__ import annotations

import re

from dispatch_cli.model.options import DTYPES, OTHER_NAMES
from dispatch_cli.model.schema.error import shortened
from dispatch_cli.model.schema.refusal import Theirs, plain, pointed

Constant = None | bool | int | float | complex | str
"""A single value. Strings hold UTF-8 bytes; bytes that are no UTF-8 are kept as surrogates."""

Value = Constant | tuple[Constant, ...]
"""Default of an argument."""

NAMED_CONSTANTS = {"Mean": 1, "complex": 9, "contiguous_format": 0, "float": 6, "long": 4, "strided": 0}
"""The words that a default of any type can be, with the enum values PyTorch keeps for them."""

_NUMBERS = {name: number for number, name in enumerate(DTYPES)}
SCALAR_TYPES = _NUMBERS | {other: _NUMBERS[name] for other, name in OTHER_NAMES.items()}
"""The further words that a default of type ScalarType can be (``getStringToDtypeMap`` in c10/core/ScalarType.cpp)."""

_DEVICES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip
_DEVICE = re.compile(r"([a-zA-Z_]+)(?::(0|[1-9][0-9]*))?", re.ASCII)

_INTEGER = re.compile(r"-?[0-9]+")
_HEX_FLOAT = re.compile(r"-?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?")
_FLOAT = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SMALLEST_NORMAL = 2.2250738585072014e-308
_LEAST_BIT = -1074
"""The exponent of the last bit of the numbers below that."""
_INT64 = range(-(2**63), 2**63)

_PRINTED_WORDS = {"None": None, "True": True, "False": False}
_PRINTED_FLOAT = r"-?(?:inf|nan|[0-9]+\.?[0-9]*(?:e[+-][0-9]+)?)"
_PRINTED_NUMBER = re.compile(rf"({_PRINTED_FLOAT})(?:([+-]{_PRINTED_FLOAT.removeprefix('-?')})j)?")

_ESCAPES = {
    "\\": "\\", "'": "'", '"': '"', "\n": "\n", "a": "\a", "b": "\b", "f": "\f", "n": "\n", "v": "\v", "t": "\t",
}  # fmt: skip
_UNSUPPORTED = {
    "x": "unsupported hex specifier", "u": "unsupported unicode specifier", "U": "unsupported unicode specifier",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(?:([0-7]{3})|(.))", re.DOTALL)
_PRINTED = {
    "\\": "\\\\", "'": "\\'", '"': '\\"', "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r",
    "\t": "\\t", "\v": "\\v",
}  # fmt: skip


class NotAConstant(ValueError):
    """A text that is no constant. message: one plain sentence. theirs: what PyTorch says."""

    def __init__(self, message: str, theirs: Theirs) -> None:
        super().__init__(message)
        self.message = message
        self.theirs = theirs


def read_integer(text: str) -> int:
    """The whole number that *text* starts with, as C++'s ``stoll`` reads it. Errors: NotAConstant."""
    match = _INTEGER.match(text)
    # 20 digits are beyond 64 bits; do not let Python convert thousands of them.
    if match is None or len(match[0].lstrip("-").lstrip("0")) > 20 or int(match[0]) not in _INT64:
        message = f"'{shortened(text)}' is not a 64-bit integer"
        raise NotAConstant(message, plain("stoll", ValueError if match is None else IndexError))
    return int(match[0])


def read_float(text: str) -> float:
    """The number that *text* starts with, as C++'s ``stod`` reads it. Errors: NotAConstant."""
    match = _HEX_FLOAT.match(text) or _FLOAT.match(text)
    if match is None:
        raise NotAConstant(f"'{shortened(text)}' is not a number", plain("stod", ValueError))
    is_hex = "x" in match[0].lower()
    try:
        value = float.fromhex(match[0]) if is_hex else float(match[0])
    except OverflowError:
        value = float("inf")
    if abs(value) == float("inf") or (abs(value) <= _SMALLEST_NORMAL and _is_inexact(match[0].lstrip("-"), abs(value))):
        message = f"'{shortened(text)}' is not a floating-point number in range"
        raise NotAConstant(message, plain("stod", IndexError))
    return value


def _is_inexact(text: str, value: float) -> bool:
    """True if C finds *text*, read as a *value* at or below the smallest normal number, out of range.

    It does where bits are lost, and counts the number as small where it was so before it was rounded.
    """
    digits, _, exponent = text.lower().removeprefix("0x").partition("p" if "x" in text.lower() else "e")
    if digits.strip("0.") == "":
        return False
    if value == 0:
        return True
    from decimal import Decimal
    from fractions import Fraction

    if "x" in text.lower():
        whole, _, part = digits.partition(".")
        exact = int(whole + part, 16) * Fraction(2) ** (int(exponent or "0") - 4 * len(part))
    else:
        exact = Fraction(*Decimal(text).as_integer_ratio())
    if value < _SMALLEST_NORMAL:
        return exact != Fraction(value)
    return exact < Fraction(_SMALLEST_NORMAL) - Fraction(2) ** (_LEAST_BIT - 2)


def read_number(text: str, *, as_float: bool, as_complex: bool) -> int | float | complex:
    """A number token (with its sign) as PyTorch reads it for an argument of that type. Errors: NotAConstant."""
    if as_complex or "j" in text:
        # The last character goes, whether or not it is a j: PyTorch reads "complex x=12" as 1j.
        return complex(0, read_float(text[:-1]))
    if as_float or "." in text or "e" in text:
        return read_float(text)
    return read_integer(text)


def read_string(token: str, number: int) -> str:
    """The value of a string literal, which is the token with that *number*. Errors: NotAConstant."""
    quotes = 3 if len(token) >= 6 and token[:3] in ('"""', "'''") else 1
    body = token[quotes:-quotes]
    if "\\" not in body:
        return body
    for escape in _ESCAPE.finditer(body):
        if (words := _unsupported(escape)) is not None:
            raise NotAConstant(f"the escape '{escape[0][:2]}' is not supported in a string", pointed(words, number))
    return _ESCAPE.sub(_unescaped, body).encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def _unsupported(escape: re.Match[str]) -> str | None:
    """PyTorch's words where it refuses an escape."""
    if escape[2] in _ESCAPES or (escape[1] is not None and int(escape[1], 8) < 256):
        return None
    return _UNSUPPORTED.get(escape[2], " ill formed octal specifier")


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return _ESCAPES[escape[2]]
    value = int(escape[1], 8)
    return chr(value) if value < 128 else chr(0xDC00 + value)


def read_device(text: str) -> str:
    """A device string such as ``cuda:1``, as PyTorch keeps it. Errors: NotAConstant."""
    match = _DEVICE.fullmatch(text)
    if match is None:
        words = f"Invalid device string: '{text}'" if text else "Device string must not be empty"
        raise NotAConstant(f"'{shortened(text)}' is not a device", plain(words))
    name, index = match.groups()
    if index is not None and (len(index) > 10 or int(index) >= 2**31):
        words = f"Could not parse device index '{index}' in device string '{text}'"
        raise NotAConstant(f"the device index {shortened(index)} is too large", plain(words))
    if name not in _DEVICES:
        words = f"Expected one of {', '.join(_DEVICES)} device type at start of device string: {name}"
        raise NotAConstant(f"'{shortened(text)}' is not a device", plain(words))
    # PyTorch keeps the index in eight bits and does not mind when it does not fit.
    place = (int(index or "-1") + 128) % 256 - 128
    return name if place == -1 else f"{name}:{place}"


def read_printed(text: str) -> Value:
    """A default as PyTorch has printed it; a text where it is nothing else. Strings keep the quotes of their print."""
    if text in _PRINTED_WORDS:
        return _PRINTED_WORDS[text]
    if text.startswith("[") and text.endswith("]"):
        values = [read_printed(part) for part in text[1:-1].split(", ")] if len(text) > 2 else []
        return tuple(str(value) if isinstance(value, tuple) else value for value in values)
    number = _PRINTED_NUMBER.fullmatch(text)
    if number is None:
        return text
    try:
        if number[2] is not None:
            return complex(float(number[1]), float(number[2]))
        return read_integer(text) if _INTEGER.fullmatch(text) else float(text)
    except NotAConstant:
        return text


def print_constant(value: Value) -> str:
    """*value* as PyTorch prints an IValue; strings without quotes. Bytes that are no UTF-8 remain surrogates."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(print_constant, value))}]"
    if isinstance(value, complex):
        sign = "-" if value.imag < 0 else "+"
        return f"{_print_float(value.real)}{sign}{_print_float(abs(value.imag))}j"
    if isinstance(value, float):
        return _print_float(value)
    if isinstance(value, str):
        return value
    return str(value)


def _print_float(value: float) -> str:
    if value.is_integer() and -(2.0**63) <= value < 2.0**63:
        return f"{int(value)}."
    return f"{value:.17g}"


def print_quoted(text: str) -> str:
    """*text* in double quotes with PyTorch's escapes."""
    if text.isascii() and text.isprintable() and not any(char in text for char in "\\'\""):
        return f'"{text}"'
    return '"' + "".join(map(_quoted_byte, text.encode("utf-8", "surrogateescape"))) + '"'


def _quoted_byte(byte: int) -> str:
    char = chr(byte)
    if char in _PRINTED:
        return _PRINTED[char]
    if 0x1F < byte < 0x7F:
        return char
    # PyTorch counts in signed characters here, so bytes above 127 come out as oddities below "0".
    value = byte if byte < 128 else byte - 256
    digits = [0, 0, 0]
    for place in (2, 1):
        quotient = int(value / 8)
        digits[place] = value - 8 * quotient
        value = quotient
    digits[0] = value
    return "\\" + "".join(chr(ord("0") + digit) for digit in digits)
