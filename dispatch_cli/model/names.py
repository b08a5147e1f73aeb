"""Operator names: ``namespace::name`` with an optional ``.overload``."""

from __future__ import annotations

from typing import NamedTuple

DEFAULT_OVERLOAD = ".default"
"""Name in PyTorch's Python for the overload that has no name."""
NO_DEFAULT_OVERLOAD = "leave '.default' out: only torch.ops calls the overload without a name so"
"""Hint where this overload is refused."""
HIGHER_ORDER_NAMESPACE = "higher_order"
"""Namespace of higher-order operators in PyTorch's Python."""


class OperatorName(NamedTuple):
    """An operator's full name, as ``c10::OperatorName`` has it.

    name: ``namespace::name``; the namespace may be missing (``foo``), as in PyTorch.
    overload: the part after the dot, or an empty string.
    """

    name: str
    overload: str = ""

    @classmethod
    def parse(cls, text: str) -> OperatorName:
        """Split ``ns::name.overload``; the first dot after the namespace starts the overload."""
        start = text.rfind("::") + 2 if "::" in text else 0
        dot = text.find(".", start)
        return cls(text) if dot < 0 else cls(text[:dot], text[dot + 1 :])

    @classmethod
    def parse_printed(cls, text: str) -> OperatorName:
        """An operator's name as PyTorch prints it: ``aten::add`` by its C++, ``aten.add.default`` by its Python."""
        text = text.rstrip(".:")
        for prefix in ("torch._ops.", "torch.", "_ops.", "ops."):
            if "::" not in text and text.startswith(prefix):
                text = text.removeprefix(prefix)
        if "::" not in text and "." in text:
            namespace, _, rest = text.partition(".")
            text = f"{namespace}::{rest}"
        return cls.parse(text.removesuffix(".default") if "::" in text else text)

    @property
    def namespace(self) -> str | None:
        """The part before the first ``::``, or None when there is none."""
        head, sep, _ = self.name.partition("::")
        return head if sep else None

    @property
    def in_python(self) -> str:
        """The name as Python prints an ``OpOverload``: ``aten.add.default``."""
        return f"{self.name.replace('::', '.')}.{self.overload or 'default'}"

    def __str__(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else self.name


def usualness(overload: str) -> tuple[bool, bool]:
    """Order of the overloads of an operator: the usual ones, others, those for out and for named dimensions last."""
    return any(word in overload for word in ("out", "imname", "names")), overload not in ("", "Tensor", "out")


def without_overload(name: str) -> str:
    """``aten::add`` of ``aten::add.Tensor``; a dot before the namespace's end begins no overload."""
    dot = name.find(".", name.rfind("::") + 1)
    return name if dot < 0 else name[:dot]
