"""What a captured state must offer, so that a dispatcher can continue it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dispatch_cli.model.captured import CapturedHeader, CapturedOperator
from dispatch_cli.model.higher_order import HigherOrderOperator, ModeType


class StateSource(Protocol):
    """A captured state that gives out its operators one at a time."""

    @property
    def name(self) -> str:
        """What the state is called, such as ``torch-2.15``."""

    @property
    def names(self) -> Sequence[str]:
        """The names of its operators."""

    def operator(self, name: str) -> CapturedOperator:
        """One operator; its live table is in order."""

    def header(self, name: str) -> CapturedHeader:
        """The same operator, without signatures, schemas as values, and flags."""

    def python_kernels(self, name: str) -> Sequence[Sequence[str]]:
        """The kernels of the Python dispatcher for the same operator: key and function name."""

    @property
    def higher_order_operators(self) -> tuple[HigherOrderOperator, ...]:
        """Its higher-order operators."""

    @property
    def modes(self) -> tuple[ModeType, ...]:
        """What is known of its mode types."""
