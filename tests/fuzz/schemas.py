"""Random schemas of operators."""

from __future__ import annotations

from tests.fuzz import words
from tests.fuzz.words import Dice

TYPES: dict[str, tuple[str, ...]] = {
    "Tensor": (),
    "Tensor?": ("None",),
    "Tensor[]": (),
    "Tensor(a!)": (),
    "Tensor(a)": (),
    "int": ("0", "-1"),
    "int?": ("None", "2"),
    "int[]": ("[]", "[1, 2]"),
    "int[2]": ("1", "[0, 1]"),
    "float": ("1.5", "1e-05"),
    "bool": ("True", "False"),
    "str?": ("None", "'x'"),
    "str": ('"mean"',),
    "Scalar": ("1", "0.5"),
    "SymInt[]": ("[]",),
    "Device?": ("None",),
    "Layout?": ("None",),
    "ScalarType?": ("None",),
    "Generator?": ("None",),
    "MemoryFormat": ("contiguous_format",),
    "Dimname[]?": ("None",),
    "Any": (),
    "__torch__.torch.classes.m.C": (),
}
"""Type → defaults that an argument of it can have."""
RARE_TYPES: dict[str, tuple[str, ...]] = {
    "Dict(str, Tensor)": (),
    "(int, Tensor)": (),
    "(Tensor, (int, str))[]": (),
    "Future(int)": (),
    "Await(Tensor)": (),
    "RRef(Tensor)": (),
    "complex": ("1j", "2.5j", "-1j"),
    "float?": ("None", "inf", "-inf", "nan", "1e400", "1e-320"),
    "float[]?": ("None", "[1.5, inf]"),
    "bool[3]": ("True", "[True, False, True]"),
    "str[]": ("['a', 'b']", '["c\\n"]'),
    "SymInt": ("0", "9223372036854775807"),
    "SymInt[1]?": ("None", "0"),
    "SymBool": (),
    "Stream": (),
    "QScheme": ("per_tensor_affine",),
    "Tensor(a -> *)": (),
    "Tensor(a! -> b)": (),
    "Tensor(a!)[]": (),
    "Tensor[][]": (),
    "Tensor?[]": (),
    "int??": ("None",),
    "int[2147483649]": ("0",),
    "NoneType": ("None",),
    "number": ("1",),
}
ODD_TYPES = ("Storage", "t", "Dimname", "Tensor(a|b)", "Tensor(*)", "Tensor[][]", "Dict(str, int)", "Tensor!")
ODD_DEFAULTS = ("=0", "=None", "=True", "=[]", "='x'", "=1.5", "=cpu")


def schema(dice: Dice) -> str:
    """An operator's schema."""
    names = dice.sample("abcdexyz", dice.randrange(4))
    arguments = sorted((_argument(dice, name) for name in names), key=lambda text: "=" in text)
    if dice.random() < 0.7:
        arguments.insert(0, f"{dice.choice(['Tensor', 'Tensor', 'Tensor(w!)'])} self")
    if arguments and dice.random() < 0.15:
        arguments.insert(dice.randrange(len(arguments)), "*")
    returns = dice.choice(["Tensor", "Tensor", "Tensor", "()", "(Tensor, Tensor)", "Tensor(w!)", "Tensor[]", "int"])
    return f"{words.operator(dice)}({', '.join(arguments)}) -> {returns}"


def _argument(dice: Dice, name: str) -> str:
    """An argument of a schema."""
    if dice.random() < 0.04:
        return f"{dice.choice([*ODD_TYPES, *TYPES])} {name}{dice.choice(ODD_DEFAULTS)}"
    types = RARE_TYPES if dice.random() < 0.12 else TYPES
    kind = dice.choice([*types])
    defaults = types[kind] if dice.random() < 0.4 else ()
    return f"{kind} {name}" + (f"={dice.choice(defaults)}" if defaults else "")
