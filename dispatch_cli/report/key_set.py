"""What a key-set expression comes to."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.keys.expression import KeyExpression
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.keys.named_sets import components_of, functionalities_of
from dispatch_cli.engine.keys.notes import ExpressionNote
from dispatch_cli.report.key_groups import KeyGroups, group_keys


class KeySet(NamedTuple):
    """A key set: its keys as PyTorch iterates them, and its bits, which can name more than its keys do.

    raw: PyTorch's ``raw_repr``, 64 bits in hexadecimal.
    """

    keys: tuple[str, ...]
    functionalities: tuple[str, ...]
    backends: tuple[str, ...]
    raw: str


def key_set_of(keys: DispatchKeySet) -> KeySet:
    """A key set in parts."""
    return KeySet(tuple(keys), functionalities_of(keys), components_of(keys), hexadecimal(keys.bits))


def hexadecimal(bits: int) -> str:
    """64 bits in hexadecimal."""
    return f"0x{bits:016x}"


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
