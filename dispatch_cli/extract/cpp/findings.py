"""Registrations that the reader of one translation unit has found so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from dispatch_cli.extract.cpp.conditions import When, joined
from dispatch_cli.extract.cpp.tokens import CppToken, spelled
from dispatch_cli.model.condition import Condition
from dispatch_cli.model.extracted import (
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    NotUnderstood,
)

MAX_TEXT = 200
"""Characters of a statement that are shown."""
_MARKS = frozenset({"impl", "def", "fallback", "op", "RegisterOperators", "kernel", "catchAllKernel", "schema"})
FromCpp = ExtractedBlock | ExtractedDefinition | ExtractedKernel | ExtractedFallback


class Findings:
    """Registrations, statements that are not understood, and the places that are accounted for."""

    def __init__(self) -> None:
        self.found: dict[FromCpp, None] = {}
        self.not_understood: dict[NotUnderstood, None] = {}
        self.accounted: set[tuple[str, int]] = set()
        self.missing: Counter[str] = Counter()
        self.forks: set[str] = set()
        self._in_tests: list[CppToken] = []

    def add(self, item: FromCpp) -> None:
        """Keep a registration."""
        self.found[item] = None

    def blocks(self) -> list[ExtractedBlock]:
        """The blocks that were found."""
        return [item for item in self.found if isinstance(item, ExtractedBlock)]

    def refuse(self, tokens: Sequence[CppToken], why: str, when: Sequence[Condition] = (), bound: bool = False) -> None:
        """Keep a statement that is not understood. bound: as in `NotUnderstood`."""
        first = tokens[0]
        text = spelled(tuple(tokens[:80]))
        if len(text) > MAX_TEXT:
            text = text[: MAX_TEXT - 1] + "…"
        shown = " ".join(text.split())
        self.not_understood[NotUnderstood(first.at, shown, why, joined(first.when, when), bound)] = None
        self.account(tokens)

    def leave_out(self, tokens: Sequence[CppToken]) -> None:
        """Note a registration in the body of a test: it is there only while the test runs."""
        self._in_tests.append(tokens[0])
        self.account(tokens)

    def report_left_out(self) -> None:
        """Note the number of registrations in tests, once for all."""
        if self._in_tests:
            first, count = self._in_tests[0], len(self._in_tests)
            those = "this registration, which is" if count == 1 else f"{count} statements with registrations, which are"
            why = f"{those} in the bodies of tests and hold only while those run, left out"
            self.not_understood[NotUnderstood(first.at, first.text, why, first.when)] = None

    def account(self, tokens: Iterable[CppToken]) -> None:
        """Note that the registrations among *tokens* have been looked at."""
        seen: set[tuple[str, int, tuple[object, int] | None]] = set()
        for token in tokens:
            if token.kind == "name" and (token.text in _MARKS or "_LIBRARY" in token.text):
                key = (token.source.name, token.offset, token.use)
                if key in seen:
                    continue
                seen.add(key)
                if not token.source.name.startswith("<"):  # it is built in
                    self.accounted.add((token.source.name, token.source.line(token.offset)))
                if token.use is not None:
                    source, offset = token.use
                    self.accounted.add((source.name, source.line(offset)))


def same_conditions(tokens: Sequence[CppToken]) -> bool:
    """True if one condition holds for all of *tokens*."""
    first: When = tokens[0].when if tokens else ()
    return all(token.when is first or token.when == first for token in tokens)
