"""Random schemas: mostly whole ones, of everything that the grammar has, and some that are broken in a place or two."""

from __future__ import annotations

import random
from collections.abc import Callable

WRITTEN = (
    "f(int?? a, Any? b) -> ()",
    "f(ConstQuantizerPtr a, DeviceIndex b, None c) -> ()",
    "f(Tensor! x) -> Tensor!",
    "f(Tensor(a!)[][] v, Tensor(a!)?[] s, Tensor(a)[2](b) r) -> ()",
    "f((Tensor(a), SymInt) x, Future(Tensor(a)) y) -> ()",
    "f(Tensor(a -> a) x, Tensor(a! -> *) y, Tensor(*|) z) -> ()",
    "f(int[2] a=1, int[2] b=[1,1], int[2] c=[1,2], int[1] d=0) -> ()",
    "f(SymInt[2] a=1, bool[3] b=True, float[2] c=1.0) -> ()",
    "f(float a=1e-5, float b=1e20, float c=1e16, float d=-0.0) -> ()",
    "f(Scalar a=1e3, Scalar b=-2j, complex c=12, int d=0x1e) -> ()",
    'f(int a="x", str b=\'x"\', str c="é", str d="\\101\\a") -> ()',
    "f(ScalarType a=long, Layout b=strided, MemoryFormat c=contiguous_format, int d=Mean) -> ()",
    "f(ScalarType a=float32, ScalarType? b=uint3, ScalarType[] c=[half,cdouble], ScalarType d=complex) -> ()",
    "f(float a=0x1p-1074, float b=0x0.fffffffffffffcp-1022, float c=-0e999) -> ()",
    'f(Device a="cuda:1", Device b="cuda:128", Device c="cuda:255") -> ()',
    "f(*, *, int a, *, int b) -> ()",
    "f(int a, ...) -> (int, ...)",
    "f() -> ((int, str)[])",
    "f() -> (int)",
    "\n f : : g . h(int\n x) -> () # words\n",
    "f(int x) \\\n -> ()",
    "f(int[4294967295] a) -> ()",
    "f(int[0] a=5) -> ()",
)
"""Schemas that are always asked for; PyTorch reads each, and prints most of them in another way."""
BASE_TYPES = (
    "Tensor", "Tensor", "Tensor", "int", "SymInt", "float", "bool", "str", "Scalar", "ScalarType", "Layout",
    "MemoryFormat", "Device", "Generator", "complex", "bool", "int", "str", "float", "Any", "Storage", "Stream",
    "QScheme", "Quantizer", "SymBool", "None", "NoneType", "Capsule", "AnyEnumType", "AnyClassType", "DeviceIndex",
    "ConstQuantizerPtr", "t",
    "tVal",
)  # fmt: skip
NO_TYPES = (
    *("Tensr", "double", "int64_t", "a.b", "A.b", "None.x", "number", "Int", "_x", "Dimname", "PyObject", "1", "in"),
    *("",),
)
NAMES = ("a", "self", "x1", "_y", "out", "dtype", "e5", "j", "isx", "notin", "inf", "nan", "Tensor", "int")
NO_NAMES = ("in", "is", "not", "def", "None", "True", "1a", "ä", "名", "a-b", "is not", "not in", "''", "")
WORDS = (
    "float32", "float", "long", "half", "int8", "bfloat16", "complex64", "bool", "double", "cfloat", "strided", "Mean",
    "contiguous_format", "complex", "sparse_coo", "channels_last", "inf", "nan", "none", "true", "cpu", "uint3", "bit",
    "float8_e4m3fn", "quint4x2", "undefined", "Float",
)  # fmt: skip
INTEGERS = ("0", "1", "2", "10", "007", "-1", "- 3", "9223372036854775807", "9223372036854775808", "0x1e", "+1", "--1")
FLOATS = (
    "0.", ".5", "1.5", "-0.0", "1e3", "1E3", "1e-5", "2.5e+10", "1e20", "1e16", "123456789.125", "0.1", "1e308",
    "1e309", "-1e-308", "1e-400", "0e999", "2.2250738585072012e-308", "2.2250738585072014e-308", "0x1.8p3", "0x1p-1074",
    "0x1.8p-1074", "0x0.fffffffffffffcp-1022", "1e", "1.e", "1..2", "0x", "0x.8", ".", "5e-324", "3.14159",
)  # fmt: skip
COMPLEX = ("1j", "-2.5j", "0j", "1e3j", "3", "12", ".5j", "1jj", "1+2j", "0x1j", "-0j", "j")
STRINGS = (
    '"x"', "'y'", '""', "''", '"a b"', "'it\\'s'", '"tab\\t"', "'\\n\\a\\b\\f\\v\\\\'", '"\\101\\060"', '"\\377"',
    '"\\8"', '"\\400"', '"\\x41"', "'\\u0041'", "'\\U0001F600'", '"\\q"', "'''a'b'''", '"""a\n"b"""', '"é"', "'名'",
    '"unclosed', "'unclosed", "'''open''", '"a\\\nb"', '"# no comment"', '"mean"', '"\\000x"',
)  # fmt: skip
DEVICES = (
    '"cpu"', '"cuda:1"', "'cuda:0'", '"cuda:01"', '"cuda:"', '":1"', '"gpu"', '""', '"cuda:128"', '"cuda:255"',
    '"cuda:99999999999"', '"meta"', '"privateuseone:3"', "'a b'", '"cuda:-1"', '"CPU"', '"cuda:2147483648"',
)  # fmt: skip
SETS = ("a", "b", "c", "*", "x1")
NO_SETS = ("$0", "1", "", "in", "a b")
_WITH_DEFAULT = frozenset(
    {"Tensor", "int", "SymInt", "float", "bool", "str", "Scalar", "ScalarType", "Layout", "MemoryFormat", "Device"}
    | {"Generator", "complex", "Quantizer"}
)
FRAGMENTS = (
    *"()[]{},:=*!|?<>.+-#\\\"'; 01ajex$@&%^~`/", "->", "...", "[]", "[2]", "(a!)", "=1", "=None", "::", "\n", "\\\n",
    "é", "\0", "\t", "# type:",
    "# c\n", "is not", "not in", "==", "!=", "<=", ">=", "<=>", "//", "**", "**=", "<<=", "+=",
    "'''", '"""', "1.5", "0x1p3", '"s"', "None", "True", "Tensor", "Union(", "Dict(", ", ", " -> ", "\r\n", "\f",
    "\n  ",
)  # fmt: skip
BLANKS = (
    "",
    "",
    "",
    "",
    " ",
    " ",
    "  ",
    "\t",
    "\n",
    "\n  ",
    " # note\n",
    "\\\n",
    "\r\n",
    "#\n#\n",
    "\n\n\n",
    "\f",
    "\v",
)


