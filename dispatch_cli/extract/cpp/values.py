"""Values of expressions in registrations: texts, schemas, tags, and names that stand for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dispatch_cli.extract.cpp.brackets import inside, split, unwrapped
from dispatch_cli.extract.cpp.tokens import CppToken, string_value

MAX_STEPS = 20
"""Maximum number of names that stand for one another."""
Lookup = Callable[[str], "Sequence[CppToken] | None"]
_TRANSPARENT = frozenset(
    {"TORCH_SELECTIVE_NAME", "TORCH_SELECTIVE_SCHEMA", "string", "string_view", "str", "parseSchema", "parseName"}
    | {"selective_name", "move", "c_str"}
)
_KINDS = {"FROM_SCHEMA": None, "CONSERVATIVE": "CONSERVATIVE", "PURE_FUNCTION": "PURE_FUNCTION"}


class SchemaArgument(NamedTuple):
    """The first argument of ``m.def``. alias_analysis: as in `ExtractedDefinition`."""

    text: str | None
    alias_analysis: str | None = None


def called(tokens: Sequence[CppToken]) -> tuple[str, list[CppToken]] | None:
    """The name and the arguments of an expression that is one call ``a::b<c>(...)``."""
    if not tokens or tokens[-1].text not in (")", "}"):
        return None
    name = ""
    index = 0
    while index < len(tokens) and (tokens[index].kind == "name" or tokens[index].text == "::"):
        if tokens[index].kind == "name":
            name = tokens[index].text
        index += 1
    if not name or index == len(tokens) or tokens[index].text not in ("(", "{"):
        return None
    body, end = inside(tokens, index)
    return (name, body) if end == len(tokens) else None


def text_of(tokens: Sequence[CppToken], lookup: Lookup, steps: int = 0) -> str | None:
    """The value of an expression that is a text; None where it is not known."""
    tokens = unwrapped(tokens)
    if not tokens or steps > MAX_STEPS:
        return None
    if all(token.kind in ("string", "raw") for token in tokens):
        return "".join(map(string_value, tokens))
    parts = split(tokens, "+")
    if len(parts) > 1:
        values = [text_of(part, lookup, steps + 1) for part in parts]
        return None if None in values else "".join(value for value in values if value is not None)
    call = called(tokens)
    if call is not None and call[0] in _TRANSPARENT:
        values = [text_of(part, lookup, steps + 1) for part in split(call[1])]
        return None if None in values or not values else "".join(value for value in values if value is not None)
    if tokens[-3:] and [token.text for token in tokens[-3:-1]] == ["c_str", "("] and tokens[-4].text == ".":
        return text_of(tokens[:-4], lookup, steps + 1)
    if tokens[-1].kind == "name" and all(token.kind == "name" or token.text == "::" for token in tokens):
        value = lookup(tokens[-1].text)
        return None if value is None else text_of(value, lookup, steps + 1)
    return None


def schema_of(tokens: Sequence[CppToken], lookup: Lookup) -> SchemaArgument:
    """Read the schema in the first argument of ``m.def``."""
    call = called(unwrapped(tokens))
    if call is not None and call[0] == "schema":
        parts = split(call[1])
        if parts:
            kind = None
            if len(parts) > 1:
                name = next((token.text for token in parts[1] if token.text in _KINDS), "")
                kind = _KINDS.get(name)
            return SchemaArgument(text_of(parts[0], lookup), kind)
    return SchemaArgument(text_of(tokens, lookup))


def tags_of(tokens: Sequence[CppToken], lookup: Lookup, steps: int = 0) -> tuple[str, ...] | None:
    """The tags of a list such as ``{at::Tag::core}``, empty for one that is not known; None for something else."""
    tokens = list(tokens)
    if len(tokens) == 1 and tokens[0].kind == "name" and steps < MAX_STEPS:
        value = lookup(tokens[0].text)
        return None if value is None else tags_of(value, lookup, steps + 1)
    while tokens and tokens[0].text != "{":
        if tokens[0].kind != "name" and tokens[0].text not in ("::", "<", ">"):
            return None
        tokens = tokens[1:]
    if not tokens:
        return None
    body, end = inside(tokens)
    if end != len(tokens):
        return None
    return tuple(_tag(part, lookup) for part in split(body) if part)


def _tag(tokens: Sequence[CppToken], lookup: Lookup, steps: int = 0) -> str:
    if "Tag" in [token.text for token in tokens] and tokens[-1].kind == "name":
        return tokens[-1].text
    value = lookup(tokens[-1].text) if tokens[-1].kind == "name" and steps < MAX_STEPS else None
    return _tag(unwrapped(value), lookup, steps + 1) if value else ""
