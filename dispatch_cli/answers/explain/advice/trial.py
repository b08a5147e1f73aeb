"""Changes of declarations, tried out: the state after them, and which findings are new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property

from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.checks.check import Finding
from dispatch_cli.checks.run import run_checks
from dispatch_cli.checks.view import View
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.changes.change import Addition, Change, Removal
from dispatch_cli.model.changes.edit import Action, Edit, Function
from dispatch_cli.model.changes.history_editor import declared
from dispatch_cli.model.changes.registration_names import RegistrationIndex, key_of
from dispatch_cli.model.declarations import Fallback, Implement, Settle, Step
from dispatch_cli.model.kernel import FakeImpl, Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.severity import Severity

PLACE = "advice"
"""Stands for the file that a change is written to."""
NO_AUTOGRAD = "no-autograd-kernel"
DROPPED_CALL = tuple(check for check in CHECKS if check.id == "dropped-call")
SERIOUS = (Severity.WARNING, Severity.ERROR)


class Trial:
    """Tries changes on a state that is as it was after each.

    name: the operator that they are about; findings are about it and its other forms. view: as it is without a change.
    """

    def __init__(self, state: State, name: OperatorName) -> None:
        # what is meant to be so elsewhere is no reason to advise it here
        declarations = state.declarations._replace(suppressions=(), changes=None)
        self._state = State(state.dispatcher, state.overrides, state.base, state.source, declarations)
        self.name = name
        self.universe = state.dispatcher.universe
        self.view = self._view(self._state)
        self._known = frozenset(finding.identity for finding in _serious(self.view))

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
        """The findings that matter and are not there without the change; `after` gave the state.

        A dropped call is no reason against a change that lets calls be traced: the schema is wrong without it, too.
        """
        dropped = {check.id for check in DROPPED_CALL}
        new = [finding for finding in _serious(self._view(state)) if finding.identity not in self._known]
        return [finding for finding in new if finding.check not in dropped]

    def drops_calls(self, state: State) -> bool:
        """True if torch.compile drops calls only after a change; `after` gave the state."""
        findings = run_checks(self._view(state), DROPPED_CALL, CHECKS).findings
        return any(finding.severity in SERIOUS and finding.identity not in self._known for finding in findings)

    # inside

    def _view(self, state: State) -> View:
        return View(state, self._family, frozenset(self._family))

    @cached_property
    def _family(self) -> tuple[OperatorName, ...]:
        """The operator, its overloads, and its in-place or functional forms."""
        own = self.name.name
        names = {own, own.removesuffix("_"), f"{own}_"}
        texts = (text for text in self.dispatcher.names() if text.startswith(own.removesuffix("_")))
        return tuple(name for name in map(OperatorName.parse, texts) if name.name in names)

    def _changed(self, edits: Sequence[Edit]) -> State:
        """The state after edits. Only what they concern is registered again, since many are tried."""
        before = self._state.declarations
        known = frozenset(map(id, before.steps))
        changes = [change for edit in edits if (change := self._change(edit)) is not None]
        after = declared(before, self._state.source, changes, PLACE)
        for name in {edit.operator for edit in edits if edit.action is Action.REMOVE and edit.operator is not None}:
            self._replay(name, before.steps, [step for step in after.steps if id(step) in known])
        for step in after.steps:
            if id(step) not in known and isinstance(step, Fallback):
                self.dispatcher.fall_back(step.dispatch_key, step.kernel)
            elif id(step) not in known and isinstance(step, Implement):
                self.dispatcher.implement(step.operator, step.dispatch_key, step.kernel)
        return State(self.dispatcher, self._state.overrides, self._state.base, self._state.source, after)

    def _change(self, edit: Edit) -> Change | None:
        """An edit as a change of the history; None where it removes what is in no file."""
        if edit.action is not Action.REMOVE:
            return Addition(edit.operator, edit.key, kernel_of(edit, self.dispatcher))
        names = RegistrationIndex(self._state.declarations, None)
        there = [registration for registration in names.of(edit.operator) if registration.name.key == edit.key]
        return Removal(there[-1].name) if there and there[-1].step is not None else None

    def _replay(self, name: OperatorName, before: Iterable[Step], after: Iterable[Step]) -> None:
        """Register for an operator what *after* says in the place of what *before* says."""
        dispatcher = self.dispatcher
        own = {id(step.kernel) for step in before if isinstance(step, Implement) and step.operator == name}
        for registrations in [*dispatcher.operator(name).kernels.values()]:
            for registration in [*registrations]:
                if id(registration.kernel) in own and not registration.captured:
                    dispatcher.drop(registration)
        if name in dispatcher:
            dispatcher.settle(name)
        for step in after:
            if isinstance(step, Implement) and step.operator == name:
                dispatcher.implement(name, key_of(step), step.kernel)
            elif isinstance(step, Settle) and name in step.operators and name in dispatcher:
                dispatcher.settle(name)


def kernel_of(edit: Edit, dispatcher: Dispatcher) -> Kernel:
    """The kernel that an edit registers. dispatcher: of the state that is edited."""
    match edit.function:
        case Function.FALLTHROUGH:
            return Kernel("fallthrough", "fallthrough", fallthrough=True)
        case Function.SAME if edit.source is not None and edit.operator is not None:
            return _kernel_at(dispatcher, edit.operator, edit.source) or Kernel("")
        case Function.FALLBACK:
            return dispatcher.fallbacks[edit.key].kernel
        case Function.FAKE:
            return Kernel(edit.kernel or "", python=True, fake=FakeImpl(edit.kernel))
        case _:
            return Kernel(edit.kernel or "", edit.kernel, redispatches=edit.redispatches)


def _kernel_at(dispatcher: Dispatcher, name: OperatorName, key: str) -> Kernel | None:
    registration = dispatcher.operator(name).active(key)
    return None if registration is None else registration.kernel


def _serious(view: View) -> list[Finding]:
    findings = run_checks(view, CHECKS, CHECKS).findings
    return [finding for finding in findings if finding.severity in SERIOUS or _lacks_derivative(view, finding)]


def _lacks_derivative(view: View, finding: Finding) -> bool:
    """True for an info about a result without an autograd kernel: who registers a kernel may want one as well."""
    if finding.check != NO_AUTOGRAD or finding.operator is None:
        return False
    return "!" not in (view.schema_text(OperatorName.parse(finding.operator)) or "")
