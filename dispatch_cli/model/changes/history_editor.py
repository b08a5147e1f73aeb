"""The history after changes: registrations that are left out or moved, wherever they stand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import count, zip_longest

from dispatch_cli.model.captured import StateSource
from dispatch_cli.model.changes.change import (
    Addition,
    AdditionPlace,
    Change,
    ChangeError,
    ChangeProblem,
    HistoryChange,
    RegistrationName,
    Removal,
    Reordering,
    with_added,
)
from dispatch_cli.model.changes.registration_names import NamedRegistration, RegistrationIndex, key_of, operator_of
from dispatch_cli.model.declarations import (
    Block,
    CapturedRegistration,
    Declarations,
    Fallback,
    Implement,
    OwnChange,
    OwnChanges,
    PythonKernel,
    Settle,
    Step,
)
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.suggest import FewSuggestions

MOST_SEARCHED = 10_000_000
"""Steps that the moves of one section go through together, each all of the history."""


class HistoryEditor:
    """Makes changes of a history, all of which name registrations as they are before the first.

    source: the captured state that it continues. suggestions: shared by several sections.
    """

    def __init__(
        self, declarations: Declarations, source: StateSource | None, suggestions: FewSuggestions | None = None
    ) -> None:
        self._said = declarations
        self._index = RegistrationIndex(declarations, source, suggestions)
        self._left: dict[CapturedRegistration, None] = dict.fromkeys(declarations.without)
        self._gone: set[int] = set()
        self._searched = 0
        self._made: list[OwnChange] = []
        self._order = [*range(len(declarations.steps))]

    def make(self, change: HistoryChange, span: Span | None = None) -> None:
        """Make one change. span: where a file that the user named says so; None for another file.

        Errors: ChangeError; then nothing has changed.
        """
        which = self._find(change.which)
        changed = [(which.name.operator, which.name.key)]
        if isinstance(change, Removal):
            self._remove(which)
        else:
            changed = [*map(_registered, self._move(change, which))]
        if span is not None:
            self._made += (OwnChange(operator, key, span) for operator, key in changed)

    def result(self) -> Declarations:
        """The declarations after the changes."""
        declarations = self._said
        inherited = frozenset(map(id, declarations.inherited_steps))
        changes = declarations.changes
        if self._made:
            changes = changes or OwnChanges((), declarations.steps, declarations.python_kernels, declarations.without)
            changes = changes._replace(made=(*changes.made, *self._made))
        ordered = (declarations.steps[position] for position in self._order)
        steps = tuple(step for step in ordered if id(step) not in self._gone)
        return declarations._replace(
            steps=steps,
            inherited_steps=tuple(step for step in steps if id(step) in inherited),
            python_kernels=tuple(kernel for kernel in declarations.python_kernels if id(kernel) not in self._gone),
            without=tuple(self._left),
            unchanged=declarations.before,
            changes=changes,
        )

    # inside

    def _find(self, name: RegistrationName) -> NamedRegistration:
        start = self._index.find(name)
        if id(start.step) in self._gone or start.captured in self._left:
            message = f"another change removes the registration of {_words(start)}"
            raise ChangeError(message, None, ChangeProblem.REMOVED, name)
        return start

    def _remove(self, which: NamedRegistration) -> None:
        if which.captured is not None:
            self._left[which.captured] = None
        else:
            self._gone.add(id(which.step))

    def _move(self, change: Reordering, which: NamedRegistration) -> list[Implement | Fallback]:
        """Make a registration at another time; what has moved."""
        anchor = change.before or change.after
        if anchor is None:
            raise ChangeError("a registration is moved before another one, or after it")
        target = self._find(anchor)
        for registration, name in ((which, change.which), (target, anchor)):
            _check_has_order(registration, name)
        moving = self._moving(change, which)
        self._searched += len(self._order)
        if self._searched > MOST_SEARCHED:
            message = f"{MOST_SEARCHED // len(self._order):,} moves are the most in a history of this length"
            raise ChangeError(message, None, ChangeProblem.TOO_MANY)
        goal = self._positions[id(target.step)]
        if goal in moving:
            word = "before" if change.before is not None else "after"
            itself = "its own block" if change.block else "itself"
            message, hint = f"a registration cannot be moved {word} {itself}", f"name another one in '{word}'"
            raise ChangeError(message, hint, ChangeProblem.MOVE, anchor)
        moving = [position for position in moving if id(self._said.steps[position]) not in self._gone]
        leaving = frozenset(moving)
        self._order = [position for position in self._order if position not in leaving]
        at = self._order.index(goal) + (change.before is None)
        self._order[at:at] = moving
        moved = (self._said.steps[position] for position in moving)
        return [step for step in moved if isinstance(step, Implement | Fallback)]

    def _moving(self, change: Reordering, which: NamedRegistration) -> Sequence[int]:
        """The positions of what moves with a registration, with what is gone."""
        assert isinstance(which.step, Implement | Fallback), "only these have an order"
        return self._blocks[which.step.block] if change.block else [self._positions[id(which.step)]]

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {id(step): position for position, step in enumerate(self._said.steps)}

    @cached_property
    def _blocks(self) -> dict[Block, list[int]]:
        blocks: dict[Block, list[int]] = {}
        for position, step in enumerate(self._said.steps):
            if not isinstance(step, Settle):
                blocks.setdefault(step.block, []).append(position)
        return blocks


def _check_has_order(registration: NamedRegistration, name: RegistrationName) -> None:
    if registration.captured is not None:
        message = f"{_words(registration)} was registered by PyTorch itself, where the order is not known"
        raise ChangeError(message, "only registrations of files can be moved", ChangeProblem.MOVE, name)
    if isinstance(registration.step, PythonKernel):
        message = "kernels of the Python dispatcher are not moved: their order makes no difference"
        raise ChangeError(message, None, ChangeProblem.MOVE, name)


def _registered(step: Implement | Fallback) -> tuple[OperatorName | None, str]:
    """The operator and the key of a registration."""
    return (None, step.dispatch_key) if isinstance(step, Fallback) else (operator_of(step), key_of(step))


def _words(registration: NamedRegistration) -> str:
    return str(registration.name._replace(number=None))


def moving_steps(declarations: Declarations, source: StateSource | None, change: Reordering) -> list[Step]:
    """The steps that move with a registration. Errors: ChangeError where there is none of that name."""
    step = RegistrationIndex(declarations, source).find(change.which).step
    assert isinstance(step, Implement | Fallback), "only these have an order"
    if not change.block:
        return [step]
    return [other for other in declarations.steps if not isinstance(other, Settle) and other.block == step.block]


def change_history(
    declarations: Declarations,
    source: StateSource | None,
    changes: Sequence[HistoryChange],
    places: Sequence[Span] = (),
) -> Declarations:
    """Declarations after changes. source: the captured state. Errors: ChangeError.

    places: where the user's own file says each of them; none where no file does.
    """
    editor = HistoryEditor(declarations, source)
    for change, span in zip_longest(changes, places):
        editor.make(change, span)
    return editor.result()


def declared(
    declarations: Declarations, source: StateSource | None, changes: Sequence[Change], place: str
) -> Declarations:
    """Declarations after changes: first what is added, then the other changes in order.

    source: the captured state. place: stands for the file that would say so. Errors: ChangeError.
    """
    spans = (Span(place, line, 1) for line in count(1))
    declarations = with_added(declarations, changes, (AdditionPlace(span, span, span) for span in spans))
    return change_history(declarations, source, [change for change in changes if not isinstance(change, Addition)])
