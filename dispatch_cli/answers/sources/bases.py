"""The embedded PyTorch states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dispatch_cli import bases
from dispatch_cli.bases import Description, overlay
from dispatch_cli.bases.overlay import OverlayDescription


@dataclass(frozen=True, slots=True)
class BasesReport:
    """The newest PyTorch first. overlays: what can be laid over some of the states."""

    REPORT: ClassVar[str] = "bases"

    bases: tuple[Description, ...]
    overlays: tuple[OverlayDescription, ...]


def bases_report() -> BasesReport:
    """Every embedded state, and every overlay."""
    overlays = tuple(overlay.load(name).description for name in bases.overlay_names())
    return BasesReport(tuple(bases.load(name).description for name in bases.names()), overlays)
