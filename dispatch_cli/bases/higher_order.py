"""Higher-order operators as records of a state file."""

from __future__ import annotations

from typing import Any

from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplKind

_FACTS = ("fallthrough", "redispatches", "not_implemented", "deferred_error", "raises", "errors")
"""What a rule's record says only where it is not the default."""


def record_of(operator: HigherOrderOperator) -> dict[str, Any]:
    """The record of an operator."""
    return {
        "name": operator.name,
        "rules": [_rule_record(rule) for rule in operator.rules],
        "side_effect": operator.side_effect,
    }


def operator_of(record: dict[str, Any]) -> HigherOrderOperator:
    """The operator of a record."""
    rules = tuple(
        HigherOrderImpl(ImplKind(kind), name, kernel, **(_facts(facts[0]) if facts else {}))
        for kind, name, kernel, *facts in record["rules"]
    )
    return HigherOrderOperator(record["name"], rules, record["side_effect"])


def _facts(record: dict[str, Any]) -> dict[str, Any]:
    errors = record.get("errors")
    return record if errors is None else {**record, "errors": tuple((place, text) for place, text in errors)}


def _rule_record(rule: HigherOrderImpl) -> list[Any]:
    defaults = HigherOrderImpl._field_defaults
    facts = {fact: getattr(rule, fact) for fact in _FACTS if getattr(rule, fact) != defaults[fact]}
    return [rule.kind.value, rule.name, rule.kernel, *([facts] if facts else [])]
