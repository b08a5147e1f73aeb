"""The arguments of a call of PyTorch's interface."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.extract.python.values import Value


class Arguments:
    """The arguments of a call by name."""

    def __init__(self, order: str, given: Sequence[Value], keywords: dict[str, Value]) -> None:
        self._found = {**dict(zip(order.split(), given, strict=False)), **keywords}

    def get(self, name: str, default: Value = None) -> Value:
        return self._found.get(name, default)

    def has(self, name: str) -> bool:
        return name in self._found
