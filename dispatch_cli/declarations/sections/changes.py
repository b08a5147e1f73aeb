"""The section ``changes``: what is left out of the history before it, or moved in it."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.declarations.fields import Values, read_record, read_records, text_of
from dispatch_cli.declarations.formats.change_format import CHANGE, MOST_NUMBER, REGISTRATION
from dispatch_cli.declarations.formats.kernel_format import CATCH_ALL
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.sections.context import FileContext, ReadChange, read_operator_name
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
from dispatch_cli.model.declarations import Declarations
from dispatch_cli.model.text.suggest import FewSuggestions
from dispatch_cli.model.universe import CATCH_ALL as CATCH_ALL_KEY

MOST_SECTIONS = 16
"""Files with changes, each of which looks through all registrations."""


def read_changes(context: FileContext, section: Node) -> None:
    """Read the section ``changes``; they are made when all files are read."""
    for node, values in read_records(context.problems, section, CHANGE):
        if (change := _change(context, node, values)) is not None:
            context.changes.append(ReadChange(change, node))


def _change(context: FileContext, node: Node, values: Values) -> HistoryChange | None:
    names = ("remove", "move", "before", "after")
    removed, moved, before, after = (_registration(context, values.get(name)) for name in names)
    if "move" not in values:
        return None if removed is None else Removal(removed)
    if values.keys().isdisjoint(("before", "after")):
        message = "a registration is moved before another one, or after it: one of 'before' and 'after'"
        context.problems.add("missing-field", message, node)
    target = before or after
    return None if moved is None or target is None else Reordering(moved, target, before is None)


def _registration(context: FileContext, node: Node | None) -> RegistrationName | None:
    """The name of a registration; None, noting why, where it is none."""
    problems = context.problems
    values = None if node is None else read_record(problems, node, REGISTRATION)
    if values is None or node is None:
        return None
    field = next((name for name in ("fallback", "dispatch_key", "python_dispatch") if name in values), None)
    if field is None:
        message = "a registration of an operator needs one of the fields 'dispatch_key' and 'python_dispatch'"
        hint = "definitions are not removed or moved: leave them out of the file that has them"
        problems.add("missing-field", message, node, hint)
        return None
    operator = read_operator_name(problems, values.get("operator"))
    key = _key(context, values.get(field), catch_all=field == "dispatch_key")
    kernel = text_of(problems, values.get("kernel"))
    number = _number(problems, values.get("number"))
    if key is None or (operator is None and field != "fallback") or ("number" in values and number is None):
        return None
    return RegistrationName(operator, key, field == "python_dispatch", kernel, number)


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


def change_declarations(
    declarations: Declarations, contexts: Sequence[FileContext], source: StateSource | None
) -> Declarations:
    """Declarations after the changes of all files, one section after the other; one that cannot be made is noted.

    source: the captured state that the history continues.
    """
    suggestions = FewSuggestions()
    changing = [context for context in contexts if context.changes]
    for number, context in enumerate(changing):
        problems = context.problems
        if number == MOST_SECTIONS:
            message = f"more than {MOST_SECTIONS} files change registrations"
            hint = "write the changes in one file"
            problems.add(ChangeProblem.TOO_MANY.value, message, context.changes[0].node, hint)
            break
        editor = HistoryEditor(declarations, source, suggestions)
        for change, node in context.changes:
            try:
                editor.make(change, problems.span(node))
            except ChangeError as error:  # noqa: PERF203 (each is noted)
                problems.add(error.problem.value, str(error), node, error.hint)
        declarations = editor.result()
    return declarations
