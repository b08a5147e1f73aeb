"""Sources that are small and ask for very much, by kind. Tests of the readers read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

LIBRARY = "TORCH_LIBRARY(my, m) {"
CPP_OPERATOR = 'm.def("a(Tensor x) -> Tensor");'
BLOCK = f"{LIBRARY} {CPP_OPERATOR} }}\n"


class Hostile(NamedTuple):
    """A kind of input. size: the greatest; files: makes the files of a size, by name."""

    size: int
    files: Callable[[int], Mapping[str, str]]


def lines(template: str, count: int, between: str = "") -> str:
    """The template with each number in place of ``@``, and the number before it in place of ``^``."""
    return between.join(
        template.replace("@", str(number)).replace("^", str(number - 1)) for number in range(1, count + 1)
    )


def cpp_text(make: Callable[[int], str]) -> Callable[[int], Mapping[str, str]]:
    """One file, with a block that can be read behind what is made."""
    return lambda count: {"a.cpp": f"{make(count)}\n"}


def cpp_body(
    make: Callable[[int], str], before: Callable[[int], str] = lambda _: ""
) -> Callable[[int], Mapping[str, str]]:
    """One block with the statements that are made."""
    return lambda count: {"a.cpp": f"{before(count)}\n{LIBRARY}\n{make(count)}\n{CPP_OPERATOR}\n}}\n"}


def stringified(count: int) -> str:
    return f'm.impl({"S(" * count}"\\\\"{")" * count}, f);'


def cpp_headers(content: str) -> Callable[[int], Mapping[str, str]]:
    """Headers of which each includes the next three times."""

    def files(count: int) -> Mapping[str, str]:
        included = {f"h{number}.h": content.replace("@", f'#include "h{number + 1}.h"\n') for number in range(1, count)}
        return {"a.cpp": f'#include "h1.h"\n{BLOCK}', **included, f"h{count}.h": "#define END 1\n"}

    return files


def blocks_of_namespaces(count: int) -> str:
    return (
        lines('TORCH_LIBRARY(namespace_of_operators_@, m) { m.def("a(Tensor x) -> Tensor"); }\n', count)
        + lines('TORCH_LIBRARY_IMPL(namespace_of_operator_s_@, CPU, m) { m.impl("a", f@); }\n', count)
    )  # fmt: skip


HOSTILE: dict[str, Hostile] = {
    # those of the report
    "stringified backslashes": Hostile(40, cpp_body(stringified, lambda _: "#define S(x) S1(x)\n#define S1(x) #x")),
    "headers three times": Hostile(32, cpp_headers("@@@")),
    "headers under #if": Hostile(32, cpp_headers("#if A\n@#else\n@#endif\n@")),
    "#elif with operators": Hostile(
        100,
        cpp_text(
            lambda n: (
                "#if B > 1 || (C && D)\n"
                + LIBRARY
                + "\n"
                + CPP_OPERATOR
                + "}\n"
                + lines(
                    "#elif X@ >= @ && (Y@ < 4 || !defined(Z@))\n"
                    'TORCH_LIBRARY(my@, m) { m.def("a@(Tensor x) -> Tensor"); }\n',
                    n,
                )
                + "#endif"
            )
        ),
    ),
    "nested #if": Hostile(400, cpp_text(lambda n: lines("#if A@\n", n) + BLOCK + "#endif\n" * n)),
    "case arms": Hostile(
        800,
        cpp_body(lambda n: "switch (k()) {" + lines('case @: m.impl("op@", f@); break;\n', n) + "}"),
    ),
    "namespaces that nearly match": Hostile(800, cpp_text(blocks_of_namespaces)),
    # macros
    "macros that double": Hostile(
        40, cpp_text(lambda n: "#define A0 1\n" + lines("#define A@ A^ A^\n", n) + f"{LIBRARY} A{n} }}")
    ),
    "macros that double by pasting": Hostile(
        40,
        cpp_body(
            lambda n: f'm.impl({"P(" * n}x{")" * n}, f);',
            lambda _: "#define P1(x) x##x\n#define P2(x) P1(x)\n#define P(x) P2(x)",
        ),
    ),
    "arguments that double": Hostile(
        40,
        cpp_text(
            lambda n: (
                "#define F0(...) int x;\n"
                + lines("#define F@(...) F^(__VA_ARGS__, __VA_ARGS__)\n", n)
                + f"{LIBRARY} F{n}(1) }}"
            )
        ),
    ),
    "arguments used twice": Hostile(
        40, cpp_body(lambda n: f"{'D(' * n}1{')' * n};", lambda _: "#define D(x) E(x) E(x)\n#define E(x) x")
    ),
    # texts and values
    "local conditions that double": Hostile(
        40,
        cpp_body(lambda n: "bool b0 = x;\n" + lines("bool b@ = b^ && !b^;\n", n) + f'if (b{n}) {{ m.impl("a", f); }}')
    ),
    # statements
    "loops in loops": Hostile(
        20, cpp_body(lambda n: lines("for (auto x@ : {1, 2, 3}) {", n) + 'm.impl("a", f);' + "}" * n)
    ),
    "lambdas that call twice": Hostile(
        40,
        cpp_body(
            lambda n: (
                'auto f0 = [&]() { m.impl("a", f); };\n'
                + lines("auto f@ = [&]() { f^(); f^(); };\n", n)
                + f"f{n}();"
            )
        ),
    ),
    "functions that call twice": Hostile(
        40,
        cpp_body(
            lambda n: f"f{n}(m);",
            lambda n: (
                'void f0(torch::Library& m) { m.impl("a", f); }\n'
                + lines("void f@(torch::Library& m) { f^(m); f^(m); }\n", n)
            ),
        ),
    ),
    "arguments of functions that double": Hostile(
        40,
        cpp_body(
            lambda n: f"f{n}(m, 1);",
            lambda n: (
                'void f0(torch::Library& m, int x) { m.impl("a", f); }\n'
                + lines("void f@(torch::Library& m, int x) { f^(m, x + x); }\n", n)
            ),
        ),
    ),
}  # fmt: skip


def write(files: Mapping[str, str], folder: str) -> int:
    """Write the files, and say how many bytes they have."""
    for name, content in files.items():
        path = Path(folder, "src", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return sum(len(content) for content in files.values())


# Python

HEAD = 'import os\nimport torch\nlib = torch.library.Library("my", "FRAGMENT")\n'
OPERATOR = 'lib.define("a(Tensor x) -> Tensor")\n'


def python_text(make: Callable[[int], str]) -> Callable[[int], Mapping[str, str]]:
    """One module that registers an operator behind what is made. ``§`` stands for the sign of a decorator."""
    return lambda count: {"a.py": f"{HEAD}{make(count)}\n{OPERATOR}".replace("§", "@")}


def repeated(before: str, each: str, after: str) -> Callable[[int], Mapping[str, str]]:
    """One module with a line again and again. ``@`` and ``^`` in it are as in `lines`."""
    return python_text(lambda count: f"{before}{lines(each, count)}{after.replace('@', str(count))}")


def classes(bases: str, after: str) -> Callable[[int], Mapping[str, str]]:
    """Classes of which each inherits from the three before it."""

    def make(count: int) -> str:
        first = f"import enum\nclass C0{bases}:\n    x = 1\nclass C1(C0):\n    y = 1\nclass C2(C0, C1):\n    z = 1\n"
        derived = (f"class C{n}(C{n - 1}, C{n - 2}, C{n - 3}):\n    a{n} = 1\n" for n in range(3, count))
        return first + "".join(derived) + after.replace("@", str(count - 1))

    return python_text(make)


def modules(each: str, last: str = "X = 1\n", entry: str = "") -> Callable[[int], Mapping[str, str]]:
    """Modules of which each uses the next one. ``@`` stands for the number of the next."""

    def files(count: int) -> Mapping[str, str]:
        importing = {f"m{number}.py": each.replace("@", str(number + 1)) for number in range(count)}
        return {"a.py": f"{HEAD}{entry}{OPERATOR}", **importing, f"m{count}.py": last}

    return files


def tree_of_stars(count: int) -> Mapping[str, str]:
    """Modules that take all names of the two next, which do the same."""
    star = "from m@ import *\nfrom n@ import *\n"
    importing = {f"{letter}{n}.py": star.replace("@", str(n + 1)) for n in range(count) for letter in "mn"}
    return {"a.py": f"{HEAD}from m0 import *\nlib.define(nobody_has_this)\n{OPERATOR}", **importing}


TEXT = 's = "a" * 20000\ns = s + s + s + s + s\n'
ROWS = "x = list(range(20000))\n"
PYTHON: dict[str, Hostile] = {
    # those of the report
    "lists that double, compared": Hostile(
        60,
        python_text(
            lambda n: f"x = y = 1\n{lines('x = [x, x]', n, chr(10))}\n{lines('y = [y, y]', n, chr(10))}\nz = x == y\n"
        ),
    ),
    "a tuple that doubles, as a key": Hostile(60, repeated("x = 1\n", "x = (x, x)\n", "z = {x: 1}[x]\n")),
    "an attribute that no base has": Hostile(30, classes("", "C@.nobody_has_this\n")),
    "bases that inherit from each other": Hostile(
        30, repeated("class A: pass\nclass B(A): pass\n", "class A(B): pass\nclass B(A): pass\n", "A.no\nB().no\n")
    ),
    # values that are large as trees
    "a list in itself": Hostile(60, repeated("x = []\n", "x.append(x)\n", "z = x == [x]\nx.index(x)\n")),
    "arguments that double": Hostile(40, python_text(lambda n: "def f(*a):\n    return f(*a, *a)\n" + "f(1)\n" * n)),
    "copies of a list": Hostile(4000, python_text(lambda n: ROWS + lines("y@ = x + [@]\n", n))),
    # texts
    "texts that are kept": Hostile(8000, python_text(lambda n: TEXT + lines('t@ = s + "@"\n', n))),
    "powers": Hostile(
        8000, python_text(lambda n: "x = 9\n" + "x = x * x\n" * n + f"z = 9 ** {n} ** {n}\nw = 1 << {n}000000\n")
    ),
    # loops and calls
    "loops in loops": Hostile(
        20, python_text(lambda n: "".join("  " * k + "for i in range(100):\n" for k in range(n)) + "  " * n + "x = 1\n")
    ),
    "functions that call twice": Hostile(
        40, python_text(lambda n: "def f0(): return 1\n" + lines("def f@(): return f^() + f^()\n", n) + f"f{n}()\n")
    ),
    "a while that counts": Hostile(4000, python_text(lambda n: "i = 0\nwhile i < 1000000:\n    i = i + 1\n" * n)),
    "ifs that register": Hostile(
        4000, python_text(lambda n: lines('if os.environ["A@"]:\n    lib.define("op@(Tensor x) -> Tensor")\n', n))
    ),
    "modules that import each other": Hostile(
        400, modules(HEAD + "from m@ import *\nfrom m0 import *\nX = Y\n", entry="from m0 import *\nlib.define(Z)\n")
    ),
    "stars of stars": Hostile(40, tree_of_stars),
    # what Python reads
    "brackets": Hostile(100_000, python_text(lambda n: f"x = {'(' * n}1{')' * n}\n")),
    "a long literal": Hostile(2_000_000, python_text(lambda n: f'lib.define("{"a" * n}(Tensor x) -> Tensor")\n')),
}


# YAML of torchgen, build files, and repositories

SOURCE = {"a.py": HEAD + OPERATOR, "b.cpp": BLOCK}
NATIVE = "- func: f{n}(Tensor self) -> Tensor\n  dispatch:\n    CPU: f{n}\n"


def native(make: Callable[[int], str]) -> Callable[[int], Mapping[str, str]]:
    return lambda count: {"native_functions.yaml": NATIVE.replace("{n}", "") + make(count), **SOURCE}


def backend(make: Callable[[int], str]) -> Callable[[int], Mapping[str, str]]:
    head = "backend: XLA\ncpp_namespace: torch_xla\n"
    return lambda count: {"xla_native_functions.yaml": head + make(count), **SOURCE}


def anchors(count: int) -> str:
    head = "a0: &a0 [x, x]\n" + lines("a@: &a@ [*a^, *a^]\n", count)
    return f"{head}supported:\n- add\n"


TREES: dict[str, Hostile] = {
    # YAML
    "aliases that double": Hostile(60, native(lambda n: "- x: &a0 [a, a]\n" + lines("- x: &a@ [*a^, *a^]\n", n))),
    "aliases that double, of a backend": Hostile(60, backend(anchors)),
    "lists in each other": Hostile(4000, native(lambda n: f"- func: {'[' * n}{']' * n}\n")),
    "mappings in each other": Hostile(4000, native(lambda n: f"- func: {'{a: ' * n}1{'}' * n}\n")),
    # build files
    "uses of one operator": Hostile(
        1000,
        lambda n: {
            **{f"p{k}/setup.py": "x" for k in range(n)},
            **{f"p{k}/a.cpp": BLOCK.replace("my", "TORCH_EXTENSION_NAME") for k in range(n)},
            **{f"p{k}/u.py": f"torch.ops.n{k}.a\n" for k in range(n)},
        },
    ),
}
