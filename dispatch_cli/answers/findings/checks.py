"""Report on the checks: all of them, or some, with their documentation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.checks.check import Group, Need
from dispatch_cli.checks.running.selection import choose
from dispatch_cli.model.names import Severity
from dispatch_cli.model.settings import Selector


class CheckEntry(NamedTuple):
    """A check; the fields are those of `checks.check.Check`."""

    id: str
    code: str
    group: Group
    title: str
    severity: Severity
    default: bool
    needs: tuple[Need, ...]
    documentation: str


@dataclass(frozen=True, slots=True)
class ChecksReport:
    """checks: in the order of their codes."""

    REPORT: ClassVar[str] = "checks"

    checks: tuple[CheckEntry, ...]


def checks_report(selectors: Sequence[Selector]) -> ChecksReport:
    """The checks that any of the selectors chooses; all without one. Errors: UnknownCheck."""
    ids = frozenset[str]().union(*(choose(CHECKS, selector) for selector in selectors))
    chosen = [check for check in CHECKS if not selectors or check.id in ids]
    return ChecksReport(
        tuple(
            CheckEntry(
                *(check.id, check.code, check.group, check.title, check.severity, check.default, check.needs),
                check.documentation.strip(),
            )
            for check in chosen
        )
    )


class DocPart(NamedTuple):
    """A part of a check's documentation: a paragraph, or an example. code: it is YAML."""

    text: str
    code: bool


def parts(documentation: str) -> tuple[DocPart, ...]:
    """The parts of a documentation, in order; the first is what the check holds up, in a sentence."""
    doc_parts = []
    for part in re.split(r"^(```yaml\n.*?^```)$", documentation, flags=re.M | re.S):
        if part.startswith("```yaml"):
            doc_parts.append(DocPart(part.removeprefix("```yaml\n").removesuffix("```").rstrip("\n"), True))
        else:
            doc_parts += [DocPart(paragraph, False) for paragraph in re.split(r"\n{2,}", part.strip()) if paragraph]
    return tuple(doc_parts)
