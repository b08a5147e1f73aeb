"""Signatures of C++ functions as PyTorch infers them: where a function is declared, and what its types are.

After aten/src/ATen/core/op_registration/infer_schema.h and aten/src/ATen/core/jit_type.h: parameters are named ``_0``,
``_1`` and so on, and results as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.extract.cpp.preprocessor.sourcefile import SourceFile
from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, Lookup, angle_end, inside, lex, split
from dispatch_cli.extract.cpp.preprocessor.unit import TranslationUnit

MAX_ALIASES = 20
"""Maximum number of types that stand for one another, or are inside one another."""
MAX_PLACES = 200
"""Places of a name that are looked at."""
MAX_BEFORE = 4000
"""Characters before the name of a function that are looked at, with the comments between them."""
SEARCHED = 4096
"""So many characters that are searched for a word cost one unit."""
_PLAIN = {
    "Tensor": "Tensor",
    "int64_t": "int",
    "SymInt": "SymInt",
    "double": "float",
    "bool": "bool",
    "string": "str",
    "string_view": "str",
    "Scalar": "Scalar",
    "Device": "Device",
    "TensorList": "Tensor[]",
    "ITensorListRef": "Tensor[]",
    "IntArrayRef": "int[]",
    "SymIntArrayRef": "SymInt[]",
    "IntList": "int[]",
    "OptionalIntArrayRef": "int[]?",
    "OptionalSymIntArrayRef": "SymInt[]?",
    "ScalarType": "ScalarType",
    "Layout": "Layout",
    "MemoryFormat": "MemoryFormat",
    "Generator": "Generator",
    "Storage": "Storage",
    "Stream": "Stream",
}
_LISTS = frozenset({"vector", "ArrayRef", "List", "HeaderOnlyArrayRef"})
_OPTIONAL = frozenset({"optional", "OptionalArrayRef"})
_IGNORED = frozenset({"const", "&", "&&", "static", "inline", "extern", "typename", "virtual", "constexpr"})
_NOT_TYPES = frozenset({"return", "else", "new", "throw", "case", "goto", "delete", "using", "typedef", "operator"})
_MAY_PRECEDE = re.compile(r"[\w\s:<>,&*\\]*\Z")


def _plain(tokens: Sequence[CppToken], alias: Lookup) -> Sequence[CppToken]:
    """A type without qualifiers and namespaces, and without the names that stand for others."""
    for _ in range(MAX_ALIASES):
        tokens = [token for token in tokens if token.text not in _IGNORED]
        while len(tokens) > 2 and tokens[0].kind == "name" and tokens[1].text == "::":
            tokens = tokens[2:]
        other = alias(tokens[0].text) if len(tokens) == 1 and tokens[0].text not in _PLAIN else None
        if not other:
            return tokens
        tokens = other
    return []


def type_of(tokens: Sequence[CppToken], alias: Lookup, depth: int = 0) -> str | None:
    """The type of schemas that a C++ type stands for; None where that is not known."""
    kept = _plain(tokens, alias)
    if not kept or kept[0].kind != "name" or depth > MAX_ALIASES:
        return None
    name = kept[0].text
    if len(kept) == 1:
        return _PLAIN.get(name)
    arguments = _arguments_of(kept)
    types = [type_of(argument, alias, depth + 1) for argument in arguments]
    inner = types[0] if types else None
    if inner is None:
        return None
    if name == "tuple":
        return None if None in types else f"({', '.join(filter(None, types))})"
    if name in _LISTS or (name == "array" and len(arguments) == 2):
        return f"{inner}[]"
    if name in _OPTIONAL:
        return f"{inner}[]?" if name == "OptionalArrayRef" else f"{inner}?"
    if name == "Dict" and len(arguments) == 2 and types[1]:
        return f"Dict({inner}, {types[1]})"
    return None


def _arguments_of(tokens: Sequence[CppToken]) -> list[list[CppToken]]:
    """The template arguments of a type; empty for something else."""
    if tokens[1].text != "<" or angle_end(tokens, 1) != len(tokens):
        return []
    last = tokens[-1]  # may be half of a ``>>``
    return split([*tokens[2:-1], last._replace(text=">")] if last.text == ">>" else tokens[2:-1])


def results_of(tokens: Sequence[CppToken], alias: Lookup) -> str | None:
    """Results of a function, as in a schema."""
    kept = _plain(tokens, alias)
    if [token.text for token in kept] == ["void"]:
        return "()"
    if len(kept) > 1 and kept[0].text == "tuple":
        types = [type_of(part, alias) for part in _arguments_of(kept)]
        if None in types or not types:
            return None
        return "(" + ", ".join(f"{kind} _{number}" for number, kind in enumerate(types)) + ")"
    kind = type_of(kept, alias)
    return kind and (f"({kind} _0)" if kind.startswith("(") else f"{kind} _0")


def parameters_of(tokens: Sequence[CppToken], alias: Lookup) -> str | None:
    """The parameters of a function, as in a schema."""
    parts = [part for part in split(tokens) if part]
    types: list[str] = []
    for part in parts:
        texts = [token.text for token in part]
        if texts == ["void"]:
            continue
        if "=" in texts:
            part = part[: texts.index("=")]
        if not part:
            return None
        kind = type_of(part, alias) or (type_of(part[:-1], alias) if part[-1].kind == "name" else None)
        if kind is None:
            return None
        types.append(kind)
    return ", ".join(f"{kind} _{number}" for number, kind in enumerate(types))


def signature_of(function: Sequence[CppToken], texts: Iterable[SourceFile], alias: Lookup) -> str | None:
    """The signature of a function or lambda, such as ``(Tensor _0, int _1) -> Tensor _0``; None where not known."""
    if not function:
        return None
    if function[0].text == "[":
        return _of_lambda(function, texts, alias)
    if any(token.kind != "name" and token.text != "::" for token in function):
        return None
    name = function[-1].text
    owner = function[-3].text if len(function) > 2 else ""
    if owner[:1].isupper():
        return None  # a member of a class
    for text in texts:
        if name not in text.text:
            continue
        declarations = {declaration for declaration in _declarations(name, text, alias) if declaration is not None}
        if declarations:
            return declarations.pop() if len(declarations) == 1 else None
    return None


def _of_lambda(tokens: Sequence[CppToken], texts: Iterable[SourceFile], alias: Lookup) -> str | None:
    _, index = inside(tokens)
    if index >= len(tokens) or tokens[index].text not in ("(", "{"):
        return None
    parameters, index = inside(tokens, index) if tokens[index].text == "(" else ([], index)
    body = next((place for place in range(index, len(tokens)) if tokens[place].text == "{"), len(tokens))
    names = [token.text for token in tokens[index:body]]
    if "->" in names:
        results = results_of(tokens[index + names.index("->") + 1 : body], alias)
    else:
        results = _of_body(inside(tokens, body)[0], texts, alias) if body < len(tokens) else None
    return _joined(parameters_of(parameters, alias), results)


def _of_body(tokens: Sequence[CppToken], texts: Iterable[SourceFile], alias: Lookup) -> str | None:
    """Results of a lambda whose body is one ``return function(...);``, or has no ``return``."""
    names = [token.text for token in tokens]
    if "return" not in names:
        return "()"
    opening = names.index("(") if "(" in names else 0
    if names[0] != "return" or opening < 2 or inside(tokens, opening)[1] != len(tokens) - 1 or names[-1] != ";":
        return None
    signature = signature_of(tokens[1:opening], texts, alias)
    return signature and signature.partition(") -> ")[2]


def _joined(parameters: str | None, results: str | None) -> str | None:
    return None if parameters is None or results is None else f"({parameters}) -> {results}"


def _declarations(name: str, text: SourceFile, alias: Lookup) -> Iterable[str | None]:
    """The signatures of the declarations of *name* in a file."""
    blanked = text.blanked
    for place, behind_bracket in text.calls.get(name, ())[:MAX_PLACES]:
        begin = max(place - MAX_BEFORE, 0)
        start = max(begin - 1, *(blanked.rfind(mark, begin, place) for mark in ";{}()#="))
        before = blanked[start + 1 : place]
        if blanked[start : start + 1] == "#":
            before = before.partition("\n")[2]
        before = before.lstrip(" \t\n\\")  # blanked comments have splices
        if len(before) > 400 or not before.strip() or _MAY_PRECEDE.match(before) is None:
            continue
        result = list(lex(text, place - len(before), place))
        while result and result[-1].text == "::":
            result = result[:-2]  # the function is defined as a member of a namespace
        if not result or result[0].text in _NOT_TYPES or result[-1].text == ",":
            continue
        opening = behind_bracket - 1
        end = _closing(blanked, opening)
        if end is None:
            continue
        results = results_of([token for token in result if token.text not in _attributes(result)], alias)
        behind = re.compile(r"\s*(?:noexcept\b\s*)?(?:->([^{;]{1,200}))?").match(blanked, end)
        if behind is not None and behind[1]:
            results = results_of(list(lex(text, behind.start(1), behind.end(1))), alias)
        yield _joined(parameters_of(list(lex(text, opening + 1, end - 1)), alias), results)


def _attributes(tokens: Sequence[CppToken]) -> set[str]:
    """Macros before a type, such as ``TORCH_API``."""
    return {token.text for token in tokens[:-1] if token.text.isupper() and "_" in token.text}


def _closing(text: str, opening: int) -> int | None:
    depth = 0
    for match in re.compile(r"[()]").finditer(text, opening, opening + 5000):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return match.end()
    return None


class Signatures:
    """The signatures of the functions of one translation unit."""

    def __init__(self, unit: TranslationUnit) -> None:
        self._unit = unit
        self._aliases: dict[str, Sequence[CppToken] | None] = {}
        self._signatures: dict[tuple[str, bool], str | None] = {}

    def infer(self, function: Sequence[CppToken], everywhere: bool) -> str | None:
        """The signature of a function."""
        if not function or function[0].text == "[":
            return signature_of(function, self._texts(), self._alias)
        asked = ("".join(token.text for token in function), everywhere)
        if asked not in self._signatures:
            texts = self._texts() if everywhere else iter((self._unit.file,))
            self._signatures[asked] = signature_of(function, texts, self._alias)
        return self._signatures[asked]

    def _alias(self, name: str) -> Sequence[CppToken] | None:
        """The type that ``using NAME = TYPE;`` or ``typedef TYPE NAME;`` gives a name."""
        if name not in self._aliases:
            self._aliases[name] = None
            for text in self._texts():
                if name in text.text and name in text.aliases:
                    self._aliases[name] = list(lex(text, *text.aliases[name]))
                    break
        return self._aliases[name]

    def _texts(self) -> Iterator[SourceFile]:
        """The texts of the file and of what it includes, each of which is searched."""
        yield self._unit.file
        for name in sorted(self._unit.included):
            file = self._unit.project.header(name)
            self._unit.work.spend(1 + len(file.text) // SEARCHED)
            yield file
