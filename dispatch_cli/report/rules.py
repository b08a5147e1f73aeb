"""What the checks are, as a report: the list of them, or the documentation of some."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dispatch_cli.checks import CHECKS
from dispatch_cli.checks.check import Check
from dispatch_cli.checks.selection import choose
from dispatch_cli.model.settings import Selector

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class RulesReport:
    """checks: in the order of their codes. whole: whether the documentation is asked for, and not the list."""

    checks: tuple[Check, ...]
    whole: bool


def rules_report(selectors: Sequence[Selector]) -> RulesReport:
    """The checks that any of the selectors chooses; the list of all without one. Errors: UnknownCheck."""
    if not selectors:
        return RulesReport(CHECKS, whole=False)
    ids = frozenset[str]().union(*(choose(CHECKS, selector) for selector in selectors))
    return RulesReport(tuple(check for check in CHECKS if check.id in ids), whole=True)


@dataclass(frozen=True, slots=True)
class DocPart:
    """A part of a check's documentation: a paragraph, or an example. code: it is YAML."""

    text: str
    code: bool


def blocks(documentation: str) -> tuple[DocPart, ...]:
    """The parts of a documentation, in order; the first is what holds up, in a sentence."""
    found = []
    for part in re.split(r"^(```yaml\n.*?^```)$", documentation.strip(), flags=re.M | re.S):
        if part.startswith("```yaml"):
            found.append(DocPart(part.removeprefix("```yaml\n").removesuffix("```").rstrip("\n"), True))
        else:
            found += [DocPart(paragraph, False) for paragraph in re.split(r"\n{2,}", part.strip()) if paragraph]
    return tuple(found)
