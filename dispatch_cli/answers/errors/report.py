"""The answer to a pasted error text, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.errors.conclude import Fact
from dispatch_cli.answers.errors.printed import TextVersion
from dispatch_cli.answers.explain.report import ExplainReport
from dispatch_cli.answers.shared.report_parts import StartsFrom


class OtherError(NamedTuple):
    """A further error of a text.

    operator, key: None where it names none. line: where it begins, from 1. says: its kind in a clause.
    """

    kind: str
    operator: str | None
    key: str | None
    line: int
    says: str


@dataclass(frozen=True, slots=True)
class ErrorReport(StartsFrom):
    """The answer to an error or a warning of PyTorch.

    file: where the text was read from. line, kind, operator, key: of the error that is explained, the line from 1;
    operator and key are None where the text and its kind name none. printed_key: the key as the text writes it.
    backend_name: its name of PrivateUse1. details: other names in it. warning: it is no error. says: the kind in a
    clause. means: PyTorch's meaning. facts: about the slot. user, author: advice for who calls the operator, and for
    who wrote or registers it, the best first. version: of the text. reproduced: the state holds what the text says;
    None for a text about no slot, and where it is not known. explained: the slot, as `explain` explains it; only where
    the state holds what the text says. others: further errors of the text.
    """

    REPORT: ClassVar[str] = "error"

    file: str
    line: int
    kind: str
    operator: str | None
    key: str | None
    printed_key: str | None
    backend_name: str | None
    details: tuple[tuple[str, str], ...]
    warning: bool
    says: str
    means: str
    facts: tuple[Fact, ...]
    user: tuple[str, ...]
    author: tuple[str, ...]
    version: TextVersion
    reproduced: bool | None
    explained: ExplainReport | None
    others: tuple[OtherError, ...]
