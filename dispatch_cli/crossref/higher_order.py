"""Higher-order operators as a PyTorch has them, for the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dispatch_cli.model.higher_order import FALLTHROUGH, HigherOrderOperator, HigherOrderRule, RuleKind

_BY_NAME = {
    "dispatch": RuleKind.DISPATCH,
    "modes": RuleKind.MODE,
    "subclasses": RuleKind.SUBCLASS,
    "transforms": RuleKind.TRANSFORM,
}
_ALONE = {"autograd": RuleKind.AUTOGRAD, "functionalize": RuleKind.FUNCTIONALIZE}


def operator_of(data: Mapping[str, Any]) -> HigherOrderOperator:
    """An operator of the probe's answer."""
    return HigherOrderOperator(data["name"], tuple(_rules(data)), data["side_effect"])


def _rules(data: Mapping[str, Any]) -> Iterator[HigherOrderRule]:
    for field, kind in _BY_NAME.items():
        for name, rule in data[field].items():
            yield _rule(kind, name, rule)
    for field, kind in _ALONE.items():
        if data[field] is not None:
            yield _rule(kind, "", data[field])
    for key in data["fallthrough"]:
        yield HigherOrderRule(RuleKind.DISPATCH, key, FALLTHROUGH, fallthrough=True)


def _rule(kind: RuleKind, name: str, rule: Any) -> HigherOrderRule:
    if isinstance(rule, str):
        return HigherOrderRule(kind, name, rule)
    return HigherOrderRule(kind, name, rule["kernel"], deferred_error=rule.get("deferred_error"))
