"""``#if`` and its branches: which text is left out, and what has to hold for the rest."""

from __future__ import annotations

from collections.abc import Callable

from dispatch_cli.extract.cpp.context import When, conjuncts, facts, joined, undecided
from dispatch_cli.extract.cpp.if_expression import Decision, opposite
from dispatch_cli.extract.cpp.macro_table import MacroTable
from dispatch_cli.extract.cpp.sourcefile import Directive
from dispatch_cli.extract.work import WorkBudget
from dispatch_cli.model.condition import Atom, Condition, value

MAX_SPELLED = 20
"""Branches of one ``#if`` whose conditions are spelled out, with the opposites of those before; others are numbered."""


UNDECIDED = 30
"""Units of work of a branch that is not decided."""


class _Frame:
    """One ``#if``. before: the conditions of earlier branches, negated. done: one of them is true. count: of all."""

    __slots__ = ("before", "brackets", "conditions", "count", "directive", "done", "off", "outer")

    def __init__(self, outer: When, off: bool, directive: Directive) -> None:
        self.outer, self.off, self.directive = outer, off, directive
        self.count = 1
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
        self._frames.append(_Frame(self.when, self.off, directive))
        if not self.off:
            self._begin(decide(), directive)

    def turn(self, decide: Callable[[], Decision] | None, directive: Directive) -> None:
        """``#elif``, or ``#else`` where *decide* is None."""
        if not self._frames:
            return
        self._balance()
        frame = self._frames[-1]
        frame.count += 1
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
        if len(frame.conditions) >= MAX_SPELLED and decision is not False:
            frame.done = frame.done or decision is True
            self.off, self.when = False, joined(outer, [self._numbered(frame)])
            return
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

    def _numbered(self, frame: _Frame) -> Condition:
        """Condition for one of very many branches, of which one at most is taken."""
        first = frame.directive.source.span(frame.directive.at)
        return Atom(f"branch {frame.count} of #{frame.directive.kind} at {first.file}:{first.line}")

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
