"""Random texts, by the field or option that takes them: mostly good ones, some wrong, some that mean harm."""

from __future__ import annotations

import random
from collections.abc import Callable

from dispatch_cli import bases, universes
from dispatch_cli.checks import CHECKS
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.call import CONTEXT_WORDS, TENSOR_WORDS

UNIVERSE = universes.load(universes.default_name())
KEYS = (*UNIVERSE.runtime, *UNIVERSE.aliases)
OPERATORS = (
    *("a::f", "a::f", "a::g", "a::g.out", "b::h.Tensor", "m::a", "m::made", "mylib::norm2", "aten::add.Tensor"),
    *("aten::add_.Tensor", "aten::randn_like", "aten::empty.memory_format", "aten::sum", "call_torchbind", "cond"),
)
YAML_SIGNS = (
    *("&a ", "*a ", "<<: *a", "? ", "\n---\n", "\n...\n", "%YAML 1.1\n", "- ", "|\n", ">-\n  ", "#", "!", "!!binary x"),
    *(
        *("!!python/object:os.system ", "0x10", "1_000", "~", "yes", "1.5e3", ".inf", "'it''s'", '"\\u202e"'),
        *("\ufeff", "{[", "@"),
    ),
)
OF_PYTORCH = tuple(text for text in OPERATORS if text.startswith("aten::") or ":" not in text)

HARMFUL = (
    "",
    " ",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "a\u202eb\u2066c",
    "a\u200bb\ufeff",
    "::error::x",
    "\n::error file=a::x",
    "[bold red]x[/] [link=http://a.b]y[/link]",
    "<script>alert(1)</script>",
    "a|b `c` *d* [e](http://f) #1 @name",
    "=1+1",
    "@sum(1)",
    "%s %n {0} $x ${y}",
    "日本語👩‍🚀",
    "\udcff",
    "x" * 5_000,
    "(" * 3_000,
    "[" * 3_000,
    "*" * 300 + "a",
    "../../etc/passwd",
    "/dev/null",
    "null",
    "1e999",
    "\x00",
    "\\",
    "'",
    '"',
)
"""Texts that are something to a terminal, a format, a parser or a file system."""
KERNELS = ("fallthrough", "f_cpu", "f_cuda", "autograd_f", "g", "h", "registered at a/b.cpp:12", "mylib.ops.f")
DEVICES = ("cpu", "cuda", "meta", "xla", "mps", "hpu", "xpu", "privateuseone", "npu", "cuda:0", "undefined", "none")
Dice = random.Random
SHELLS = ("bash", "zsh", "fish")


def broken(dice: Dice, text: str) -> str:
    """A text with one or two pieces replaced."""
    for _ in range(dice.randrange(1, 3)):
        at = dice.randrange(len(text) + 1)
        piece = dice.choice(
            [*HARMFUL, *YAML_SIGNS, *"():,.->*!?[]{}=&| \t\n", "::", dice.choice(KEYS), dice.choice(OPERATORS)]
        )
        text = text[:at] + piece[:40] + text[at + dice.randrange(6) :]
    return text


def key(dice: Dice) -> str:
    """A dispatch key, mostly one that kernels are registered at."""
    common = ("CPU", "CUDA", "Meta", "Autograd", "AutogradCPU", "CompositeImplicitAutograd", "PrivateUse1", "XLA")
    return dice.choice([*common, *common, dice.choice(tuple(UNIVERSE.aliases)), dice.choice(KEYS), dice.choice(KEYS)])


def keys(dice: Dice) -> str:
    """Keys separated by commas."""
    return ", ".join(dict.fromkeys(key(dice) for _ in range(dice.choice([1, 1, 1, 2, 3]))))


def key_glob(dice: Dice) -> str:
    """A glob over key names."""
    return dice.choice(
        [key(dice), keys(dice), "*", "Autograd*", "*CPU", "Sparse*", "[A-C]*", "?PU", "*, Meta", "[!A]*"]
    )


def operator(dice: Dice) -> str:
    """An operator's name."""
    return dice.choice(OPERATORS)


def embedded_operator(dice: Dice) -> str:
    """A name or a glob that finds few operators of PyTorch."""
    common = ("aten::add.Tensor", "aten::align_as", "aten::_scaled_mm", "cond", "higher_order.while_loop", "aten::qr*")
    return dice.choice([*common, *common, "aten::sof[st]max", "cond*", "torch.ops.aten.sin.default", "aten::squeeze_"])


