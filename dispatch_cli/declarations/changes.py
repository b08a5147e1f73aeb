"""The section ``changes``: what is left out of the history before it, or moved in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dispatch_cli.declarations.change_format import CHANGE, REGISTRATION
from dispatch_cli.declarations.context import FileContext, ReadChanges
from dispatch_cli.declarations.fields import Values, is_true, read_record, read_records, text_of
from dispatch_cli.declarations.kernel_format import CATCH_ALL
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.schemas import read_operator_name
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model.captured import StateSource
from dispatch_cli.model.change import ChangeError, HistoryChange, RegistrationName, Removal, Reordering
from dispatch_cli.model.declarations import Declarations
from dispatch_cli.model.history_editor import HistoryEditor
from dispatch_cli.model.universe import CATCH_ALL as CATCH_ALL_KEY

_OF_MOVES = ("before", "after", "block")
_NUMBER = 1_000_000


def read_changes(context: FileContext, section: Node) -> None:
    """Read the section ``changes``; what it names is looked for when all files are read."""
    problems = context.problems
    found = []
    for node, values in read_records(problems, section, CHANGE):
        change = _change(context, node, values)
        if change is not None:
            found.append((change, node))
    context.changes.append(ReadChanges(tuple(found), len(context.steps), len(context.python_kernels)))


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
    return Reordering(which, before, after, is_true(values.get("block")) is True)


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
        problems.add("bad-value" if keys else "missing-field", message, node)
        return None
    operator = None if is_fallback else read_operator_name(problems, values.get("operator"))
    key = _key(context, values.get(keys[0]), catch_all=keys[0] == "dispatch_key")
    kernel, place = (text_of(problems, values.get(name)) for name in ("kernel", "place"))
    number = _number(problems, values.get("number"))
    if key is None or (operator is None and not is_fallback) or ("number" in values and number is None):
        return None
    return RegistrationName(operator, key, "python_dispatch" in values, kernel, place, number)


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
    if node.plain and text.isascii() and text.isdecimal() and len(text) < len(str(_NUMBER)) and int(text) > 0:
        return int(text)
    problems.add("bad-value", "expected a number from 1", node)
    return None


class _HistoryPart(NamedTuple):
    """What one file says until a section of changes, or after the last one."""

    context: FileContext
    steps: slice
    python_kernels: slice
    changes: ReadChanges | None


def change_declarations(
    said: Declarations, contexts: Sequence[FileContext], source: StateSource | None
) -> Declarations:
    """Declarations after the changes of all files, each of the history before it.

    source: the captured state that the history continues. A change that cannot be made is noted.
    """
    inherited = frozenset(map(id, said.inherited_steps))
    after = said._replace(steps=(), python_kernels=(), inherited_steps=())
    for context, steps, python_kernels, changes in _parts(contexts):
        after = after._replace(
            steps=(*after.steps, *context.steps[steps]),
            python_kernels=(*after.python_kernels, *context.python_kernels[python_kernels]),
        )
        if changes is not None:
            after = _changed(after, context.problems, changes, source)
    return after._replace(inherited_steps=tuple(step for step in after.steps if id(step) in inherited))


def _parts(contexts: Sequence[FileContext]) -> list[_HistoryPart]:
    found = []
    for context in contexts:
        steps = python_kernels = 0
        for one in context.changes:
            found.append(_HistoryPart(context, slice(steps, one.steps), slice(python_kernels, one.python_kernels), one))
            steps, python_kernels = one.steps, one.python_kernels
        found.append(_HistoryPart(context, slice(steps, None), slice(python_kernels, None), None))
    return found


def _changed(said: Declarations, problems: Problems, read: ReadChanges, source: StateSource | None) -> Declarations:
    editor = HistoryEditor(said, source)
    for change, node in read.changes:
        _make(editor, problems, change, node)
    return editor.result()


def _make(editor: HistoryEditor, problems: Problems, change: HistoryChange, node: Node) -> None:
    try:
        editor.make(change)
    except ChangeError as error:
        problems.add("unknown-registration", str(error), node, error.hint)
