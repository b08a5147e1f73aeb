"""The higher-order operators of a probe's answer, in our types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dispatch_cli.model.higher_order import FALLTHROUGH, HigherOrderImpl, HigherOrderOperator, ImplKind

_NAMED = {"modes": ImplKind.MODE, "subclasses": ImplKind.SUBCLASS, "transforms": ImplKind.TRANSFORM}


def higher_order_operator(data: Mapping[str, Any]) -> HigherOrderOperator:
    """A higher-order operator. data: what `dispatch_cli.capture.probe` writes of it, checked."""
    return HigherOrderOperator(data["name"], tuple(_impls(data)), data["side_effect"])


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