def operator_glob(dice: Dice) -> str:
    """A glob over operators' names."""
    return dice.choice(
        [
            operator(dice),
            "*",
            "a::*",
            "*::f*",
            "aten::ad?.Tensor",
            "nosuch::*",
            "higher_order::*",
            "[ab]::[!g]*",
            "*[*",
            "[]a]*",
        ]
    )


def check(dice: Dice) -> str:
    """A check, or a selection of some."""
    choice = dice.choice(CHECKS)
    return dice.choice([choice.id, choice.id, choice.code, choice.code[:3], "all", "default", choice.id[:4]])


_ODD_BASES = ("torch-2.15-mps", "torch-2.9.1", "torch-2.99", "nosuch")


def base(dice: Dice) -> str:
    """An embedded state."""
    return dice.choice([*["torch-2.15"] * 6, *["torch-2.4"] * 4, *bases.names(), *_ODD_BASES])


def universe(dice: Dice) -> str:
    """A layout of dispatch keys."""
    return dice.choice([*universes.names(), *universes.names(), "torch-2.9.1", "torch-2.99", "nosuch.json"])


def backend(dice: Dice) -> str:
    """Argument of coverage: a device or a key, mostly of a backend."""
    common = ("PrivateUse1", "privateuseone", "xla", "MPS", "HPU", "cpu", "SparseCUDA", "Meta", "MkldnnCPU")
    return dice.choice([*common, *common, key(dice), dice.choice(KEYS), "npu", "x" * 300, "\x1b[31m"])


def backend_name(dice: Dice) -> str:
    """A name for the backend at PrivateUse1."""
    return dice.choice(["npu", "my_dev", "privateuseone", "cuda", "NPU", "", "\x1b[31mx", "n\u202epu", "x" * 300])


def macro(dice: Dice) -> str:
    """Argument of -D."""
    return dice.choice(
        ["USE_X", "USE_X=2", "USE_ROCM=", "TORCH_EXTENSION_NAME=_C", "1X", "", "F(x)=x", "A=A", "A=(", "\x1b"]
    )


def value_of_name(dice: Dice) -> str:
    """Argument of --set."""
    return dice.choice(["platform.key=CUDA", "key=CPU", "x", "=", "key=", "torch.cuda.is_available()=True", "\u202e=1"])


def file_glob(dice: Dice) -> str:
    """Argument of --exclude."""
    return dice.choice(["*.cu", "sub/**", "**/er/", "!a", "[", "\\", "", "*" * 50, "a" * 5000, "src"])


def place(dice: Dice) -> str:
    """Name of a place where an implementation of a higher-order operator can be asked for."""
    mode = dice.choice(
        ["FakeTensorMode", "ProxyTorchDispatchMode", "FunctionalTensorMode", "mode=MyMode", "mode=Other"]
    )
    subclass = dice.choice(["FakeTensor", "FunctionalTensor", "subclass=MyTensor", "subclass=Other"])
    transform = dice.choice(["Vmap", "transform=Grad", "transform=Functionalize", "transform=Nosuch", "nosuch"])
    return dice.choice([mode, subclass, transform, "Autograd", key(dice)])


