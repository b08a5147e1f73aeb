"""The embedded PyTorch states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dispatch_cli import bases
from dispatch_cli.bases import Description


@dataclass(frozen=True, slots=True)
class BasesReport:
    """bases: the newest PyTorch first."""

    REPORT: ClassVar[str] = "bases"

    bases: tuple[Description, ...]


def bases_report() -> BasesReport:
    """Every embedded state."""
    return BasesReport(tuple(bases.load(name).description for name in bases.names()))
