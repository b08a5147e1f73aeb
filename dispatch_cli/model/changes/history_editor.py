"""The history after changes: registrations that are left out or moved, wherever they stand."""

from __future__ import annotations

from dispatch_cli.model.captured import StateSource
from dispatch_cli.model.changes.change import ChangeError, HistoryChange, RegistrationName, Reordering
from dispatch_cli.model.changes.registration_names import NamedRegistration, RegistrationIndex
from dispatch_cli.model.declarations import (
    CapturedRegistration,
    Declarations,
    Fallback,
    Implement,
    OwnChange,
    OwnChanges,
    PythonKernel,
)
from dispatch_cli.model.span import Span


class HistoryEditor:
    """Makes changes of a history, all of which name registrations as they are before the first.

    source: the captured state that it continues.
    """

    def __init__(self, declarations: Declarations, source: StateSource | None) -> None:
        self._said = declarations
        self._index = RegistrationIndex(declarations, source)
        self._left: dict[CapturedRegistration, None] = dict.fromkeys(declarations.without)
        self._gone: set[int] = set()
        self._made: list[OwnChange] = []
        self._steps = [*declarations.steps]

    def make(self, change: HistoryChange, span: Span) -> None:
        """Make one change. span: where a file says so.

        Errors: ChangeError; then nothing has changed.
        """
        which = self._find(change.which)
        if isinstance(change, Reordering):
            self._move(change, which)
        elif which.captured is not None:
            self._left[which.captured] = None
        else:
            self._gone.add(id(which.step))
        self._made.append(OwnChange(which.name.operator, which.name.key, span))

    def result(self) -> Declarations:
        declarations = self._said
        inherited = frozenset(map(id, declarations.inherited_steps))
        changes = declarations.changes
        if changes is None:
            changes = OwnChanges((), declarations.steps, declarations.inherited_steps, declarations.python_kernels)
        steps = tuple(step for step in self._steps if id(step) not in self._gone)
        return declarations._replace(
            steps=steps,
            inherited_steps=tuple(step for step in steps if id(step) in inherited),
            python_kernels=tuple(kernel for kernel in declarations.python_kernels if id(kernel) not in self._gone),
            without=tuple(self._left),
            changes=changes._replace(made=(*changes.made, *self._made)) if self._made else declarations.changes,
        )

    def _find(self, name: RegistrationName) -> NamedRegistration:
        start = self._index.find(name)
        if id(start.step) in self._gone or start.captured in self._left:
            message = f"another change removes the registration of {_words(start)}"
            raise ChangeError(message, None, "removed-registration")
        return start

    def _move(self, change: Reordering, which: NamedRegistration) -> None:
        target = self._find(change.target)
        for registration in (which, target):
            if registration.captured is not None:
                message = f"{_words(registration)} was registered by PyTorch itself, where the order is not known"
                raise ChangeError(message, "only registrations of files can be moved")
            if isinstance(registration.step, PythonKernel):
                raise ChangeError("kernels of the Python dispatcher are not moved: their order makes no difference")
        if target.step is which.step:
            word = "after" if change.is_after else "before"
            message, hint = f"a registration cannot be moved {word} itself", f"name another one in '{word}'"
            raise ChangeError(message, hint)
        assert isinstance(which.step, Implement | Fallback), "only these have an order"
        others = [step for step in self._steps if step is not which.step]
        at = next(position for position, step in enumerate(others) if step is target.step)
        others.insert(at + change.is_after, which.step)
        self._steps = others


def _words(registration: NamedRegistration) -> str:
    return str(registration.name._replace(number=None))