def odd_bytes(dice: Dice, raw: bytes) -> bytes:
    """Bytes that are no text in UTF-8, or hardly."""
    at = dice.randrange(len(raw) + 1)
    piece = dice.choice(
        [b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\x00", b"\xef\xbb\xbf", b"\r", b"\x85", b"\xf4\x90\x80\x80"]
    )
    cut = raw[:at] + piece + raw[at:]
    return dice.choice([cut, cut, b"\xef\xbb\xbf" + raw, b"\xff\xfe" + raw, raw[:at], raw.replace(b"\n", b"\r\n"), b""])


def kernel(dice: Dice) -> str:
    """A kernel's name."""
    return dice.choice(KERNELS)


def word(dice: Dice) -> str:
    """Any text."""
    return dice.choice(["x", "a.b", "pt2_compliant_tag", "a.py:12", "some reason", "float16", "cuda", key(dice)])


def one_of(*texts: str) -> Callable[[Dice], str]:
    """A maker of one of those texts."""
    return lambda dice: dice.choice(texts)


WRONG = frozenset({"nosuch", "nosuch.json", "torch-2.99", "npu", "none", "undefined", "hpu:99"})
"""Texts that an option seldom takes."""
rule_number = one_of(*map(str, range(1, 11)))
rule = one_of(*map(str, range(-1, 14)), *(each_rule.value for each_rule in Rule))
device = one_of(*DEVICES)
layout = one_of("strided", "sparse", "torch.sparse_csr", "mkldnn", "jagged", "nosuch")
dtype = one_of("float32", "qint8", "torch.quint4x2", "int64", "nosuch")


def argument(dice: random.Random) -> str:
    """An argument of a call beside its tensors."""
    name, make = dice.choice((("device", device), ("layout", layout), ("dtype", dtype), ("generator", device)))
    return f"{name}={make(dice)}" if dice.random() < 0.95 else name


def sometimes_harmful(dice: Dice, text: str, chance: float = 0.02) -> str:
    """The text, or, now and then, one that is broken or harmful."""
    number = dice.random()
    if number < chance / 2:
        return dice.choice(HARMFUL)
    return broken(dice, text) if number < chance else text


def condition(dice: random.Random) -> str:
    """A condition of a registration."""
    atoms = ("A", "defined(A)", "B", "C >= 2", "C == 3", "1 < C", "f(x)", "D == 'cuda'")
    texts = [f"{dice.choice(['', '', 'not '])}{dice.choice(atoms)}" for _ in range(dice.choice([1, 1, 2, 3]))]
    text = dice.choice([" and ", " or "]).join(texts)
    return dice.choice([text, text, f"({text})", f"not ({text})", f"{text} and ("])


def source_place(dice: random.Random) -> str:
    """A place in a source file."""
    return dice.choice(["a.cpp:1:1", "a.cpp:3", "a.yaml:2:3", "no.py:9:1", "/etc/passwd:1:1", "-:1:1", "a.cpp", "x:0"])


# schemas of operators

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


def odd_expression(dice: Dice) -> str:
    """One with signs that mean nothing in it."""
    first, other = key(dice), key(dice)
    return dice.choice([f"~{expression(dice)}", f"{first} ^ {other}", f"({first}", f"{first} |"])


def _term(dice: Dice) -> str:
    calls = [f"FULL_AFTER({key(dice)})", f"runtime({alias(dice)})", f"DispatchKeySet({keys(dice)})"]
    autograd = dice.choice(["backends(AutogradCPU)", "autograd(CPU)", "backends(AutogradOther)", "autograd(Sparse)"])
    named = dice.choice(["FULL", "Dense", "CPUBit", "after_autograd", "default_included", "autogradother_backends"])
    number = dice.choice(["0", "1", str(dice.randrange(1 << 62)), str((1 << 64) - 1)])
    return dice.choice([key(dice), key(dice), key(dice), *calls, autograd, named, number])


def alias(dice: Dice) -> str:
    """An alias key."""
    return dice.choice(tuple(UNIVERSE.aliases))


def tensor(dice: Dice) -> str:
    """A tensor as `resolve` takes it."""
    chosen = [_named(dice, each) for each in dice.sample(TENSOR_WORDS, dice.choice([0, 0, 0, 1, 1, 2]))]
    return " ".join([dice.choice(DEVICES), *chosen])


LAYOUTS = ("strided", "sparse", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "mkldnn", "jagged")
OTHERS = tuple(word for word in TENSOR_WORDS if word not in (*LAYOUTS, "undefined", "none"))


def good_tensor(dice: Dice) -> str:
    """One that there is, mostly."""
    if dice.random() < 0.05:
        return dice.choice(["undefined", "none"])
    its = [dice.choice(LAYOUTS[:3])] if dice.random() < 0.1 else []
    its += [_named(dice, each) for each in dice.sample(OTHERS, dice.choice([0, 0, 0, 0, 1, 1, 1, 2]))]
    dice.shuffle(its)
    return " ".join([dice.choice(("cpu", "cpu", "cuda", "cuda:0", "meta", "privateuseone", "xla", "mps")), *its])


def _named(dice: Dice, one: str) -> str:
    return one + {"subclass": f"={dice.choice(['S', 'MyTensor'])}", "fake": dice.choice(["", "=F"])}.get(one, "")


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
