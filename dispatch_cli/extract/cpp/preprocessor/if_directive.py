"""The decision of a ``#if`` directive, with the macros as they are at its place."""

from __future__ import annotations

from collections.abc import Callable

from dispatch_cli.extract.cpp.preprocessor.conditions import (
    Decision,
    ExpressionError,
    When,
    conjuncts,
    decide,
    facts,
    joined,
    opposite,
    undecided,
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

    __slots__ = ("before", "brackets", "conditions", "done", "off", "outer")

    def __init__(self, outer: When, off: bool) -> None:
        self.outer, self.off = outer, off
        self.before: list[Condition] = []
        self.conditions: list[Condition] = []
        self.done = False
        self.brackets = 0


class Branches:
    """The ``#if`` around a place.

    when: what holds there. off: the text is left out. brackets: number of open brackets. forks: the atoms of
    branches in which brackets are opened and not closed, or the other way round.
    """

    def __init__(self, table: MacroTable, work: WorkBudget) -> None:
        self._table, self._work = table, work
        self.when: When = ()
        self.off = False
        self.brackets = 0
        self.forks: set[str] = set()
        self._frames: list[_Frame] = []

    def depth(self) -> int:
        """Number of open ``#if``."""
        return len(self._frames)

    def open(self, decide: Callable[[], Decision], directive: Directive) -> None:
        """``#if``. Errors: OverWork."""
        self._frames.append(_Frame(self.when, self.off))
        if not self.off:
            self._begin(decide(), directive)

    def turn(self, decide: Callable[[], Decision] | None, directive: Directive) -> None:
        """``#elif``, or ``#else`` where *decide* is None."""
        if not self._frames:
            return
        self._balance()
        frame = self._frames[-1]
        if not frame.off:
            self.when = frame.outer
            self._begin(False if frame.done else True if decide is None else decide(), directive)

    def close(self) -> None:
        """``#endif``."""
        if self._frames:
            self._balance()
            frame = self._frames.pop()
            self.when, self.off = frame.outer, frame.off

    def _begin(self, decision: Decision, directive: Directive) -> None:
        """A branch begins. Those before it do not hold."""
        frame = self._frames[-1]
        self._work.spend(len(frame.outer) + len(frame.before))
        outer = joined(frame.outer, frame.before)
        frame.brackets = self.brackets
        if not isinstance(decision, bool):
            self._work.spend(UNDECIDED)
            decided = value(decision, {**self._table.assumed, **facts(outer)})
            decision = decision if decided is None else decided
        if not isinstance(decision, bool) and not outer and (directive.fails or directive.fails_else):
            decision = self._without_error(opposite(decision) if directive.fails else decision) != directive.fails
        elif directive.fails:
            frame.done = frame.done or decision is True
            decision = False
        if isinstance(decision, bool):
            self.off = not decision
            frame.done = frame.done or decision
            self.when = outer
            return
        self.off = False
        frame.conditions.append(decision)
        self.when = joined(outer, [decision])
        negative = opposite(decision)
        assert not isinstance(negative, bool)
        frame.before.extend(conjuncts(negative))

    def _without_error(self, needed: Decision) -> bool:
        """``#error``: a branch is in no build, so that *needed* holds in all of them."""
        assert not isinstance(needed, bool)
        self._table.assumed.update(facts(tuple(conjuncts(needed))))
        return True

    def _balance(self) -> None:
        """A branch ends: its brackets have to match, or the branches are read one by one."""
        frame = self._frames[-1]
        if not frame.off and not self.off and frame.conditions and self.brackets != frame.brackets:
            self.forks.update(undecided(frame.conditions, facts(frame.outer)))
            self.brackets = frame.brackets


class IfReader:
    """Reads ``#if``, ``#ifdef`` and their relatives."""

    def __init__(self, table: MacroTable, expander: Expander, branches: Branches) -> None:
        self._table, self._expander, self._branches = table, expander, branches

    def decision(self, directive: Directive) -> Decision:
        """Decide the directive. The answer is kept for the next translation unit in which its macros are the same."""
        if directive.kind.endswith("def"):
            defined = self._is_defined(directive.name)
            return opposite(defined) if directive.kind.endswith("ndef") else defined
        if directive.names is None:
            directive.names = tuple({token.text for token in directive.tokens if token.kind == "name"})
        when, assumed = self._branches.when, self._table.assumed
        state = [self._table.state(name) for name in directive.names]
        seen = directive.seen
        same = seen is not None and seen[1] == when and seen[2] == assumed
        if same and all(old is new for old, new in zip(seen[0], state, strict=True)):
            known: Decision = seen[3]
            return known
        decision = self._decided(directive)
        if not any(token.kind == "name" for part in state for variant in part or () for token in variant.macro.body):
            directive.seen = (state, when, dict(assumed), decision)
        return decision

    def _decided(self, directive: Directive) -> Decision:
        self._table.in_if = True
        try:
            decision = decide(self._tokens(directive), self._is_defined)
        except ExpressionError:
            text = directive.source.text[directive.start : directive.end]
            decision = Atom(" ".join(text.replace("\\\n", " ").split()))
        finally:
            self._table.in_if = False
        if not isinstance(decision, bool) and not is_readable(decision):
            at = directive.source.span(directive.at)
            return Atom(f"#{directive.kind} at {at.file}:{at.line}")
        return decision if isinstance(decision, bool) else self._table.known(decision, self._branches.when)

    def _is_defined(self, name: str) -> Decision:
        return self._table.is_defined(name, self._branches.when)

    def _tokens(self, directive: Directive) -> list[CppToken]:
        """The expression with its macros replaced, but for the operands of ``defined``."""
        result: list[CppToken] = []
        part: list[CppToken] = []
        tokens = iter(directive.tokens)
        for token in tokens:
            if token.text != "defined":
                part.append(token)
                continue
            result.extend(self._replaced(part))
            part = []
            result.append(token)
            name = next(tokens, None)
            if name is not None:
                result.append(name)
                if name.text == "(":
                    result.extend(token for token in (next(tokens, None), next(tokens, None)) if token is not None)
        result.extend(self._replaced(part))
        return result

    def _replaced(self, tokens: list[CppToken]) -> list[CppToken]:
        return [fixed for token in self._expander.all_replaced(tokens) for fixed in self._fixed(token)]

    def _fixed(self, token: CppToken) -> list[CppToken]:
        """A macro of the compiler by its value; one that is not defined is 0."""
        text = FIXED.get(token.text) or ("0" if self._table.state(token.text) == () else None)
        return [replacement._replace(hide=token.hide) for replacement in tokens_of(text)] if text else [token]
