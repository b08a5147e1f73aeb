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
    return HigherOrderOperator(data["name"], tuple(_impls(data)), data["side_effect"])


def _impls(data: Mapping[str, Any]) -> Iterator[HigherOrderImpl]:
    for field, kind in _BY_NAME.items():
        for name, impl in data[field].items():
            yield _impl(kind, name, impl)
    for field, kind in _ALONE.items():
        if data[field] is not None:
            yield _impl(kind, "", data[field])
    for key in data["fallthrough"]:
        yield HigherOrderImpl(ImplKind.DISPATCH, key, FALLTHROUGH, fallthrough=True)


def _impl(kind: ImplKind, name: str, impl: Any) -> HigherOrderImpl:
    if isinstance(impl, str):
        return HigherOrderImpl(kind, name, impl)
    return HigherOrderImpl(kind, name, impl["kernel"], deferred_error=impl.get("deferred_error"))
