"""Changes of declarations, tried out: the state after them, and which findings are new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property

from dispatch_cli.checks import CHECKS
from dispatch_cli.checks.check import Finding
from dispatch_cli.checks.run import run_checks
from dispatch_cli.checks.view import View
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.declarations import WILDCARD, Block, Fallback, Implement, LibraryKind, Settle, Step
from dispatch_cli.model.edit import Action, Edit, Function
from dispatch_cli.model.kernel import FakeImpl, Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.settings import Severity
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import CATCH_ALL, UNDEFINED
from dispatch_cli.report.baseline import Entry

PLACE = "advice"
"""Stands for the file that a change is written to."""
SERIOUS = (Severity.WARNING, Severity.ERROR)


class Trial:
    """Tries changes on a state that is as it was after each.

    name: the operator that they are about; findings are about it and its other forms. view: as it is without a change.
    """

    def __init__(self, state: State, name: OperatorName) -> None:
        # what is meant to be so elsewhere is no reason to advise it here
        declarations = state.declarations._replace(suppressions=())
        self._state = State(state.dispatcher, state.overrides, state.base, state.source, declarations)
        self.name = name
        self.universe = state.dispatcher.universe
        self.view = self._view(self._state)
        self._known = frozenset(map(Entry.of, _serious(self.view)))

    @property
    def dispatcher(self) -> Dispatcher:
        """The one that changes while something is tried."""
        return self._state.dispatcher

    @contextmanager
    def after(self, edits: Sequence[Edit]) -> Iterator[State]:
        """The state after a change. Errors: Refused when PyTorch refuses it."""
        dispatcher, before = self.dispatcher, self.dispatcher.checkpoint()
        try:
            yield self._changed(edits)
        finally:
            dispatcher.restore(before)

    def new_findings(self, state: State) -> list[Finding]:
        """The findings of severity warning and worse that are not there without the change; `after` gave the state."""
        return [one for one in _serious(self._view(state)) if Entry.of(one) not in self._known]

    # inside

    def _view(self, state: State) -> View:
        return View(state, self._family, frozenset(self._family))

    @cached_property
    def _family(self) -> tuple[OperatorName, ...]:
        """The operator, its overloads, and its in-place or functional forms."""
        own = self.name.name
        names = {own, own.removesuffix("_"), f"{own}_"}
        texts = (text for text in self.dispatcher.names() if text.startswith(own.removesuffix("_")))
        return tuple(one for one in map(OperatorName.parse, texts) if one.name in names)

    def _changed(self, edits: Sequence[Edit]) -> State:
        declarations = self._state.declarations
        added = [self._added(edit, number) for number, edit in enumerate(edits, start=1) if edit.function]
        steps = list(declarations.steps)
        for edit in edits:
            if edit.action is Action.REMOVE:
                self._remove(edit, steps)
        for name in {edit.operator for edit in edits if edit.action is Action.REMOVE and edit.operator is not None}:
            self._replay(name, declarations.steps, steps)
        for step in added:
            if isinstance(step, Fallback):
                self.dispatcher.fall_back(step.dispatch_key, step.kernel)
            else:
                self.dispatcher.implement(step.operator, step.dispatch_key, step.kernel)
        after = declarations._replace(steps=(*steps, *added))
        return State(self.dispatcher, self._state.overrides, self._state.base, self._state.source, after)

    def _remove(self, edit: Edit, steps: list[Step]) -> None:
        """Take the registration that an edit removes out of the steps."""
        kernel = None if edit.operator is None else self.kernel_at(edit.operator, edit.key)
        for position, step in enumerate(steps):
            if isinstance(step, Implement) and step.kernel is kernel and step.operator == edit.operator:
                del steps[position]
                return

    def kernel_at(self, name: OperatorName, key: str) -> Kernel | None:
        """The operator's active kernel at a key."""
        registration = self.dispatcher.operator(name).active(key)
        return None if registration is None else registration.kernel

    def _replay(self, name: OperatorName, before: Iterable[Step], after: Iterable[Step]) -> None:
        """Register for an operator what *after* says in the place of what *before* says."""
        dispatcher = self.dispatcher
        declared = {id(step.kernel) for step in before if isinstance(step, Implement) and step.operator == name}
        for registrations in [*dispatcher.operator(name).kernels.values()]:
            for registration in [*registrations]:
                if id(registration.kernel) in declared and not registration.captured:
                    dispatcher.drop(registration)
        if name in dispatcher:
            dispatcher.settle(name)
        for step in after:
            if isinstance(step, Implement) and step.operator == name:
                dispatcher.implement(name, _key_of(step), step.kernel)
            elif isinstance(step, Settle) and name in step.operators and name in dispatcher:
                dispatcher.settle(name)

    def _added(self, edit: Edit, number: int) -> Implement | Fallback:
        """The registration that an edit adds."""
        span = Span(PLACE, number, 1)
        namespace = WILDCARD if edit.operator is None else edit.operator.namespace or ""
        block = Block(LibraryKind.IMPL, namespace, None, PLACE, number, span, implicit=True)
        match edit.function:
            case Function.FALLTHROUGH:
                kernel = Kernel("fallthrough", "fallthrough", fallthrough=True)
            case Function.SAME if edit.source is not None and edit.operator is not None:
                kernel = self.kernel_at(edit.operator, edit.source) or Kernel("")
            case Function.FALLBACK:
                kernel = self.dispatcher.fallbacks[edit.key].kernel
            case Function.FAKE:
                kernel = Kernel(edit.kernel or "", python=True, fake=FakeImpl(edit.kernel))
            case _:
                kernel = Kernel(edit.kernel or "", edit.kernel, redispatches=edit.redispatches)
        placed = kernel._replace(span=span)
        if edit.operator is None:
            return Fallback(block, edit.key, placed, span)
        return Implement(block, edit.operator, edit.key, placed, span)


def _key_of(step: Implement) -> str:
    key = step.dispatch_key or step.block.dispatch_key
    return CATCH_ALL if key is None or key == UNDEFINED else key


def _serious(view: View) -> list[Finding]:
    found = run_checks(view, CHECKS, CHECKS).findings
    return [one for one in found if one.severity in SERIOUS]