class Maker:
    """Makes schemas from one seed. clean: how likely each part is a right one."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.clean = 1.0

    def schema(self) -> str:
        """One schema."""
        chance = self.chance
        self.clean = chance.choice((1.0, 1.0, 1.0, 1.0, 0.98, 0.9))
        parts = self._declaration()
        if chance.random() < 0.2:
            blanks = chance.choice((BLANKS, BLANKS[:8]))
            parts = [piece for part in parts for piece in (part, chance.choice(blanks))]
        text = "".join(parts)
        if chance.random() < 0.25:
            for _ in range(chance.choice((1, 1, 1, 2, 3))):
                text = self._changed(text)
        return text

    def _wrong(self) -> bool:
        return self.chance.random() >= self.clean

    def _one(self, right: tuple[str, ...], wrong: tuple[str, ...]) -> str:
        return self.chance.choice(wrong if self._wrong() else right)

    def _rarely(self, likely: float) -> bool:
        return self.chance.random() < likely

    def _declaration(self) -> list[str]:
        chance = self.chance
        parts = ["\n  "] if self._rarely(0.02) else []
        if self._rarely(0.7):
            parts += [chance.choice(("aten", "prim", "my_lib", "ns", "_C")), "::"]
        parts.append(self._one(("add", "mul_", "_f", "op2"), NO_NAMES))
        if self._rarely(0.4):
            parts += [".", self._one(("Tensor", "out", "a1"), ("default", "__x", "1", "in", ""))]
        parts += ["(", *self._listed(chance.choice((0, 1, 1, 2, 3, 4)), self._item, ", "), ")"]
        if self._rarely(0.03):
            parts[-1:] = [", ", "...", ")"]
        parts += [" ", self._one(("->",), ("-", "=>", "-->", "", ":")), " ", *self._returns()]
        return [*parts, "\n"] if self._rarely(0.05) else parts

    def _listed(self, count: int, item: Callable[[], list[str]], separator: str) -> list[str]:
        parts: list[str] = []
        for i in range(count):
            parts += [separator] * (i > 0) + item()
        return parts

    def _item(self) -> list[str]:
        if self._rarely(0.1):
            return ["*"]
        if self._wrong():
            return [self.chance.choice(("...", "", "**", "*a"))]
        return self._argument()

    def _argument(self) -> list[str]:
        parts = [*self._type(), " ", self._one(NAMES, NO_NAMES)]
        kind = parts[0]
        if self._rarely(0.5 if kind in _WITH_DEFAULT else 0.03):
            parts += ["=", *self._default(kind, "".join(parts[:-2]))]
        return parts

    def _returns(self) -> list[str]:
        chance = self.chance
        if self._rarely(0.03):
            return ["..."]
        if self._rarely(0.5):
            return self._return()
        more = [", ", "..."] if self._rarely(0.03) else []
        return ["(", *self._listed(chance.choice((0, 1, 2, 3)), self._return, ", "), *more, ")"]

    def _return(self) -> list[str]:
        return [*self._type(), *([" ", self._one(NAMES, NO_NAMES)] if self._rarely(0.2) else [])]

    def _type(self, depth: int = 0) -> list[str]:
        parts = self._plain_type(depth)
        if self._rarely(0.2):
            parts += self._alias()
        for _ in range(self.chance.choice((0, 0, 0, 0, 1, 1, 2))):
            parts += self.chance.choice((["?"], ["[]"], ["[]"], ["[", "]"]))
            if self._rarely(0.15):
                parts += self._alias()
        if (depth == 0 and self._rarely(0.12)) or self._wrong():
            parts += ["[", self._one(("1", "2", "3", "0"), ("-1", "4294967295", "1.5", "0x2", ".5", "n", "1e3")), "]"]
            parts += self._alias() if self._rarely(0.1) else []
            parts += ["?"] if self._rarely(0.2) else []
        return parts

    def _plain_type(self, depth: int) -> list[str]:
        chance = self.chance
        if depth > 3 or self._rarely(0.85):
            return [self._one(BASE_TYPES, NO_TYPES)]
        word = chance.choice(("", "", "Dict", "Union", "Union", "Future", "Await", "RRef"))
        word = "__torch__" if self._rarely(0.02) else word
        if word == "__torch__":
            return [word, ".", self._one(("torch",), ("a", "1")), ".", "classes", ".", "ns", ".", "Name"]
        count = {"": (0, 1, 2, 3), "Dict": (2,), "Union": (2, 2, 3, 4)}.get(word, (1,))
        inner = self._listed(
            chance.choice((0, 1, 2, 3) if self._wrong() else count), lambda: self._type(depth + 1), ", "
        )
        if word == "Dict" and inner and self._rarely(0.8):
            inner[0] = chance.choice(("int", "str", "Tensor", "float", "Any", "Device"))
        return [*([word] if word else []), "(", *inner, ")"]

    def _alias(self) -> list[str]:
        if self._rarely(0.15):
            return ["!"]
        parts = ["(", *self._sets()]
        parts += ["!"] if self._rarely(0.4) else []
        parts += ["->", *self._sets()] if self._rarely(0.2) else []
        return [*parts, ")"]

    def _sets(self) -> list[str]:
        return self._listed(self.chance.choice((1, 1, 1, 2, 3)), lambda: [self._one(SETS, NO_SETS)], "|")

    def _default(self, kind: str, whole: str) -> list[str]:
        chance = self.chance
        if self._wrong():
            kind, whole = "", ""
        if whole.endswith("?") and self._rarely(0.3):
            return ["None"]
        if whole.endswith("]") and self._rarely(0.95):
            if whole[-2].isdigit() and self._rarely(0.5):
                return [self._constant(kind)]
            return ["[", *self._listed(chance.choice((0, 1, 2, 2, 3)), lambda: [self._constant(kind)], ", "), "]"]
        if kind in ("Tensor", "Generator", "Quantizer") and self._rarely(0.8):
            return ["None"]
        return [self._constant(kind)]

    def _constant(self, kind: str) -> str:
        kinds: dict[str, tuple[str, ...]] = {
            "int": INTEGERS, "SymInt": INTEGERS, "float": FLOATS, "complex": COMPLEX, "str": STRINGS, "Device": DEVICES,
            "ScalarType": WORDS, "Layout": ("strided",), "MemoryFormat": ("contiguous_format",), "Dimname": STRINGS,
            "bool": ("True", "False"), "Scalar": (*INTEGERS, *FLOATS, *COMPLEX),
        }  # fmt: skip
        if kind not in kinds or self._wrong() or self._rarely(0.03):
            kind = self.chance.choice((*kinds,))
        right = kinds[kind][: 5 if self._rarely(0.4) else None]
        return self._one(right, ("None", "True", "[]", "[1]", "", "=", "-"))

    def _changed(self, text: str) -> str:
        """*text* with one place of it changed."""
        chance = self.chance
        place = chance.randrange(len(text) + 1)
        cut = chance.choice((0, 0, 1, 1, 2, 5))
        fragment = chance.choice((*FRAGMENTS, *WORDS[:4], text[chance.randrange(len(text) + 1) :][:5], "", ""))
        if self._rarely(0.05):
            return text[:place]
        return text[:place] + fragment + text[place + cut :]
