"""The section ``changes``: what is left out of the history before it, or moved in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dispatch_cli.declarations.fields import Values, read_record, read_records
from dispatch_cli.declarations.formats.format_types import CATCH_ALL, ONE_KEY, TEXT, Field, Record, Type, record
from dispatch_cli.declarations.sections.context import FileContext, read_operator_name
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model.captured import StateSource
from dispatch_cli.model.changes.change import (
    ChangeError,
    HistoryChange,
    RegistrationName,
    Removal,
    Reordering,
)
from dispatch_cli.model.changes.history_editor import HistoryEditor
from dispatch_cli.model.declarations import Declarations
from dispatch_cli.model.universe import CATCH_ALL as CATCH_ALL_KEY

MOST_SEARCHED = 10_000_000
"""Steps that the changes of a run go through: each file with changes, and each change, all of the history."""
_A_NUMBER = Type("a number from 1", (Scalar,), {"type": "integer", "minimum": 1, "maximum": 999_999})
_A_REGISTRATION = record("registration", "a registration")
REGISTRATION = Record(
    "registration",
    "a registration",
    "Names a registration of a file or of the embedded state. `kernel` and `number` are needed only if there are "
    "several at the key.",
    (
        Field("operator", TEXT, "The operator of a kernel, such as `aten::add.Tensor`.", excludes=("fallback",)),
        Field(
            "dispatch_key",
            ONE_KEY,
            "With `operator`: the key at which the kernel is registered, or `CatchAll`.",
            needs=("operator",),
        ),
        Field(
            "python_dispatch",
            ONE_KEY,
            "With `operator`, instead of `dispatch_key`: the key of a kernel of the Python dispatcher (`py_impl`).",
            needs=("operator",),
            excludes=("dispatch_key",),
        ),
        Field("fallback", ONE_KEY, "Instead of `operator`: the key of a backend fallback, as it was registered."),
        Field("kernel", TEXT, "The kernel's name or debug string; `fallthrough` for a fallthrough."),
        Field("number", _A_NUMBER, "Which of those that fit, in the order in which they were registered."),
    ),
    ("operator", "fallback"),
)
CHANGE = Record(
    "change",
    "a change",
    "One change of what files and the embedded state register: of kernels, backend fallbacks, and kernels of the "
    "Python dispatcher, not of definitions and of higher-order operators. Changes are made when all files are read; "
    "those of a section name registrations as they are before the first of them. `check-invariants` looks at their "
    "operators as at those that the file registers something for. "
    "What it finds only with the changes is at the place of the change; for one of a backend fallback, it looks at "
    "all operators.",
    (
        Field("remove", _A_REGISTRATION, "The registration is left out, as if it had never been made."),
        Field(
            "move",
            _A_REGISTRATION,
            "The registration is made at another time. Registrations of embedded states have no order.",
            excludes=("remove",),
        ),
        Field("before", _A_REGISTRATION, "With `move`: it is made right before this registration.", needs=("move",)),
        Field(
            "after",
            _A_REGISTRATION,
            "With `move`: it is made right after this registration.",
            needs=("move",),
            excludes=("before",),
        ),
    ),
    ("remove", "move"),
)


def read_changes(context: FileContext, section: Node) -> None:
    """Read the section ``changes``; they are made when all files are read."""
    for values in read_records(context.problems, section, CHANGE):
        if (change := _change(context, values)) is not None:
            context.changes.append((change, values.node))


def _change(context: FileContext, values: Values) -> HistoryChange | None:
    names = ("remove", "move", "before", "after")
    removed, moved, before, after = (_registration(context, values.get(name)) for name in names)
    if "move" not in values:
        return None if removed is None else Removal(removed)
    if values.keys().isdisjoint(("before", "after")):
        message = "a registration is moved before another one, or after it: one of 'before' and 'after'"
        context.problems.add("missing-field", message, values.node)
    target = before or after
    return None if moved is None or target is None else Reordering(moved, target, before is None)


def _registration(context: FileContext, node: Node | None) -> RegistrationName | None:
    """The name of a registration; None, noting why, where it is none."""
    problems = context.problems
    values = read_record(problems, node, REGISTRATION)
    if values is None or node is None:
        return None
    field = next((name for name in ("fallback", "dispatch_key", "python_dispatch") if name in values), None)
    if field is None:
        message = "a registration of an operator needs one of the fields 'dispatch_key' and 'python_dispatch'"
        hint = "definitions are not removed or moved: leave them out of the file that has them"
        problems.add("missing-field", message, node, hint)
        return None
    operator, at, key = read_operator_name(problems, values.get("operator")), values.get(field), None
    if type(at) is Scalar:
        is_catch_all = field == "dispatch_key" and at.text == CATCH_ALL
        key = CATCH_ALL_KEY if is_catch_all else context.keys.single(problems, at)
    kernel, number = values.text("kernel"), _number(values)
    if key is None or (operator is None and field != "fallback") or ("number" in values and number is None):
        return None
    return RegistrationName(operator, key, field == "python_dispatch", kernel, number)


def _number(values: Values) -> int | None:
    node = values.get("number")
    if type(node) is not Scalar:
        return None
    if node.plain and re.fullmatch("[1-9][0-9]{0,5}", node.text):
        return int(node.text)
    values.problems.add("bad-value", "expected a number from 1 to 999,999", node)
    return None


def change_declarations(
    declarations: Declarations, contexts: Sequence[FileContext], source: StateSource | None
) -> Declarations:
    """Declarations after the changes of all files, one section after the other; one that cannot be made is noted.

    source: the captured state that the history continues.
    """
    searched = 0
    for context in contexts:
        if not context.changes:
            continue
        problems = context.problems
        editor = HistoryEditor(declarations, source)
        searched += len(declarations.steps)
        for change, node in context.changes:
            searched += len(declarations.steps)
            if searched > MOST_SEARCHED:
                problems.add("too-many-changes", "there are too many changes for a history of this length", node)
                return declarations
            try:
                editor.make(change, problems.span(node))
            except ChangeError as error:
                problems.add(error.code, str(error), node, error.hint)
        declarations = editor.result()
    return declarations
