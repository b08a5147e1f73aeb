"""How PyTorch may reason about what an operator aliases and mutates."""

from __future__ import annotations

from enum import Enum


class AliasAnalysisKind(Enum):
    """What PyTorch assumes about an operator's aliasing; the value is the name that a dump shows."""

    FROM_SCHEMA = "FROM_SCHEMA"
    CONSERVATIVE = "CONSERVATIVE"
    PURE_FUNCTION = "PURE_FUNCTION"
