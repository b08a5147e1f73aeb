"""Blocks as they are made of macros and objects, and the function that they are in."""

from __future__ import annotations

from dispatch_cli.extract.cpp.context import When, joined
from dispatch_cli.extract.cpp.findings import Findings
from dispatch_cli.extract.cpp.keys import block_key, is_macro_like
from dispatch_cli.extract.cpp.surroundings import enclosing_function
from dispatch_cli.extract.cpp.tokens import CppToken, spelled
from dispatch_cli.model.condition import Atom
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import ExtractedBlock, Unknown

KINDS = {
    "TORCH_LIBRARY": LibraryKind.DEF,
    "TORCH_LIBRARY_FRAGMENT": LibraryKind.FRAGMENT,
    "TORCH_LIBRARY_IMPL": LibraryKind.IMPL,
}
_TESTS = frozenset(
    {"TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P", "GTEST_TEST", "TEST_CASE", "TEST_CASE_METHOD"}
)
"""Macros of GoogleTest and Catch2 that begin the body of a test."""


def made_block(
    kind: LibraryKind, token: CppToken, arguments: list[list[CppToken]], when: When, findings: Findings
) -> ExtractedBlock:
    """The block whose arguments are a namespace and a key. when: what holds beside the conditions of *token*."""
    written = "".join(part.text for part in arguments[0]) if arguments else ""
    namespace: str | Unknown = written
    if not written.isidentifier() or is_macro_like(written):
        namespace = Unknown(spelled(tuple(arguments[0])) if arguments else "")
        findings.missing[written] += 1
    key = block_key(arguments[1]) if len(arguments) > 1 and arguments[1] else None
    if isinstance(key, Unknown):
        findings.missing[key.expression] += 1
    return ExtractedBlock(kind, namespace, key, token.at, joined(token.when, when))


def in_test(token: CppToken) -> bool:
    """True if a registration stands in the body of a test, such as ``TEST(Suite, name) {...}``."""
    source, offset = token.use or (token.source, token.offset)
    return enclosing_function(source, offset) in _TESTS


def when_called(token: CppToken) -> When:
    """Condition that the function around a registration is called."""
    source, offset = token.use or (token.source, token.offset)
    function = enclosing_function(source, offset)
    return () if function is None else (Atom(f"{function} is called"),)
