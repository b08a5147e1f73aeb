"""What a key-set expression comes to."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.keys.expression import KeyExpression
from dispatch_cli.engine.keys.named_sets import components_of, functionalities_of
from dispatch_cli.engine.keys.notes import ExpressionNote
from dispatch_cli.report.key_groups import KeyGroups, group_keys


class KeySetReport(NamedTuple):
    """keys: as PyTorch iterates them. highest: the key that a call with this set goes to; slot: the table's, as PyTorch
    picks it. raw: PyTorch's ``raw_repr``. functionalities, backends: the bits, each by its name.
    """

    universe: str
    expression: str
    reading: str
    keys: KeyGroups
    highest: str
    raw: int
    functionalities: tuple[str, ...]
    backends: tuple[str, ...]
    text: str
    notes: tuple[ExpressionNote, ...]


def key_set_report(expression: KeyExpression) -> KeySetReport:
    """The report of an expression that was read."""
    keys = expression.keys
    universe = keys.layout.universe
    return KeySetReport(
        universe=universe.name,
        expression=expression.text,
        reading=expression.reading,
        keys=group_keys(universe, keys),
        highest=keys.highest_priority(),
        raw=keys.bits,
        functionalities=functionalities_of(keys),
        backends=components_of(keys),
        text=str(keys),
        notes=expression.notes,
    )
