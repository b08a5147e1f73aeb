"""Signatures of C++ functions as PyTorch infers them: where a function is declared, and what its types are.

After aten/src/ATen/core/op_registration/infer_schema.h and aten/src/ATen/core/jit_type.h: parameters are named ``_0``,
``_1`` and so on, and results as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dispatch_cli.extract.cpp.preprocessor.sourcefile import SourceFile
from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, angle_end, lex, split
from dispatch_cli.extract.cpp.preprocessor.unit import TranslationUnit

MAX_ALIASES = 20
"""Maximum number of types that stand for one another, or are inside one another."""
MAX_PLACES = 200
"""Places of a name that are looked at."""
MAX_BEFORE = 4000
"""Characters before the name of a function that are looked at, with the comments between them."""
SEARCHED = 4096
"""So many characters that are searched for a word cost one unit."""
_SAME = ("Tensor", "SymInt", "bool", "Scalar", "Device", "ScalarType", "Layout", "MemoryFormat")
_PLAIN = {
    **{name: name for name in (*_SAME, "Generator", "Storage", "Stream")},
    "int64_t": "int",
    "double": "float",
    "string": "str",
    "string_view": "str",
    "TensorList": "Tensor[]",
    "ITensorListRef": "Tensor[]",
    "IntArrayRef": "int[]",
    "SymIntArrayRef": "SymInt[]",
    "IntList": "int[]",
    "OptionalIntArrayRef": "int[]?",
    "OptionalSymIntArrayRef": "SymInt[]?",
}
_LISTS = frozenset({"vector", "ArrayRef", "List", "HeaderOnlyArrayRef"})
_OPTIONAL = frozenset({"optional", "OptionalArrayRef"})
_IGNORED = frozenset({"const", "&", "&&", "static", "inline", "extern", "typename", "virtual", "constexpr"})
_NOT_TYPES = frozenset({"return", "else", "new", "throw", "case", "goto", "delete", "using", "typedef", "operator"})
_MAY_PRECEDE = re.compile(r"[\w\s:<>,&*\\]*\Z")
_PARENTHESIS = re.compile(r"[()]")


class Signatures:
    """The signatures of the functions of one translation unit."""

    def __init__(self, unit: TranslationUnit) -> None:
        self._unit = unit
        self._aliases: dict[str, Sequence[CppToken] | None] = {}
        self._signatures: dict[tuple[str, bool], str | None] = {}

    def infer(self, function: Sequence[CppToken], everywhere: bool) -> str | None:
        """The signature of a function, such as ``(Tensor _0, int _1) -> Tensor _0``; None where not known.

        everywhere: a function is looked for in the files that the unit includes, too.
        """
        if not function:
            return None
        asked = ("".join(token.text for token in function), everywhere)
        if asked not in self._signatures:
            self._signatures[asked] = self._of_function(function, everywhere)
        return self._signatures[asked]

    def _files(self) -> Iterator[SourceFile]:
        """The file and those that it includes, each of which is searched."""
        yield self._unit.file
        for name in sorted(self._unit.included):
            file = self._unit.project.header(name)
            self._unit.work.spend(1 + len(file.text) // SEARCHED)
            yield file

    # ---- functions

    def _of_function(self, function: Sequence[CppToken], everywhere: bool) -> str | None:
        is_member = len(function) > 2 and function[-3].text[:1].isupper()
        if is_member or any(token.kind != "name" and token.text != "::" for token in function):
            return None
        name = function[-1].text
        for file in self._files() if everywhere else (self._unit.file,):
            if name in file.text:
                declarations = {*self._declarations(name, file)} - {None}
                if declarations:
                    return declarations.pop() if len(declarations) == 1 else None
        return None

    def _declarations(self, name: str, file: SourceFile) -> Iterator[str | None]:
        """The signatures of the declarations of a function in a file."""
        text = file.blanked
        for place, behind_bracket in file.calls.get(name, ())[:MAX_PLACES]:
            begin = max(place - MAX_BEFORE, 0)
            start = max(begin - 1, *(text.rfind(mark, begin, place) for mark in ";{}()#="))
            before = text[start + 1 : place]
            if text[start : start + 1] == "#":
                before = before.partition("\n")[2]
            before = before.lstrip(" \t\n\\")  # blanked comments have splices
            if len(before) > 400 or not before.strip() or _MAY_PRECEDE.match(before) is None:
                continue
            result = list(lex(file, place - len(before), place))
            while result and result[-1].text == "::":
                result = result[:-2]  # the function is defined as a member of a namespace
            end = _closing(text, behind_bracket)
            if not result or result[0].text in _NOT_TYPES or result[-1].text == "," or end is None:
                continue
            yield self._joined(list(lex(file, behind_bracket, end - 1)), self._results(result))

    def _joined(self, parameters: Sequence[CppToken], results: str | None) -> str | None:
        types = [self._parameter(part) for part in split(parameters) if [token.text for token in part] != ["void"]]
        if results is None or None in types:
            return None
        return f"({', '.join(f'{kind} _{number}' for number, kind in enumerate(types))}) -> {results}"

    def _parameter(self, tokens: Sequence[CppToken]) -> str | None:
        """The type of a parameter, which may have a name and a default."""
        names = [token.text for token in tokens]
        tokens = tokens[: names.index("=")] if "=" in names else tokens
        return self._type(tokens) or (self._type(tokens[:-1]) if tokens and tokens[-1].kind == "name" else None)

    def _results(self, tokens: Sequence[CppToken]) -> str | None:
        """Results of a function, as in a schema, without macros before them, such as ``TORCH_API``."""
        macros = {token.text for token in tokens[:-1] if token.text.isupper() and "_" in token.text}
        kept = self._plain([token for token in tokens if token.text not in macros])
        if [token.text for token in kept] == ["void"]:
            return "()"
        if len(kept) > 1 and kept[0].text == "tuple":
            types = [self._type(part) for part in _template_arguments(kept)]
            if None in types or not types:
                return None
            return "(" + ", ".join(f"{kind} _{number}" for number, kind in enumerate(types)) + ")"
        kind = self._type(kept)
        if kind is None:
            return None
        return f"({kind} _0)" if kind.startswith("(") else f"{kind} _0"

    # ---- types

    def _type(self, tokens: Sequence[CppToken], depth: int = 0) -> str | None:
        """The type of schemas that a C++ type stands for; None where that is not known."""
        kept = self._plain(tokens)
        if not kept or kept[0].kind != "name" or depth > MAX_ALIASES:
            return None
        name = kept[0].text
        if len(kept) == 1:
            return _PLAIN.get(name)
        types = [self._type(argument, depth + 1) for argument in _template_arguments(kept)]
        inner = types[0] if types else None
        if inner is None:
            return None
        if name == "tuple":
            return None if None in types else f"({', '.join(filter(None, types))})"
        if name in _LISTS or (name == "array" and len(types) == 2):
            return f"{inner}[]"
        if name in _OPTIONAL:
            return f"{inner}[]?" if name == "OptionalArrayRef" else f"{inner}?"
        return f"Dict({inner}, {types[1]})" if name == "Dict" and len(types) == 2 and types[1] else None

    def _plain(self, tokens: Sequence[CppToken]) -> Sequence[CppToken]:
        """A type without qualifiers and namespaces, and without the names that stand for others."""
        for _ in range(MAX_ALIASES):
            tokens = [token for token in tokens if token.text not in _IGNORED]
            while len(tokens) > 2 and tokens[0].kind == "name" and tokens[1].text == "::":
                tokens = tokens[2:]
            other = self._alias(tokens[0].text) if len(tokens) == 1 and tokens[0].text not in _PLAIN else None
            if not other:
                return tokens
            tokens = other
        return []

    def _alias(self, name: str) -> Sequence[CppToken] | None:
        """The type that ``using NAME = TYPE;`` or ``typedef TYPE NAME;`` gives a name."""
        if name not in self._aliases:
            self._aliases[name] = None
            for file in self._files():
                if name in file.text and name in file.aliases:
                    self._aliases[name] = list(lex(file, *file.aliases[name]))
                    break
        return self._aliases[name]


def _template_arguments(tokens: Sequence[CppToken]) -> list[list[CppToken]]:
    """The template arguments of a type; empty for something else."""
    if tokens[1].text != "<" or angle_end(tokens, 1) != len(tokens):
        return []
    last = tokens[-1]  # may be half of a ``>>``
    return split([*tokens[2:-1], last._replace(text=">")] if last.text == ">>" else tokens[2:-1])


def _closing(text: str, start: int) -> int | None:
    """The place behind the ``)`` of parameters that begin at a place."""
    depth = 1
    for match in _PARENTHESIS.finditer(text, start, start + 5000):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return match.end()
    return None
