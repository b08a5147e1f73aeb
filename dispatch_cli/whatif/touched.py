"""Extent of a change: what it can concern."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.model.names import OperatorName


class Touched(NamedTuple):
    """Extent of a change. operators: by name. keys: of backend fallbacks, which concern every operator."""

    operators: frozenset[OperatorName] = frozenset()
    keys: frozenset[str] = frozenset()

    def __or__(self, other: Touched) -> Touched:
        return Touched(self.operators | other.operators, self.keys | other.keys)
