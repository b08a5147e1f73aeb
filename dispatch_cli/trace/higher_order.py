"""The higher-order operators of a recording's state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dispatch_cli.model.higher_order import FALLTHROUGH, HigherOrderImpl, HigherOrderOperator, ImplKind

_NAMED = {"modes": ImplKind.MODE, "subclasses": ImplKind.SUBCLASS, "transforms": ImplKind.TRANSFORM}


def operators_of(state: Mapping[str, Any]) -> tuple[HigherOrderOperator, ...]:
    """Every higher-order operator. state: what `dispatch_cli.capture.probe` writes, checked."""
    imported = frozenset(state["imported_higher_order_operators"])
    return tuple(
        HigherOrderOperator(
            operator["name"],
            tuple(_impls(operator)),
            operator["side_effect"],
            is_own=False,
            of_pytorch=state["known"] and operator["name"] not in imported,
            of_unknown=not state["known"],
        )
        for operator in state["higher_order_operators"]
    )


def _impls(operator: Mapping[str, Any]) -> Iterator[HigherOrderImpl]:
    for key, rule in operator["dispatch"].items():
        yield _impl(ImplKind.DISPATCH, key, rule)
    for key in operator["fallthrough"]:
        yield HigherOrderImpl(ImplKind.DISPATCH, key, FALLTHROUGH, fallthrough=True)
    if operator["autograd"] is not None:
        yield _impl(ImplKind.AUTOGRAD, "", operator["autograd"])
    for field, kind in _NAMED.items():
        for name, rule in operator[field].items():
            yield _impl(kind, name, rule)
    if operator["functionalize"] is not None:
        yield _impl(ImplKind.FUNCTIONALIZE, "", operator["functionalize"])


def _impl(kind: ImplKind, name: str, rule: str | Mapping[str, Any]) -> HigherOrderImpl:
    if isinstance(rule, str):
        return HigherOrderImpl(kind, name, rule)
    errors = tuple(rule.get("error", {}).items())
    return HigherOrderImpl(kind, name, rule["kernel"], deferred_error=rule.get("deferred_error"), errors=errors)
