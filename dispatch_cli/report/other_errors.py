"""The errors of a text beside the one that is explained, and what they have to do with it."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.report.error_chain import ChainLink, link_between
from dispatch_cli.report.error_text import ErrorText
from dispatch_cli.report.messages.kinds import TextKind
from dispatch_cli.report.messages.table import MESSAGES, filled


class OtherError(NamedTuple):
    """A further error of a text.

    operator, key: None where it names none. line: where it begins, from 1. says: its kind in a clause. link: what it
    has to do with the explained one; None where nothing shows that.
    """

    kind: TextKind
    operator: str | None
    key: str | None
    line: int
    says: str
    link: ChainLink | None


def other_errors(errors: list[ErrorText]) -> tuple[OtherError, ...]:
    """All but the first of *errors*, which is the one that is explained; what reads the same is named once."""
    first = errors[0]
    found = {one.says: one for one in reversed([_other(first, one) for one in errors[1:]])}
    return tuple(one for one in reversed(found.values()) if one.says != _other(first, first).says)


def _other(first: ErrorText, other: ErrorText) -> OtherError:
    message = MESSAGES[other.kind]
    same = other.place == first.place and message.wraps
    link = ChainLink.RESULT if same else link_between(first.place, other.place)
    says = filled(message.says, other.operator, other.key, other.details)
    return OtherError(other.kind, other.operator, other.key, other.line, says, link)


def is_read_by_author(errors: list[ErrorText]) -> bool:
    """Whether a test of operators printed the text: who runs one is the author, and no caller."""
    return any(MESSAGES[one.kind].wraps for one in errors)
