# ruff: noqa: E501
"""Sources of a case: small files in C++, Python and YAML that register something, and what mutation makes of them."""

from __future__ import annotations

import random
from collections.abc import Callable

Dice = random.Random
KEYS = (
    *("CPU", "CUDA", "Meta", "Autograd", "CompositeImplicitAutograd", "PrivateUse1", "AutocastCUDA", "Nosuch", "_"),
    *("",),
)
SCHEMAS = (
    "f(Tensor x) -> Tensor",
    "g(Tensor(a!) x, *, int n=1) -> Tensor(a!)",
    "h.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    "k(Tensor[] xs, float eps=1e-05) -> (Tensor, Tensor)",
    "broken(Tensor",
)
CPP = (
    'TORCH_LIBRARY({ns}, m) {{\n  m.def("{schema}");\n  m.impl("{name}", c10::DispatchKey::{key}, &k);\n}}\n',
    'TORCH_LIBRARY_FRAGMENT({ns}, m) {{\n  m.def("{schema}", TORCH_FN(k));\n}}\n',
    'TORCH_LIBRARY_IMPL({ns}, {key}, m) {{\n  m.impl("{name}", torch::CppFunction::makeFallthrough());\n'
    '  m.impl("{name}", TORCH_FN(k));\n}}\n',
    "TORCH_LIBRARY_IMPL(_, {key}, m) {{ m.fallback(torch::CppFunction::makeFallthrough()); }}\n",
    "#if defined({macro}) && !{macro}2\n#define R(ns, x) TORCH_LIBRARY_IMPL(ns, {key}, m) {{ m.impl(#x, k); }}\n#else\n"
    '#define R(ns, x) TORCH_LIBRARY_FRAGMENT(ns, m) {{ m.def(#x "() -> ()"); }}\n#endif\nR({ns}, {name})\n',
    '#define A(x) B(x) x\n#define B(x) A(x) #x\n#define C(...) __VA_ARGS__ ## __VA_ARGS__\nA(1) C(a, b)\n#include "{name}.h"\n',
    'static auto r = torch::RegisterOperators().op("{ns}::{schema}", &k).op("{ns}::{name}2", [](at::Tensor x) {{ return x; }});\n',
    'TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {{\n  for (auto n : {{"a", "b"}}) {{ m.def(n, k); }}\n  if (at::cuda::is_available()) {{\n'
    '    m.def(R"x({schema})x");\n  }}\n  m.def(std::string("{name}") + getenv("X"));\n}}\n',
)
PYTHON = (
    'import torch\nlib = torch.library.Library("{ns}", "DEF")\nlib.define("{schema}")\n'
    '@torch.library.impl(lib, "{name}", "{key}")\ndef k(x):\n    return x\n',
    'from torch.library import Library, impl, custom_op\n\nfor key in ["CPU", "{key}"]:\n    Library("{ns}", "IMPL", key)'
    '.impl("{name}", lambda x: x)\n',
    'import torch\n\n@torch.library.custom_op("{ns}::{name}", mutates_args=())\ndef f(x: torch.Tensor, n: int = 1) -> torch.Tensor:\n'
    "    return x\n\n@f.register_fake\ndef _(x, n=1):\n    return x\n\nf.register_autograd(lambda ctx, g: g)\n",
    'import torch, os\nNS = "{ns}" + os.environ.get("X", "")\nif torch.cuda.is_available():\n    torch.library.define(f"{{NS}}::{name}", "() -> ()")\n'
    'else:\n    torch.library.define("{ns}::{name}", "(Tensor x) -> Tensor")\n',
    'import torch\nfrom .other import *\nfrom other import KEYS\nwhile True:\n    KEYS += KEYS\n    torch.library.register_fake("{ns}::{name}", k)\n',
    "x = [0] * 10 ** 9\ny = 'a' * 10 ** 9\nz = 2 ** 10 ** 9\nimport torch\ntorch.library.define(\"{ns}::\" + y, y)\n",
)
YAML = (
    "- func: {schema}\n  variants: function\n  dispatch:\n    {key}: k\n    Meta: k_meta\n  autogen: {name}.out\n",
    "- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n  structured_delegate: add.out\n- func: {schema}\n",
    "backend: {key}\ncpp_namespace: torch_{ns}\nsupported:\n- {name}\n- add.Tensor\nautograd:\n- {name}\n",
    "- name: {schema}\n  x: grad\n",
    "dispatch: 1\noperators:\n  - func: {ns}::{schema}\n    kernels: {{CPU: k}}\n",
)
SETS: dict[str, tuple[str, ...]] = {".cpp": CPP, ".cu": CPP, ".h": CPP, ".py": PYTHON, ".yaml": YAML}
_SIGNS = "(){}[]<>,;:\"'\\#@*&|!=+-/ \n\t_.0aR%\0\x1b\u202e\u2028é\ud800"
_BITS = (
    "TORCH_LIBRARY(", "m.impl(", "m.def(", "#if ", "#endif\n", "#else\n", "#define X X\n", "/*", "*/", "R\"(", ")\"", "\"\"\"", "'''",
    "{{ x }}", "lambda: ", "if x:\n", "for x in y:\n", "__VA_ARGS__", "##", "#", "\\\n", "::", "torch.library.", "(" * 300, "{" * 300,
    "[" * 300, "- " * 100, "func: ", "dispatch:\n", "&a *a ", "!!python/object:os.system x\n", "1e999", "9" * 400, "\u202e", "::error::x\n",
    "\x1b[31m", "%s%n", "not " * 200, "x(" * 200, "a." * 300, "#include \"../../../../etc/passwd\"\n", "#include \"a.h\"\n", "-" * 300,
)  # fmt: skip


