"""The answer to an error text that is not about a slot of a dispatch table: its meaning, and advice.

A text may name no operator at all: then it is about a namespace, a device, a kernel, or a rule of registration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dispatch_cli.answers.table.registrations.report import OperatorRegistrations, registrations_report
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.report.error_text import ErrorText
from dispatch_cli.report.messages.kinds import TextKind
from dispatch_cli.report.messages.table import MESSAGES, filled
from dispatch_cli.report.other_errors import OtherError, is_read_by_author, other_errors

TELL_THE_AUTHOR = (
    "A caller cannot fix this. If the code is not yours, install a release of its package that matches the installed "
    "PyTorch, or show this text to its authors."
)
"""The advice to a user who cannot fix the error."""


@dataclass(frozen=True, slots=True)
class MessageReport:
    """An error or a warning of PyTorch, in words.

    over, over_files, over_assumed: as in `ExplainReport`. file: where it was read from; line: where it begins, from 1.
    operator, key: None where the text and its kind name none. details: what else it names. says: the kind in a clause.
    means: what PyTorch means. user, author: what helps who calls the operator, and who wrote or registers it; user is
    empty where its author ran a test of it.
    warning: it is no error. source: what of PyTorch prints it. registrations: of the operator, where it is known.
    others: further errors of the text.
    """

    REPORT: ClassVar[str] = "message"

    universe: str
    over: tuple[str, ...]
    over_files: tuple[str, ...]
    over_assumed: bool
    file: str
    line: int
    kind: TextKind
    operator: str | None
    key: str | None
    details: tuple[tuple[str, str], ...]
    says: str
    means: str
    user: tuple[str, ...]
    author: tuple[str, ...]
    warning: bool
    source: str
    registrations: OperatorRegistrations | None
    others: tuple[OtherError, ...]


def message_report(state: State, over_assumed: bool, file: str, errors: list[ErrorText]) -> MessageReport:
    """The first of *errors*, with what the declarations have of its operator."""
    first = errors[0]
    message = MESSAGES[first.kind]
    names = (first.operator, first.key, first.details)
    user = tuple(filled(one, *names) for one in message.user) or (TELL_THE_AUTHOR,)
    return MessageReport(
        universe=state.dispatcher.universe.name,
        over=state.over,
        over_files=state.over_files,
        over_assumed=over_assumed,
        file=file,
        line=first.line,
        kind=first.kind,
        operator=first.operator,
        key=first.key,
        details=first.details,
        says=filled(message.says, *names),
        means=filled(message.means, *names),
        user=() if is_read_by_author(errors) else user,
        author=tuple(filled(one, *names) for one in message.author),
        warning=message.warning,
        source=message.source,
        registrations=_registrations(state, first.operator),
        others=other_errors(errors),
    )


def _registrations(state: State, operator: str | None) -> OperatorRegistrations | None:
    name = None if operator is None else OperatorName.parse(operator)
    if name is None or name not in state.dispatcher:
        return None
    return next(registrations_report(state, [name]).operators)
