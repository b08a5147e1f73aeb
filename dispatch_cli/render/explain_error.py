"""What an error text says, and how it differs from what is explained, in words."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.render.document import Column
from dispatch_cli.render.words import keys_label, plural, short_kernel, some_of
from dispatch_cli.report.error_text import DumpLine, ErrorText
from dispatch_cli.report.explain import ExplainReport
from dispatch_cli.report.explain_error import DifferenceKind, ErrorReport, NamedError, TextDifference
from dispatch_cli.report.messages.kinds import TextKind
from dispatch_cli.report.messages.table import MESSAGES, filled


def unknown_operator_text(error: ErrorText, over: tuple[str, ...]) -> str:
    """Why an error can not be explained: its operator is not here, and the text does not show its registrations."""
    says = filled(MESSAGES[error.kind].says, error.operator, error.key, ())
    return f"the text says: {says}. But {error.operator} is not in {', '.join(over) or 'the files'}."


def error_sentences(report: ExplainReport, error: ErrorReport) -> Iterator[str]:
    """What was found where, and whether it is so here."""
    key = report.what.key
    source = "standard input" if error.file == "-" else error.file
    yield f"{source}, line {error.line}: {filled(MESSAGES[error.kind].says, error.operator, key, ())}"
    here = ", ".join(report.over) or "these files"
    if error.operator_from_text:
        shown = "what the text itself shows" if error.shows_registrations else "what the error means"
        yield f"{error.operator} is not in {here}: {shown} is explained. Files that declare it would say more."
    if error.key is None:
        yield f"The text names no key; {key} is explained."
    if not error.reproduced:
        python = error.kind is TextKind.NO_PYTHON_KERNEL
        here_now = f"with the Python dispatcher, {key} gets something else" if python else f"{key} holds something else"
        yield (
            f"It is not so here: {here_now}. The build that printed the text is another one, or it "
            "lacks registrations, or has some, that are not declared here."
        )
    if error.others:
        yield f"The text has other errors too: {others_label(error.others)}."
    if error.differences is None:
        return
    printed = (
        f"The table in the text ({plural(error.table_lines, 'line')})"
        if error.table_lines
        else "The list of keys in the text"
    )
    if not error.differences:
        # a table that was made from the text says the same, which tells nothing
        if not error.operator_from_text:
            yield f"{printed} says what the table here says."
    else:
        count = sum(len(one.keys) for one in error.differences)
        yield f"{printed} differs from the one here at {plural(count, 'key')}:"


def others_label(others: tuple[NamedError, ...]) -> str:
    """Further errors of a text: operator and key, or the kind where one names no operator."""
    return some_of(
        tuple(
            one.kind.value if one.operator is None else f"{one.operator} at {one.key}" if one.key else one.operator
            for one in others
        )
    )


def _cells(difference: TextDifference, short: bool) -> tuple[str, str, str]:
    """Keys, what the text says, what is here."""
    keys = keys_label(difference.keys, short)
    named = len(difference.keys) == 1 or difference.kind is DifferenceKind.KERNEL
    there, here = _line(difference.there, named), _line(difference.here, named)
    match difference.kind:
        case DifferenceKind.ONLY_THERE:
            return keys, there or "something", "nothing"
        case DifferenceKind.ONLY_HERE:
            return keys, "nothing", here or "something"
        case DifferenceKind.NO_KEY:
            return keys, there or "something", "no such key"
        case DifferenceKind.RULE | DifferenceKind.KERNEL:
            return keys, there, here


def _line(line: DumpLine | None, named: bool) -> str:
    if line is None:
        return ""
    kernel = f"{short_kernel(line.kernel)} " if named else ""
    return f"{'fallthrough ' if line.fallthrough else ''}{kernel}[{line.rule.dump_text}]"


DIFFERENCES: list[Column[TextDifference]] = [
    Column("Key", lambda one, short: _cells(one, short)[0]),
    Column("In the text", lambda one, short: _cells(one, short)[1]),
    Column("Here", lambda one, short: _cells(one, short)[2]),
]
