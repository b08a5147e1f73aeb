"""Random texts, by the field or option that takes them: mostly good ones, some wrong, some that mean harm."""

from __future__ import annotations

import random
from collections.abc import Callable

from dispatch_cli import bases, universes
from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.model.calls.call import CONTEXT_WORDS, TENSOR_WORDS

Dice = random.Random
Maker = Callable[[Dice], str]
UNIVERSE = universes.load(universes.default_name())
KEYS = (*UNIVERSE.runtime, *UNIVERSE.aliases)
OPERATORS = (
    *("a::f", "a::f", "a::g", "a::g.out", "b::h.Tensor", "m::a", "m::made", "mylib::norm2", "aten::add.Tensor"),
    *("aten::add_.Tensor", "aten::randn_like", "aten::empty.memory_format", "aten::sum", "call_torchbind", "cond"),
)
HARMFUL = (
    *("", " ", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\u202eb\u2066c", "a\u200bb\ufeff", "::error::x"),
    *("\n::error file=a::x", "[bold red]x[/] [link=http://a.b]y[/link]", "<script>alert(1)</script>"),
    *("a|b `c` *d* [e](http://f) #1 @name", "=1+1", "@sum(1)", "%s %n {0} $x ${y}", "日本語👩‍🚀", "\udcff"),
    *("x" * 5_000, "(" * 3_000, "[" * 3_000, "*" * 300 + "a", "../../etc/passwd", "/dev/null", "null", "1e999"),
    *("\x00", "\\", "'", '"'),
)
"""Texts that are something to a terminal, a format, a parser or a file system."""
YAML_SIGNS = (
    *("&a ", "*a ", "<<: *a", "? ", "\n---\n", "\n...\n", "%YAML 1.1\n", "- ", "|\n", ">-\n  ", "#", "!", "!!binary x"),
    *("!!python/object:os.system ", "0x10", "~", "yes", ".inf", "'it''s'", '"\\u202e"', "\ufeff", "{[", "@"),
)
DEVICES = ("cpu", "cuda", "meta", "xla", "mps", "hpu", "xpu", "privateuseone", "npu", "cuda:0", "undefined", "none")
SHELLS = ("bash", "zsh", "fish")
FILES = ("a.yaml", "b.yaml", "::error::.yaml", "e\u202e.yaml", "[red].yaml", "f g.yaml", "=1.yaml")
STARTS = ("higher_order::", "mode=", "transform=", "aten::", "torch.ops.", "--", "-", "", "a.y", "--op=aten::", "@")
"""Beginnings of words that are completed."""


def one_of(*texts: str | Maker) -> Maker:
    """A maker of one of those texts, or of what one of those makers makes."""

    def make(dice: Dice) -> str:
        choice = dice.choice(texts)
        return choice if isinstance(choice, str) else choice(dice)

    return make


def broken(dice: Dice, text: str) -> str:
    """A text with one or two pieces replaced."""
    for _ in range(dice.randrange(1, 3)):
        at = dice.randrange(len(text) + 1)
        piece = dice.choice(
            [*HARMFUL, *YAML_SIGNS, *"():,.->*!?[]{}=&| \t\n", "::", dice.choice(KEYS), dice.choice(OPERATORS)]
        )
        text = text[:at] + piece[:40] + text[at + dice.randrange(6) :]
    return text


def sometimes_harmful(dice: Dice, text: str, chance: float = 0.02) -> str:
    """The text, or, now and then, one that is broken or harmful."""
    number = dice.random()
    if number < chance / 2:
        return dice.choice(HARMFUL)
    return broken(dice, text) if number < chance else text


def odd_bytes(dice: Dice, raw: bytes) -> bytes:
    """Bytes that are no text in UTF-8, or hardly."""
    at = dice.randrange(len(raw) + 1)
    piece = dice.choice([b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\x00", b"\xef\xbb\xbf", b"\r", b"\xf4\x90\x80\x80"])
    cut = raw[:at] + piece + raw[at:]
    return dice.choice([cut, cut, b"\xef\xbb\xbf" + raw, b"\xff\xfe" + raw, raw[:at], raw.replace(b"\n", b"\r\n"), b""])


_COMMON = ("CPU", "CUDA", "Meta", "Autograd", "AutogradCPU", "CompositeImplicitAutograd", "PrivateUse1", "XLA")
any_key = one_of(*KEYS)
alias = one_of(*UNIVERSE.aliases)
key = one_of(*_COMMON, *_COMMON, alias, any_key, any_key)


def keys(dice: Dice) -> str:
    """Keys separated by commas."""
    return ", ".join(dict.fromkeys(key(dice) for _ in range(dice.choice([1, 1, 1, 2, 3]))))


key_glob = one_of(key, keys, "*", "Autograd*", "*CPU", "[A-C]*", "?PU", "*, Meta", "[!A]*")
operator = one_of(*OPERATORS)
operator_glob = one_of(operator, "*", "a::*", "*::f*", "aten::ad?.Tensor", "higher_order::*", "[ab]::[!g]*", "*[*")
base = one_of(*["torch-2.15"] * 6, *["torch-2.4"] * 4, *bases.names(), "torch-2.15-mps", "torch-2.9.1", "torch-2.99")
universe = one_of(*universes.names(), *universes.names(), "torch-2.9.1", "torch-2.99", "nosuch.json")
backend_name = one_of("npu", "my_dev", "privateuseone", "cuda", "NPU", "", "\x1b[31mx", "n\u202epu", "x" * 300)
kernel = one_of("fallthrough", "f_cpu", "f_cuda", "autograd_f", "g", "h", "registered at a/b.cpp:12", "mylib.ops.f")
word = one_of("x", "a.b", "pt2_compliant_tag", "a.py:12", "some reason", "float16", "cuda", key)
device = one_of(*DEVICES)
layout = one_of("strided", "sparse", "torch.sparse_csr", "mkldnn", "jagged", "nosuch")
dtype = one_of("float32", "qint8", "torch.quint4x2", "int64", "nosuch")
source_place = one_of("a.cpp:1:1", "a.cpp:3", "a.yaml:2:3", "no.py:9:1", "/etc/passwd:1:1", "-:1:1", "a.cpp", "x:0")


def check(dice: Dice) -> str:
    """A check, or a selection of some."""
    choice = dice.choice(CHECKS)
    return dice.choice([choice.id, choice.id, choice.code, choice.code[:3], "all", "default", choice.id[:4]])


def argument(dice: Dice) -> str:
    """An argument of a call beside its tensors."""
    name, make = dice.choice((("device", device), ("layout", layout), ("dtype", dtype), ("generator", device)))
    return f"{name}={make(dice)}" if dice.random() < 0.95 else name


def condition(dice: Dice) -> str:
    """A condition of a registration."""
    atoms = ("A", "defined(A)", "B", "C >= 2", "C == 3", "1 < C", "f(x)", "D == 'cuda'")
    texts = [f"{dice.choice(['', '', 'not '])}{dice.choice(atoms)}" for _ in range(dice.choice([1, 1, 2, 3]))]
    text = dice.choice([" and ", " or "]).join(texts)
    return dice.choice([text, text, f"({text})", f"not ({text})", f"{text} and ("])


# schemas of operators

TYPES = {
    **dict.fromkeys(("Tensor", "Tensor[]", "Tensor(a!)", "Tensor(a)", "Any", "__torch__.torch.classes.m.C"), ()),
    **dict.fromkeys(("Tensor?", "Device?", "Layout?", "ScalarType?", "Generator?", "Dimname[]?"), ("None",)),
    "int": ("0", "-1"),
    "int[2]": ("1", "[0, 1]"),
    "float": ("1.5", "1e-05"),
    "bool": ("True", "False"),
    "str": ('"mean"',),
    "Scalar": ("1", "0.5"),
    "SymInt[]": ("[]",),
    "MemoryFormat": ("contiguous_format",),
}
"""Type → defaults that an argument of it can have."""
RARE_TYPES = {
    **dict.fromkeys(("Dict(str, Tensor)", "(Tensor, (int, str))[]", "Future(int)", "RRef(Tensor)", "SymBool"), ()),
    **dict.fromkeys(("Tensor(a -> *)", "Tensor(a! -> b)", "Tensor(a!)[]", "Tensor[][]", "Tensor?[]", "Stream"), ()),
    "complex": ("1j", "2.5j", "-1j"),
    "float?": ("None", "inf", "-inf", "nan", "1e400", "1e-320"),
    "bool[3]": ("True", "[True, False, True]"),
    "str[]": ("['a', 'b']", '["c\\n"]'),
    "SymInt[1]?": ("None", "9223372036854775807"),
    "QScheme": ("per_tensor_affine",),
    "int??": ("None",),
    "int[2147483649]": ("0",),
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
    return f"{operator(dice)}({', '.join(arguments)}) -> {returns}"


def _argument(dice: Dice, name: str) -> str:
    """An argument of a schema."""
    if dice.random() < 0.04:
        return f"{dice.choice([*ODD_TYPES, *TYPES])} {name}{dice.choice(ODD_DEFAULTS)}"
    types = RARE_TYPES if dice.random() < 0.12 else TYPES
    kind = dice.choice([*types])
    defaults = types[kind] if dice.random() < 0.4 else ()
    return f"{kind} {name}" + (f"={dice.choice(defaults)}" if defaults else "")


# expressions of key sets, tensors and contexts


def expression(dice: Dice) -> str:
    """An expression of key sets."""
    text = _term(dice)
    for _ in range(dice.randrange(4)):
        text = dice.choice([f"{text} {dice.choice('|&-')} {_term(dice)}", f"({text})"])
    return text


def _term(dice: Dice) -> str:
    calls = [f"FULL_AFTER({key(dice)})", f"runtime({alias(dice)})", f"DispatchKeySet({keys(dice)})", "autograd(CPU)"]
    named = dice.choice(["FULL", "Dense", "CPUBit", "after_autograd", "default_included", "autogradother_backends"])
    number = dice.choice(["0", "1", str(dice.randrange(1 << 62)), str((1 << 64) - 1)])
    return dice.choice([key(dice), key(dice), key(dice), *calls, "backends(AutogradOther)", named, number])


def tensor(dice: Dice) -> str:
    """A tensor as `resolve` takes it."""
    chosen = [_named(dice, each) for each in dice.sample(TENSOR_WORDS, dice.choice([0, 0, 0, 1, 1, 2]))]
    return " ".join([dice.choice(DEVICES), *chosen])


def _named(dice: Dice, text: str) -> str:
    return text + {"subclass": f"={dice.choice(['S', 'MyTensor'])}", "fake": dice.choice(["", "=F"])}.get(text, "")


def context(dice: Dice) -> str:
    """A context of a call."""
    takes = {
        "autocast": f" {dice.choice(DEVICES)}",
        "mode": f"={dice.choice(['M', 'FakeTensorMode', 'FakeTensorMode=2'])}",
        "pre_dispatch_mode": "=M",
        "include": f"={key(dice)}",
        "exclude": f"={key(dice)}",
    }
    choice = dice.choice(CONTEXT_WORDS)
    return choice + takes.get(choice, "")


any_word = one_of(
    *(key, keys, key_glob, operator, operator_glob, base, universe, device, tensor, context, expression, argument),
    *(check, condition, schema, word, source_place, "1", "0", "-1", "1e9", "nosuch", "a.yaml", ".", "-", "=", "C=2"),
    *("train.py:1", "cpu->*", "[->[", "https://github.com/a/b", "file:///x", "USE_X=2", "F(x)=x", "sub/**", "HEAD:x"),
)
"""Any text that a command or one of its options takes."""
OF_OPTION = {
    **dict.fromkeys(("keys", "devices", "key_globs"), key),
    **dict.fromkeys(("ops",), operator),
    **dict.fromkeys(("bases", "older"), base),
    **dict.fromkeys(("universe", "against"), universe),
    **dict.fromkeys(("select", "ignore"), check),
    **dict.fromkeys(("depth", "explain", "limit"), one_of("1", "5")),
    "tensors": tensor,
    "contexts": context,
    "options": argument,
    "keyset": expression,
    "privateuse1": one_of("npu"),
}
"""Option → what it takes."""
