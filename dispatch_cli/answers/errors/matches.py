"""Places where PyTorch's messages stand in a text: every template of `messages` that fits.

A text is searched only for the templates of which it has every word. Names of C++ in symbols follow the Itanium C++
ABI, as GCC and Clang do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from dispatch_cli.answers.errors.messages import MESSAGES, NO_KERNEL, NO_META, patterns
from dispatch_cli.answers.errors.template import expression
from dispatch_cli.model.names import OperatorName

_OWN_PLACE = re.compile(r"\s*(?: \((?:Triggered internally at|function) .*)?$", re.DOTALL)
"""PyTorch's own place, which it adds to a warning."""
_WRAPPED = re.compile(r"\n[\s>|]*")
_QUOTES = " \t\r\"'`"
_HEAD = re.compile(r"_?_Z(?:T[VTISCh])?(?P<nested>N[rVK]{0,3}[RO]?)?")
_PART = re.compile(r"(?P<length>[1-9]\d{0,2})|(?P<std>St)|(?P<same>[CD]\d)")


class Match(NamedTuple):
    """A text of a kind.

    begin: of the text. start: of the operator's name, or of the text.
    """

    kind: str
    begin: int
    start: int
    end: int
    operator: str | None
    key: str | None
    details: tuple[tuple[str, str], ...]


def matches(text: str) -> Iterator[Match]:
    """Every place where a template fits, in any order; what has no kernel is an operator, which has a namespace."""
    for kind, template, words in patterns():
        if all(word in text for word in words):
            fitting = (_match(kind, match) for match in _compiled(template).finditer(text))
            of_operator = kind in (NO_KERNEL, NO_META)
            yield from (match for match in fitting if not of_operator or "::" in (match.operator or "::"))


@cache
def _compiled(template: str) -> re.Pattern[str]:
    return re.compile(expression(template))


def _match(kind: str, match: re.Match[str]) -> Match:
    groups = {name: value for name, value in match.groupdict().items() if value is not None and name[0] != "_"}
    return Match(
        kind=kind,
        begin=match.start(),
        start=match.start("op") if "op" in groups else match.start(),
        end=match.end(),
        operator=_operator(groups),
        key=groups.get("key") or MESSAGES[kind].key,
        details=tuple((name, _detail(name, value)) for name, value in groups.items() if name not in ("op", "key")),
    )


def _detail(name: str, text: str) -> str:
    """The value of a hole, without what wrapped it or was added after it; names of C++ as they are in sources."""
    if name == "symbol":
        return demangled(text)
    value = _WRAPPED.sub(" ", _OWN_PLACE.sub("", text)).rstrip(_QUOTES)
    return value if "(" in value else value.rstrip(f"){_QUOTES}")


def _operator(groups: dict[str, str]) -> str | None:
    """The operator of a text; its namespace may be named apart from it."""
    named = groups.get("op") or (groups.get("name") if "namespace" in groups else None)
    if named is None:
        return None
    if "namespace" in groups and "::" not in named:
        named = ".".join([f"{groups['namespace']}::{named}", *([groups["overload"]] if "overload" in groups else [])])
    return str(OperatorName.parse_printed(named)) or None


def demangled(symbol: str) -> str:
    """The qualified name in a symbol, without arguments; *symbol* itself where it has none that can be read.

    ``_ZN3c104cuda9SetDeviceEi`` is ``c10::cuda::SetDevice``. A name ends where template arguments begin. On macOS all
    symbols begin with one more underscore.
    """
    head = _HEAD.match(symbol)
    at = 0 if head is None else head.end()
    names: list[str] = []
    while at and (part := _PART.match(symbol, at)) is not None:
        at = part.end()
        if part["same"] is not None:  # a constructor has the name of its class
            names.append(f"{'~' if part['same'][0] == 'D' else ''}{names[-1]}" if names else "")
        elif part["std"] is not None:
            names.append("std")
        else:
            end = at + int(part["length"])
            names.append(symbol[at:end] if end <= len(symbol) else "")
            at = end
        if head is None or head["nested"] is None:
            break
    ends_right = head is None or head["nested"] is None or symbol[at : at + 1] in "EIBCDS"  # else letters were lost
    if not names or not ends_right or not all(name.lstrip("~").isidentifier() for name in names):
        return symbol
    return f"{'::'.join(names)}{'[abi:cxx11]' if symbol.startswith('B5cxx11', at) else ''}"
