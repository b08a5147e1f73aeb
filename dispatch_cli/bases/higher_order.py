"""Higher-order operators as records of a state file."""

from __future__ import annotations

from typing import Any

from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplKind

_FACTS = ("fallthrough", "redispatches", "not_implemented", "deferred_error", "raises", "errors")
"""Facts in an implementation's record that are there only where they are not the default."""


def record_of(operator: HigherOrderOperator) -> dict[str, Any]:
    """The record of an operator."""
    return {
        "name": operator.name,
        "rules": [_impl_record(impl) for impl in operator.impls],
        "side_effect": operator.side_effect,
    }


def operator_of(record: dict[str, Any]) -> HigherOrderOperator:
    """The operator of a record."""
    impls = tuple(
        HigherOrderImpl(ImplKind(kind), name, kernel, **(_facts(facts[0]) if facts else {}))
        for kind, name, kernel, *facts in record["rules"]
    )
    return HigherOrderOperator(record["name"], impls, record["side_effect"], is_own=False, of_pytorch=True)


def _facts(record: dict[str, Any]) -> dict[str, Any]:
    errors = record.get("errors")
    return record if errors is None else {**record, "errors": tuple((place, text) for place, text in errors)}


def _impl_record(impl: HigherOrderImpl) -> list[Any]:
    defaults = HigherOrderImpl._field_defaults
    facts = {fact: getattr(impl, fact) for fact in _FACTS if getattr(impl, fact) != defaults[fact]}
    return [impl.kind.value, impl.name, impl.kernel, *([facts] if facts else [])]
