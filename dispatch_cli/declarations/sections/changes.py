"""The section ``changes``: what is left out of the history before it, or moved in it."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.declarations.fields import Values, read_record, read_records, text_of
from dispatch_cli.declarations.formats.change_format import CHANGE, MOST_NUMBER, REGISTRATION
from dispatch_cli.declarations.formats.kernel_format import CATCH_ALL
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.sections.context import FileContext, ReadChange, ReadChanges, read_operator_name
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model.captured import StateSource
from dispatch_cli.model.changes.change import (
    ChangeError,
    ChangeProblem,
    HistoryChange,
    RegistrationName,
    Removal,
    Reordering,
)
from dispatch_cli.model.changes.history_editor import HistoryEditor
from dispatch_cli.model.declarations import Declarations, HistoryBefore, PythonKernel, Step
from dispatch_cli.model.text.suggest import FewSuggestions
from dispatch_cli.model.universe import CATCH_ALL as CATCH_ALL_KEY

_OF_MOVES = ("before", "after")
MOST_LOOKED_THROUGH = 10_000_000
"""Registrations that all sections look through, each those before it."""


def read_changes(context: FileContext, section: Node) -> None:
    """Read the section ``changes``; what it names is looked for when all files are read."""
    problems = context.problems
    changes = []
    for node, values in read_records(problems, section, CHANGE):
        change = _change(context, node, values)
        if change is not None:
            changes.append(ReadChange(change, node, _names(change, values)))
    context.changes.append(ReadChanges(tuple(changes), len(context.steps), len(context.python_kernels)))


def _change(context: FileContext, node: Node, values: Values) -> HistoryChange | None:
    problems = context.problems
    removed, moved = values.get("remove"), values.get("move")
    if "move" not in values:
        for name in _OF_MOVES:
            if (other := values.get(name)) is not None:
                problems.add("bad-value", f"{name!r} is only for 'move'", other)
        which = _registration(context, removed)
        return None if which is None else Removal(which)
    if removed is not None:
        problems.add("bad-value", "a change removes a registration or moves it", removed, "make two changes of it")
    which = _registration(context, moved)
    before, after = (_registration(context, values.get(name)) for name in ("before", "after"))
    places = values.keys() & {"before", "after"}
    if len(places) != 1:
        message = "a registration is moved before another one, or after it: one of 'before' and 'after'"
        problems.add("missing-field" if not places else "bad-value", message, node)
        return None
    if which is None or (before is None and after is None):
        return None
    return Reordering(which, before, after)


def _names(change: HistoryChange, values: Values) -> tuple[tuple[RegistrationName, Node], ...]:
    """The registrations named by a change, with their places."""
    named: tuple[tuple[str, RegistrationName | None], ...] = (("remove", change.which),)
    if isinstance(change, Reordering):
        named = (("move", change.which), ("before", change.before), ("after", change.after))
    return tuple((name, node) for field, name in named if name is not None and (node := values[field]) is not None)


def _registration(context: FileContext, node: Node | None) -> RegistrationName | None:
    """The name of a registration; None, noting why, where it is none."""
    problems = context.problems
    values = None if node is None else read_record(problems, node, REGISTRATION)
    if values is None or node is None:
        return None
    keys = [name for name in ("dispatch_key", "python_dispatch", "fallback") if name in values]
    is_fallback = "fallback" in values
    if is_fallback and "operator" in values:
        problems.add("bad-value", "a backend fallback has no operator", node, "keep 'operator' or 'fallback'")
        return None
    if len(keys) != 1:
        message = "a registration of an operator needs one of the fields 'dispatch_key' and 'python_dispatch'"
        hint = None if keys else "definitions are not removed or moved: leave them out of the file that has them"
        problems.add("bad-value" if keys else "missing-field", message, node, hint)
        return None
    operator = None if is_fallback else read_operator_name(problems, values.get("operator"))
    key = _key(context, values.get(keys[0]), catch_all=keys[0] == "dispatch_key")
    kernel = text_of(problems, values.get("kernel"))
    number = _number(problems, values.get("number"))
    if key is None or (operator is None and not is_fallback) or ("number" in values and number is None):
        return None
    return RegistrationName(operator, key, "python_dispatch" in values, kernel, number)


def _key(context: FileContext, node: Node | None, catch_all: bool) -> str | None:
    if type(node) is not Scalar:
        return None
    if catch_all and node.text == CATCH_ALL:
        return CATCH_ALL_KEY
    return context.keys.single(context.problems, node)


def _number(problems: Problems, node: Node | None) -> int | None:
    if type(node) is not Scalar:
        return None
    text = node.text
    is_short = node.plain and text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_NUMBER))
    if is_short and 0 < int(text) <= MOST_NUMBER:
        return int(text)
    problems.add("bad-value", f"expected a number from 1 to {MOST_NUMBER:,}", node)
    return None


class _History:
    """Registrations of the files so far, after the changes of those that have some."""

    def __init__(self, declarations: Declarations, source: StateSource | None, before: Sequence[Step]) -> None:
        """before: the steps of a history that the files continue."""
        self._said = declarations._replace(steps=(), python_kernels=(), inherited_steps=())
        self._inherited = frozenset(map(id, declarations.inherited_steps))
        self._source = source
        self._suggestions = FewSuggestions()
        self._steps: list[Step] = [*before]
        self._python_kernels: list[PythonKernel] = []
        self._looked_through = 0

    def add(self, steps: Sequence[Step], python_kernels: Sequence[PythonKernel]) -> None:
        """Add the registrations that come next."""
        self._steps += steps
        self._python_kernels += python_kernels

    def change(self, problems: Problems, read: ReadChanges, is_own: bool) -> None:
        """Make the changes of a section; one that cannot be made is noted. is_own: of a file that the user named."""
        self._looked_through += len(self._steps) + len(self._python_kernels)
        if self._looked_through > MOST_LOOKED_THROUGH and read.changes:
            message = "the sections 'changes' of all files together take too long"
            hint = "write their changes in one section, in the last file"
            problems.add(ChangeProblem.TOO_MANY.value, message, read.changes[0].node, hint)
            return
        editor = HistoryEditor(self.result(), self._source, self._suggestions)
        for change in read.changes:
            _make(editor, problems, change, is_own)
        self._said = editor.result()
        self._steps, self._python_kernels = [*self._said.steps], [*self._said.python_kernels]

    def result(self) -> Declarations:
        """The declarations so far."""
        inherited = tuple(step for step in self._steps if id(step) in self._inherited)
        return self._said._replace(
            steps=tuple(self._steps), python_kernels=tuple(self._python_kernels), inherited_steps=inherited
        )


def change_declarations(
    declarations: Declarations,
    contexts: Sequence[FileContext],
    extended: int,
    source: StateSource | None,
    continued: Sequence[Step],
) -> Declarations:
    """Declarations after the changes of all files, each of the history before it.

    extended: how many files, which come first, are those that the user's own extend.
    source: the captured state that the history continues; continued: what was registered after it, before all files.
    A change that cannot be made is noted.
    """
    history = _History(declarations, source, continued)
    before = history.result()
    for number, context in enumerate(contexts, start=1):
        steps = python_kernels = 0
        for change in context.changes:
            history.add(
                context.steps[steps : change.steps], context.python_kernels[python_kernels : change.python_kernels]
            )
            history.change(context.problems, change, number > extended)
            steps, python_kernels = change.steps, change.python_kernels
        history.add(context.steps[steps:], context.python_kernels[python_kernels:])
        if number == extended:
            before = history.result()
    # and what a capture that the user named has of PyTorch
    there = frozenset(map(id, before.steps))
    inherited = frozenset(map(id, declarations.inherited_steps))
    later = (step for context in contexts[extended:] for step in context.steps if id(step) in inherited)
    steps_before = (*before.steps, *(step for step in later if id(step) not in there))
    changed = history.result()
    own, changes = contexts[extended:], changed.changes
    if changes is not None:
        changes = changes._replace(
            steps=(*before.steps, *(step for context in own for step in context.steps)),
            python_kernels=(*before.python_kernels, *(kernel for context in own for kernel in context.python_kernels)),
            without=before.without,
        )
    return changed._replace(unchanged=HistoryBefore(steps_before, before.without), changes=changes)


def _make(editor: HistoryEditor, problems: Problems, change: ReadChange, is_own: bool) -> None:
    try:
        editor.make(change.change, problems.span(change.node) if is_own else None)
    except ChangeError as error:
        node = next((node for name, node in change.names if name is error.about), change.node)
        problems.add(error.problem.value, str(error), node, error.hint)
