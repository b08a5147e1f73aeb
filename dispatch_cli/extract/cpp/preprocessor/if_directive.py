"""The decision of a ``#if`` directive, with the macros as they are at its place."""

from __future__ import annotations

from dispatch_cli.extract.cpp.preprocessor.conditions import (
    Decision,
    ExpressionError,
    When,
    decide,
    facts,
    joined,
    opposite,
)
from dispatch_cli.extract.cpp.preprocessor.macro_table import FIXED, Expander, MacroTable
from dispatch_cli.extract.cpp.preprocessor.sourcefile import Directive
from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, tokens_of
from dispatch_cli.extract.readable import is_readable
from dispatch_cli.extract.work import WorkBudget
from dispatch_cli.model.conditions.condition import Atom, Condition, value

UNDECIDED = 30
"""Units of work of a branch that is not decided."""


class _Frame:
    """One ``#if``. before: the conditions of earlier branches, negated. done: one of them is true."""

    __slots__ = ("before", "done", "off", "outer")

    def __init__(self, outer: When, off: bool) -> None:
        self.outer, self.off = outer, off
        self.before: list[Condition] = []
        self.done = False


class Branches:
    """The ``#if`` around a place. when: what holds there. off: the text is left out."""

    def __init__(self, table: MacroTable, expander: Expander, work: WorkBudget) -> None:
        self._table, self._expander, self._work = table, expander, work
        self.when: When = ()
        self.off = False
        self._frames: list[_Frame] = []

    def depth(self) -> int:
        """Number of open ``#if``."""
        return len(self._frames)

    def read(self, directive: Directive, is_guard: bool) -> None:
        """Read ``#if`` and its relatives. is_guard: it is that of an include guard. Errors: OverWork."""
        if directive.kind in ("if", "ifdef", "ifndef"):
            self._frames.append(_Frame(self.when, self.off))
            if not self.off:
                self._begin(True if is_guard else self._decision(directive))
        elif directive.kind == "endif":
            self.close()
        elif self._frames and not (frame := self._frames[-1]).off:
            self.when = frame.outer
            self._begin(not frame.done and (directive.kind == "else" or self._decision(directive)))

    def close(self) -> None:
        """``#endif``."""
        if self._frames:
            frame = self._frames.pop()
            self.when, self.off = frame.outer, frame.off

    def _begin(self, decision: Decision) -> None:
        """A branch begins. Those before it do not hold."""
        frame = self._frames[-1]
        self._work.spend(len(frame.outer) + len(frame.before))
        self.when = joined(frame.outer, frame.before)
        if not isinstance(decision, bool):
            self._work.spend(UNDECIDED)
            decided = value(decision, facts(self.when))
            decision = decision if decided is None else decided
        self.off = decision is False
        if isinstance(decision, bool):
            frame.done = frame.done or decision
            return
        self.when = joined(self.when, [decision])
        negative = opposite(decision)
        assert not isinstance(negative, bool)
        frame.before.append(negative)

    def _decision(self, directive: Directive) -> Decision:
        """Decide the directive."""
        if directive.kind.endswith("def"):
            defined = self._is_defined(directive.name)
            return opposite(defined) if directive.kind.endswith("ndef") else defined
        try:
            decision = decide(self._tokens(directive), self._is_defined)
        except ExpressionError:
            text = directive.source.text[directive.start : directive.end]
            decision = Atom(" ".join(text.replace("\\\n", " ").split()))
        if isinstance(decision, bool):
            return decision
        if not is_readable(decision):
            at = directive.source.span(directive.at)
            return Atom(f"#{directive.kind} at {at.file}:{at.line}")
        return self._table.known(decision, self.when)

    def _is_defined(self, name: str) -> Decision:
        return self._table.is_defined(name, self.when)

    def _tokens(self, directive: Directive) -> list[CppToken]:
        """The expression with its macros replaced, but for the operands of ``defined``."""
        tokens = list(directive.tokens)
        for index, token in enumerate(tokens):
            if token.text == "defined":
                for place in range(index + 1, min(index + 3, len(tokens))):
                    tokens[place] = tokens[place]._replace(hide=frozenset({tokens[place].text}))
        return [fixed for token in self._expander.all_replaced(tokens) for fixed in self._fixed(token)]

    def _fixed(self, token: CppToken) -> list[CppToken]:
        """A macro of the compiler by its value; one that is not defined is 0."""
        text = FIXED.get(token.text) or ("0" if self._table.state(token.text) == () else None)
        return tokens_of(text) if text and token.text not in token.hide else [token]
