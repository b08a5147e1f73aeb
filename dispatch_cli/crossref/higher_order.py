"""Higher-order operators as a PyTorch has them, for the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dispatch_cli.model.higher_order import FALLTHROUGH, HigherOrderImpl, HigherOrderOperator, ImplKind

_BY_NAME = {
    "dispatch": ImplKind.DISPATCH,
    "modes": ImplKind.MODE,
    "subclasses": ImplKind.SUBCLASS,
    "transforms": ImplKind.TRANSFORM,
}
_ALONE = {"autograd": ImplKind.AUTOGRAD, "functionalize": ImplKind.FUNCTIONALIZE}


def operator_of(data: Mapping[str, Any]) -> HigherOrderOperator:
    """An operator of the probe's answer."""
    return HigherOrderOperator(data["name"], tuple(_rules(data)), data["side_effect"])


def _rules(data: Mapping[str, Any]) -> Iterator[HigherOrderImpl]:
    for field, kind in _BY_NAME.items():
        for name, rule in data[field].items():
            yield _rule(kind, name, rule)
    for field, kind in _ALONE.items():
        if data[field] is not None:
            yield _rule(kind, "", data[field])
    for key in data["fallthrough"]:
        yield HigherOrderImpl(ImplKind.DISPATCH, key, FALLTHROUGH, fallthrough=True)


def _rule(kind: ImplKind, name: str, rule: Any) -> HigherOrderImpl:
    if isinstance(rule, str):
        return HigherOrderImpl(kind, name, rule)
    return HigherOrderImpl(kind, name, rule["kernel"], deferred_error=rule.get("deferred_error"))
