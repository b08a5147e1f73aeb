"""Report on problems of the input: the answer of any command that cannot use its input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dispatch_cli.model.problem import Problem


@dataclass(frozen=True, slots=True)
class ProblemsReport:
    """Every problem that was found, in order of place; nothing else was done."""

    REPORT: ClassVar[str] = "problems"

    problems: tuple[Problem, ...]
