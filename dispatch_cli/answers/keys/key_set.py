"""The key or the key set that an expression means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dispatch_cli.answers.keys.key import KeyReport, is_key, key_report
from dispatch_cli.answers.shared.key_set import hexadecimal
from dispatch_cli.engine.keys.expression import ExpressionNote, KeyExpression, evaluate
from dispatch_cli.engine.keys.keyset import components_of, functionalities_of
from dispatch_cli.model.universe import Universe


@dataclass(frozen=True, slots=True)
class KeySetReport:
    """keys: as PyTorch iterates them. highest: the key that a call with this set goes to; slot: the table's, as PyTorch
    picks it. raw: PyTorch's ``raw_repr``. functionalities, backends: the bits, each by its name. printed: as PyTorch
    prints it.
    """

    REPORT: ClassVar[str] = "key-set"

    universe: str
    expression: str
    reading: str
    keys: tuple[str, ...]
    highest: str
    functionalities: tuple[str, ...]
    backends: tuple[str, ...]
    raw: str
    printed: str
    notes: tuple[ExpressionNote, ...]


def key_answer(universe: Universe, expression: str) -> KeyReport | KeySetReport:
    """The report of a key, or of the key set that an expression means. Errors: InputError."""
    name = universe.key_named(expression.strip())
    return key_report(universe, name) if is_key(universe, name) else key_set_report(evaluate(universe, name))


def key_set_report(expression: KeyExpression) -> KeySetReport:
    """The report of an expression that was read."""
    keys = expression.keys
    return KeySetReport(
        universe=keys.layout.universe.name,
        expression=expression.text,
        reading=expression.reading,
        keys=tuple(keys),
        highest=keys.highest_priority(),
        functionalities=functionalities_of(keys),
        backends=components_of(keys),
        raw=hexadecimal(keys.bits),
        printed=str(keys),
        notes=expression.notes,
    )
