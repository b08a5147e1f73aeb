"""Default values in schemas: reading numbers, strings and devices, and printing them as PyTorch does.

Sources: ``parseSingleConstant`` in function_schema_parser.cpp, parse_string_literal.h, ``operator<<`` of IValue,
``printQuotedString`` in c10/util/StringUtil.h, c10/core/Device.cpp.
"""

from __future__ import annotations

import re

from dispatch_cli.model.schema_error import shortened

Constant = None | bool | int | float | complex | str
"""A single value. Strings hold UTF-8 bytes; bytes that are no UTF-8 are kept as surrogates."""

NAMED_CONSTANTS = {"Mean": 1, "complex": 9, "contiguous_format": 0, "float": 6, "long": 4, "strided": 0}
"""The words that a default can be, with the enum values PyTorch keeps for them."""

_DEVICES = frozenset(
    {
        "cpu", "cuda", "fpga", "hip", "hpu", "ideep", "ipu", "lazy", "maia", "meta", "mkldnn", "mps", "mtia", "opencl",
        "opengl", "privateuseone", "ve", "vulkan", "xla", "xpu",
    }
)  # fmt: skip
_DEVICE = re.compile(r"([a-zA-Z_]+)(?::(0|[1-9][0-9]*))?", re.ASCII)

_INTEGER = re.compile(r"-?[0-9]+")
_HEX_FLOAT = re.compile(r"-?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?")
_FLOAT = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SMALLEST_NORMAL = 2.2250738585072014e-308
_INT64 = range(-(2**63), 2**63)

_ESCAPES = {
    "\\": "\\", "'": "'", '"': '"', "\n": "\n", "a": "\a", "b": "\b", "f": "\f", "n": "\n", "v": "\v", "t": "\t",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(?:([0-7]{3})|(.))", re.DOTALL)
_PRINTED = {
    "\\": "\\\\", "'": "\\'", '"': '\\"', "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r",
    "\t": "\\t", "\v": "\\v",
}  # fmt: skip


def read_integer(text: str) -> int:
    """The whole number that *text* starts with, as C++'s ``stoll`` reads it; ValueError where that throws."""
    match = _INTEGER.match(text)
    # 20 digits are beyond 64 bits; do not let Python convert thousands of them.
    if match is None or len(match[0].lstrip("-").lstrip("0")) > 20 or int(match[0]) not in _INT64:
        raise ValueError(f"'{shortened(text)}' is not a whole number of 64 bits")
    return int(match[0])


def read_float(text: str) -> float:
    """The number that *text* starts with, as C++'s ``stod`` reads it; ValueError where that throws."""
    hexadecimal = _HEX_FLOAT.match(text)
    decimal = _FLOAT.match(text)
    try:
        value = float.fromhex(hexadecimal[0]) if hexadecimal else float(decimal[0] if decimal else "")
    except (ValueError, OverflowError):
        value = float("inf")
    # C++ refuses what is too small for a normal number, but zero may be written with any exponent.
    digits = re.split("[pP]" if hexadecimal else "[eE]", text.lower().removeprefix("-").removeprefix("0x"))[0]
    tiny = abs(value) < _SMALLEST_NORMAL and digits.strip("0.") != ""
    if tiny or abs(value) == float("inf"):
        raise ValueError(f"'{shortened(text)}' is not a floating-point number in range")
    return value


def read_number(text: str, *, as_float: bool, as_complex: bool) -> int | float | complex:
    """A number token (with its sign) as PyTorch reads it for an argument of that type; ValueError when it cannot."""
    if as_complex or "j" in text:
        # The last character goes, whether or not it is a j: PyTorch reads "complex x=12" as 1j.
        return complex(0, read_float(text[:-1]))
    if as_float or "." in text or "e" in text:
        return read_float(text)
    return read_integer(text)


def read_string(token: str) -> str:
    """The value of a string literal; ValueError for an escape that PyTorch does not know."""
    quotes = 3 if len(token) >= 6 and token[:3] in ('"""', "'''") else 1
    body = token[quotes:-quotes]
    if "\\" not in body:
        return body
    return _ESCAPE.sub(_unescaped, body).encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def _unescaped(match: re.Match[str]) -> str:
    if match[1] is not None:
        value = int(match[1], 8)
        if value < 256:
            return chr(value) if value < 128 else chr(0xDC00 + value)
    elif match[2] in _ESCAPES:
        return _ESCAPES[match[2]]
    raise ValueError(f"the escape '{match[0]}' is not supported in a string")


def read_device(text: str) -> str:
    """A device string such as ``cuda:1``, as PyTorch keeps it; ValueError when there is no such device."""
    match = _DEVICE.fullmatch(text)
    if match is None or match[1] not in _DEVICES:
        raise ValueError(f"'{shortened(text)}' is not a device")
    if match[2] is None:
        return match[1]
    if len(match[2]) > 10 or int(match[2]) >= 2**31:
        raise ValueError(f"the device index {shortened(match[2])} is too large")
    # PyTorch keeps the index in eight bits and does not mind when it does not fit.
    index = (int(match[2]) + 128) % 256 - 128
    return match[1] if index == -1 else f"{match[1]}:{index}"


def print_constant(value: Constant | tuple[Constant, ...]) -> str:
    """*value* as PyTorch prints an IValue; strings without quotes."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(print_constant, value))}]"
    if isinstance(value, complex):
        sign = "-" if value.imag < 0 else "+"
        return f"{_print_float(value.real)}{sign}{_print_float(abs(value.imag))}j"
    if isinstance(value, float):
        return _print_float(value)
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
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
