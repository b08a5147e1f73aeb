"""Reading the schemas of torchgen's YAML.

It is lenient: types are not looked at beyond what decides something here, for they are looked at where the definition
is loaded.
"""

from __future__ import annotations

import re

from dispatch_cli.extract.torchgen.native_name import parse_native_name
from dispatch_cli.extract.torchgen.schema import NativeArgument, NativeSchema

_DECLARATION = re.compile(r"([^(\s]+)\((.*)\) -> (.*)")
_PIECE = re.compile(
    r"(Tensor(?:\(([^()]*)\))?|(?:__torch__\.torch\.classes\.)?[A-Za-z_][\w.]*)((?:\?|\[[0-9]*\])*)"
    r"(?: ([A-Za-z_]\w*)(?:=(.+))?)?"
)
_ALIAS = re.compile(r"[a-z](?:\|[a-z])*!?(?: -> (?:\*|[a-z](?:\|[a-z])*))?")


class SchemaReader:
    """Reads schemas. The same arguments occur again and again, so that each is read once."""

    def __init__(self) -> None:
        self._known: dict[str, NativeArgument] = {}

    def read(self, text: str) -> NativeSchema:
        """Errors: ValueError, with what is wrong."""
        match = _DECLARATION.fullmatch(text)
        if match is None:
            raise ValueError("this is not of the form name(arguments) -> returns")
        name = parse_native_name(match[1])
        positional, keyword, out = self._arguments(match[2])
        returned = match[3]
        if returned[:1] == "(" and returned[-1:] == ")":
            returned = returned[1:-1]
        returns = [self._piece(piece, False) for piece in returned.split(", ")] if returned else []
        schema = NativeSchema(name, positional, keyword, out, returns, text)
        _check(schema)
        return schema

    def _arguments(self, text: str) -> tuple[list[NativeArgument], list[NativeArgument], list[NativeArgument]]:
        positional: list[NativeArgument] = []
        keyword: list[NativeArgument] = []
        out: list[NativeArgument] = []
        into = positional
        known = self._known
        for piece in text.split(", "):
            if not piece:
                continue
            if piece == "*":
                if into is not positional:
                    raise ValueError("there is more than one '*' among the arguments")
                into = keyword
                continue
            argument = known.get(piece) or self._piece(piece, True)
            if argument.alias is not None and "!" in argument.alias:
                if into is keyword:
                    into = out
            elif into is out:
                raise ValueError(f"the argument {argument.name}, which is not written, follows those that are")
            into.append(argument)
        return positional, keyword, out

    def _piece(self, piece: str, named: bool) -> NativeArgument:
        match = _PIECE.fullmatch(piece)
        if match is None or (named and match[4] is None) or (not named and match[5] is not None):
            raise ValueError(f"the {'argument' if named else 'return'} {piece!r} cannot be read")
        plain, alias, suffix, name, default = match.groups()
        if alias is not None and (_ALIAS.fullmatch(alias) is None or suffix not in ("", "?", "[]")):
            raise ValueError(f"the alias annotation of {piece!r} cannot be read")
        argument = NativeArgument(("Tensor" if alias is not None else plain) + suffix, name, default, alias)
        if named:
            self._known[piece] = argument
        return argument


def _check(schema: NativeSchema) -> None:
    """Errors: ValueError where torchgen refuses the schema (``FunctionSchema.__post_init__``)."""
    if schema.out and schema.name.inplace:
        raise ValueError("a function cannot both be in-place and have out arguments")
    if schema.name.inplace:
        index = schema.self_index
        if index < 0 or not schema.positional[index].is_write:
            raise ValueError("an in-place function needs an argument self that it writes, such as Tensor(a!) self")
