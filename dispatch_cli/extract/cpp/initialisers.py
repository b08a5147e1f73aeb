"""``torch::detail::TorchLibraryInit``: what ``TORCH_LIBRARY`` makes, written by hand or by a macro of the project.

Its constructor, in torch/library.h, takes the kind, the function, the namespace, the key, the file and the line.
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.extract.cpp.blocks import in_test, made_block, when_called
from dispatch_cli.extract.cpp.body import BodyReader
from dispatch_cli.extract.cpp.brackets import inside, split
from dispatch_cli.extract.cpp.context import When, joined
from dispatch_cli.extract.cpp.findings import Findings
from dispatch_cli.extract.cpp.scope import UnitScope
from dispatch_cli.extract.cpp.simple import LibraryFunction, LibraryVariable
from dispatch_cli.extract.cpp.tokens import CppToken
from dispatch_cli.extract.cpp.values import text_of
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import ExtractedBlock

_KINDS = {kind.name: kind for kind in (LibraryKind.DEF, LibraryKind.FRAGMENT, LibraryKind.IMPL)}


class Initialisers:
    """The initialisers of one translation unit, and its functions that take a library."""

    def __init__(self, findings: Findings, scope: UnitScope, build: When) -> None:
        self._findings, self._scope, self._build = findings, scope, build
        self._own: dict[str, LibraryFunction] = {}
        self._found: list[tuple[CppToken, list[list[CppToken]], LibraryFunction | None]] = []

    def function(self, name: str, function: LibraryFunction) -> None:
        """Note a function, or a lambda that a variable holds."""
        self._own[name] = function

    def add(self, token: CppToken, arguments: list[list[CppToken]]) -> None:
        """Note an initialiser. Its function may come later."""
        if len(arguments) >= 4:
            name = arguments[1][-1].text if arguments[1] else ""
            self._found.append((token, arguments, self._own.get(name)))

    def read_all(self) -> None:
        """Read what the initialisers register."""
        for token, arguments, before in self._found:
            self._read(token, arguments, before)

    def _read(self, token: CppToken, arguments: list[list[CppToken]], before: LibraryFunction | None) -> None:
        tokens = [token, *(part for argument in arguments for part in argument)]
        kind = _KINDS.get(arguments[0][-1].text) if arguments[0] else None
        if kind is None:
            if [part.text for part in arguments[0][-2:-1]] != ["Kind"]:  # this is not the constructor itself
                self._findings.refuse(tokens, "the kind of this library is not known", self._build)
            return None
        if in_test(token):
            return self._findings.leave_out(tokens)
        when = joined(self._build, when_called(token))
        block = self._block(kind, token, arguments, when)
        self._findings.account(tokens)
        self._findings.add(block)
        name = arguments[1][-1].text if arguments[1] else ""
        function = self._lambda(arguments[1]) or before or self._own.get(name)
        if function is None:
            return self._findings.refuse(tokens, "the function of this library is not found in this file", when)
        if len(function.parameters) != 1:
            return self._findings.refuse(tokens, "the function of this library has other parameters", when)
        variable = LibraryVariable(function.parameters[0], block)
        return BodyReader(variable, self._findings, self._scope, when).read(function.body)

    def _block(self, kind: LibraryKind, token: CppToken, arguments: list[list[CppToken]], when: When) -> ExtractedBlock:
        namespace = text_of(arguments[2], self._scope.value)
        written = [token._replace(kind="name", text=namespace)] if namespace else arguments[2]
        block = made_block(kind, token, [written, _key(arguments[3])], when, self._findings)
        line = arguments[5] if len(arguments) > 5 else []
        return block._replace(at=line[0].at) if [part.text for part in line] == ["__LINE__"] else block

    @staticmethod
    def _lambda(tokens: list[CppToken]) -> LibraryFunction | None:
        """A lambda that is written as the argument."""
        opening = next((index for index, token in enumerate(tokens) if token.text == "{"), len(tokens))
        if not tokens or tokens[0].text != "[" or opening == len(tokens):
            return None
        parameters, _ = inside(tokens, inside(tokens)[1])
        names = tuple(part[-1].text for part in split(parameters) if part)
        return LibraryFunction("", names, tuple(inside(tokens, opening)[0]))


def _key(tokens: Sequence[CppToken]) -> list[CppToken]:
    """The key in ``std::make_optional(c10::DispatchKey::CPU)``; empty for none."""
    texts = [token.text for token in tokens]
    if "nullopt" in texts or texts == ["{", "}"]:
        return []
    if "DispatchKey" in texts[:-2]:
        index = len(texts) - 1 - texts[::-1].index("DispatchKey")
        return list(tokens[index + 2 : index + 3])
    return list(tokens)
