"""Names of operators in the parts that torchgen looks at. Source: ``torchgen/model.py``, ``OperatorName``."""

from __future__ import annotations

from typing import NamedTuple

_OPERATORS = ("add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or")
_AUGMENTED = frozenset(f"i{name}" for name in _OPERATORS)


class NativeName(NamedTuple):
    """The name of an operator in parts (``OperatorName``). dunder: it is written ``__base__``."""

    base: str
    inplace: bool = False
    dunder: bool = False
    functional: bool = False
    overload: str = ""

    @property
    def full_base(self) -> str:
        """Without the overload."""
        if self.dunder:
            return f"__{'i' if self.inplace else ''}{self.base}__"
        return self.base + ("_" if self.inplace else "_functional" if self.functional else "")

    def __str__(self) -> str:
        return f"{self.full_base}.{self.overload}" if self.overload else self.full_base


def parse_native_name(text: str) -> NativeName:
    """Errors: ValueError."""
    base, dot, overload = text.partition(".")
    if not base or (dot and not overload):
        raise ValueError(f"{text!r} is not the name of an operator")
    if base.endswith("_out"):
        raise ValueError("a name that ends with _out is not allowed; is an overload name meant?")
    if base.startswith("__") and base.endswith("__") and len(base) > 4 and "_" not in base[2:-2]:
        inner = base[2:-2]
        if inner in _AUGMENTED:
            return NativeName(inner[1:], True, True, False, overload)
        if inner[0] == "i":
            raise ValueError(f"a method __i…__ that PyTorch does not have: {base}")
        return NativeName(inner, False, True, False, overload)
    inplace = base.endswith("_")
    plain = base.removesuffix("_") if inplace else base
    if plain.endswith("_functional"):
        if inplace:
            raise ValueError(f"a functional form cannot be in-place: {base}")
        return NativeName(plain.removesuffix("_functional"), False, False, True, overload)
    return NativeName(plain, inplace, False, False, overload)