def source(dice: Dice, suffix: str, mutations: int) -> str:
    """The text of a file."""
    chosen = [dice.choice(SETS[suffix]) for _ in range(dice.choice([1, 1, 2, 4]))]
    # what does not end is followed for two seconds
    parts = [_filled(dice, piece) for piece in chosen if "while True" not in piece or dice.random() < 0.03]
    text = "".join(parts)
    for _ in range(mutations):
        text = mutated(dice, text)
    return text


def _filled(dice: Dice, part: str) -> str:
    schema = dice.choice(SCHEMAS)
    name = (
        schema.partition("(")[0]
        if dice.random() < 0.8
        else dice.choice(["x", "add.Tensor", "a::b", "\x1b[2J", "::warning::"])
    )
    return part.format(
        ns=dice.choice(["my", "my", "other", "aten", "_"]),
        schema=schema,
        name=name,
        key=dice.choice(KEYS),
        macro="USE_X",
    )


def mutated(dice: Dice, text: str) -> str:
    """The text with one change."""
    at = dice.randrange(len(text) + 1)
    end = min(len(text), at + dice.choice([1, 1, 3, 10, 60]))
    change: Callable[[], str] = dice.choice(
        [
            lambda: text[:at] + dice.choice(_BITS) + text[at:],
            lambda: text[:at] + dice.choice(_BITS) + text[end:],
            lambda: text[:at] + dice.choice(_SIGNS) + text[at:],
            lambda: text[:at] + text[end:],
            lambda: text[:at] + text[at:end] * dice.choice([2, 2, 50]) + text[end:],
            lambda: text[:at],
            lambda: text[end:] + text[:at],
            lambda: "\n".join(dice.sample(lines := text.split("\n"), len(lines))),
        ]
    )
    return change()[:20_000]


def tree(dice: Dice, careful: bool) -> dict[str, str]:
    """The files of a small tree, by their paths."""
    results: dict[str, str] = {}
    for number in range(dice.choice([1, 1, 2, 3])):
        suffix = dice.choice([*SETS])
        folder = dice.choice(["", "", "sub/", "third_party/", "deep/er/"])
        results[f"{folder}{dice.choice(['a', 'f', 'other', 'native_functions', 'g h'])}{number}{suffix}"] = source(
            dice, suffix, 0 if careful else dice.choice([0, 1, 3])
        )
    if dice.random() < 0.2:
        results[".gitignore"] = dice.choice(["*.cu\n", "sub/\n!sub/f0.cpp\n", "**/er\n[a", "/\n\\\n**\n"])
    return results
