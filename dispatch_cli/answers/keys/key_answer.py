"""Answer about the key or the key set that a user writes."""

from __future__ import annotations

from dispatch_cli.answers.keys.key import KeyReport, is_key, key_report
from dispatch_cli.answers.keys.key_set import KeySetReport, key_set_report
from dispatch_cli.engine.keys.expression import evaluate
from dispatch_cli.model.universe import Universe


def key_answer(universe: Universe, expression: str) -> KeyReport | KeySetReport:
    """The report of a key, or of the key set that an expression means. Errors: InputError."""
    name = universe.key_named(expression.strip())
    return key_report(universe, name) if is_key(universe, name) else key_set_report(evaluate(universe, name))
