"""Names: of operators, ``namespace::name`` with an optional ``.overload``; of the rules of tables; of severities."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
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
        if "::" not in text:
            text = re.sub(r"^(?:torch\.)?(?:_?ops\.)?", "", text).replace(".", "::", 1)
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


@lru_cache(maxsize=2)
def parsed_names(texts: tuple[str, ...]) -> tuple[OperatorName, ...]:
    """The names of a whole state; most states that are looked at one after another have the same operators."""
    return tuple(map(OperatorName.parse, texts))


def usualness(overload: str) -> tuple[bool, bool]:
    """Order of the overloads of an operator: the usual ones, others, those for out and for named dimensions last."""
    return any(word in overload for word in ("out", "imname", "names")), overload not in ("", "Tensor", "out")


def without_overload(name: str) -> str:
    """``aten::add`` of ``aten::add.Tensor``; a dot before the namespace's end begins no overload."""
    dot = name.find(".", name.rfind("::") + 1)
    return name if dot < 0 else name[:dot]


def some_of(names: Sequence[str], most: int = 4) -> str:
    """Some of many names: all of a few, else the first ones and how many more there are."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"


class Rule(Enum):
    """Rule by which a slot of a dispatch table is filled.

    value: our short name. dump_text: what PyTorch's table dump prints in brackets.
    NOT_KNOWN: the state is incomplete, and what it lacks could fill the slot.
    """

    KERNEL = ("kernel", "kernel")
    DEFAULT = ("default", "default backend kernel")
    NESTED = ("nested", "nested kernel")
    AMBIGUOUS = ("ambiguous", "ambiguous autogradother")
    MATH = ("math", "math kernel")
    AUTOGRAD = ("autograd", "autograd kernel")
    BATCHED = ("batched", "batched kernel")
    FALLBACK = ("fallback", "backend fallback")
    MISSING = ("missing", "missing")
    NOT_KNOWN = ("not-known", "not known")

    dump_text: str

    def __new__(cls, value: str, dump_text: str) -> Rule:
        rule = object.__new__(cls)
        rule._value_ = value
        rule.dump_text = dump_text
        return rule


class Severity(Enum):
    """Severity of a finding, worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return [*Severity].index(self)
