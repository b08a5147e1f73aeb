"""Reads one translation unit: finds its registration blocks and hands their statements on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dispatch_cli.extract.cpp.body import BodyReader, LibraryFunction, LibraryVariable
from dispatch_cli.extract.cpp.brackets import split
from dispatch_cli.extract.cpp.context import When, joined
from dispatch_cli.extract.cpp.findings import Findings
from dispatch_cli.extract.cpp.keys import block_key, is_macro_like
from dispatch_cli.extract.cpp.tokens import CppToken, SourceText, lex, spelled
from dispatch_cli.extract.cpp.unit import TranslationUnit
from dispatch_cli.model.condition import Atom, Condition, Not
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import ExtractedBlock, Unknown

MAX_BODY = 1_000_000
"""Tokens of one block."""
_KINDS = {
    "TORCH_LIBRARY": LibraryKind.DEF,
    "TORCH_LIBRARY_FRAGMENT": LibraryKind.FRAGMENT,
    "TORCH_LIBRARY_IMPL": LibraryKind.IMPL,
}
_CONSTANT = r"\b(?:const|constexpr|static|inline)\b[^;{{}}()=]{{0,200}}?\b{name}\s*(?:\[[^\]\n]*\]\s*)?(=|\{{)"


class UnitReader:
    """Reads the registrations of one translation unit."""

    def __init__(self, unit: TranslationUnit, shared: dict[str, LibraryFunction]) -> None:
        self._unit, self._shared = unit, shared
        self.findings = Findings()
        assumed: list[Condition] = []
        for atom, true in unit.assumed.items():
            assumed.append(Atom(atom) if true else Not(Atom(atom)))
        self._build: When = joined(unit.project.settings(unit.main).when, assumed)
        self._values: dict[str, Sequence[CppToken] | None] = {}

    def read(self) -> Findings:
        """Read it. Errors: TooMuch."""
        while True:
            self._unit.skip()
            token = self._unit.next()
            if token is None:
                break
            self._construct(token)
        self.findings.forks |= self._unit.all_forks()
        return self.findings

    def function(self, name: str) -> LibraryFunction | None:
        """The function of that name that takes a library."""
        return self._shared.get(name)

    def value(self, name: str) -> Sequence[CppToken] | None:
        """The value of a constant of the file."""
        if name not in self._values:
            self._values[name] = self._constant(name)
        return self._values[name]

    def _construct(self, token: CppToken) -> None:
        text = token.text
        if not text.startswith("@") or "LIBRARY" not in text:
            return None
        taken = self._bracketed([token])
        if taken is None:
            return self.findings.refuse([token], "the brackets of this block do not match", self._build)
        arguments = split(taken[2:-1])
        self.findings.account([token])
        kind = text[1:].removeprefix("STABLE_")
        if kind.startswith("MAKE_"):
            return None
        if len(arguments) != 3:
            return self.findings.refuse(taken, "this block has no namespace, key and name", self._build)
        block = self._block(_KINDS[kind], token, arguments)
        opening = self._unit.next()
        if opening is None or opening.text != "{":
            return self.findings.refuse(
                [*taken, *([opening] if opening else [])], "this block has no body", self._build
            )
        body = self._bracketed([], opening)
        if body is None:
            return self.findings.refuse(taken, "the brackets of this block do not match", self._build)
        self.findings.add(block)
        name = arguments[2][-1].text if arguments[2] else ""
        BodyReader(LibraryVariable(name, block), self.findings, self, self._build).read(body[1:-1])
        return None

    def _block(self, kind: LibraryKind, token: CppToken, arguments: list[list[CppToken]]) -> ExtractedBlock:
        at = token.at
        written = "".join(part.text for part in arguments[0])
        namespace: str | Unknown = written
        if not written.isidentifier() or is_macro_like(written):
            namespace = Unknown(spelled(tuple(arguments[0])))
            self.findings.missing[written] += 1
        key = block_key(arguments[1]) if arguments[1] else None
        if isinstance(key, Unknown):
            self.findings.missing[key.expression] += 1
        return ExtractedBlock(kind, namespace, key, at, joined(token.when, self._build))

    def _bracketed(self, start: list[CppToken], opening: CppToken | None = None) -> list[CppToken] | None:
        """The tokens up to the end of the bracket that begins now; None where it does not end."""
        token = opening or self._unit.next()
        if token is None or token.text not in ("(", "{"):
            return None
        result = [*start, token]
        depth = 1
        while depth:
            token = self._unit.next()
            if token is None or len(result) > MAX_BODY:
                return None
            if token.kind == "mark":
                depth += (token.text in ("(", "{", "[")) - (token.text in (")", "}", "]"))
            result.append(token)
        return result

    def _constant(self, name: str) -> Sequence[CppToken] | None:
        text: SourceText = self._unit.project.file(self._unit.main).text
        found = re.search(_CONSTANT.format(name=re.escape(name)), text.blanked)
        if found is None:
            return None
        start = found.start(1)
        end = text.blanked.find(";", start)
        tokens = list(lex(text, start, end if end >= 0 else len(text.text)))
        return tokens[1:] if tokens and tokens[0].text == "=" else tokens
