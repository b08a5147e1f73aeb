"""Python that is small and asks for very much, by kind. `tests.fuzz.hostile` reads each in three sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.fuzz.hostile_cpp import Hostile, lines

HEAD = 'import os\nimport torch\nlib = torch.library.Library("my", "FRAGMENT")\n'
OPERATOR = 'lib.define("a(Tensor x) -> Tensor")\n'


def text(make: Callable[[int], str]) -> Callable[[int], Mapping[str, str]]:
    """One module that registers an operator behind what is made. ``§`` stands for the sign of a decorator."""
    return lambda count: {"a.py": f"{HEAD}{make(count)}\n{OPERATOR}".replace("§", "@")}


def repeated(before: str, each: str, after: str) -> Callable[[int], Mapping[str, str]]:
    """One module with a line again and again. ``@`` and ``^`` in it are as in `lines`."""
    return text(lambda count: f"{before}{lines(each, count)}{after.replace('@', str(count))}")


def classes(bases: str, after: str) -> Callable[[int], Mapping[str, str]]:
    """Classes of which each inherits from the three before it."""

    def make(count: int) -> str:
        first = f"import enum\nclass C0{bases}:\n    x = 1\nclass C1(C0):\n    y = 1\nclass C2(C0, C1):\n    z = 1\n"
        derived = (f"class C{n}(C{n - 1}, C{n - 2}, C{n - 3}):\n    a{n} = 1\n" for n in range(3, count))
        return first + "".join(derived) + after.replace("@", str(count - 1))

    return text(make)


def modules(each: str, last: str = "X = 1\n", entry: str = "") -> Callable[[int], Mapping[str, str]]:
    """Modules of which each uses the next one. ``@`` stands for the number of the next."""

    def files(count: int) -> Mapping[str, str]:
        importing = {f"m{number}.py": each.replace("@", str(number + 1)) for number in range(count)}
        return {"a.py": f"{HEAD}{entry}{OPERATOR}", **importing, f"m{count}.py": last}

    return files


def alike(count: int) -> Mapping[str, str]:
    """Packages that all have a module of one name, and import it."""
    return {f"p{number}/{name}.py": f"{HEAD}import utils\n" for number in range(count) for name in ("utils", "ops")}


def tree_of_stars(count: int) -> Mapping[str, str]:
    """Modules that take all names of the two next, which do the same."""
    star = "from m@ import *\nfrom n@ import *\n"
    importing = {f"{letter}{n}.py": star.replace("@", str(n + 1)) for n in range(count) for letter in "mn"}
    return {"a.py": f"{HEAD}from m0 import *\nlib.define(nobody_has_this)\n{OPERATOR}", **importing}


def operators(count: int) -> Mapping[str, str]:
    """Modules that register the same operators."""
    body = HEAD + lines('lib.define("op@(Tensor x) -> Tensor")\n', 20)
    return {f"m{number}.py": body for number in range(count)}


def functions(count: int) -> str:
    """Functions that nobody calls and that register the same."""
    return lines('def _register_@(lib):\n    lib.define("op(Tensor x) -> Tensor")\n', count)


TEXT = 's = "a" * 20000\ns = s + s + s + s + s\n'
ROWS = "x = list(range(20000))\n"
PYTHON: dict[str, Hostile] = {
    # those of the report
    "lists that double, compared": Hostile(
        60,
        text(
            lambda n: f"x = y = 1\n{lines('x = [x, x]', n, chr(10))}\n{lines('y = [y, y]', n, chr(10))}\nz = x == y\n"
        ),
    ),
    "a tuple that doubles, as a key": Hostile(60, repeated("x = 1\n", "x = (x, x)\n", "z = {x: 1}[x]\n")),
    "an attribute that no base has": Hostile(30, classes("", "C@.nobody_has_this\n")),
    "bases that inherit from each other": Hostile(
        30, repeated("class A: pass\nclass B(A): pass\n", "class A(B): pass\nclass B(A): pass\n", "A.no\nB().no\n")
    ),
    # values that are large as trees
    "dictionaries that double": Hostile(60, repeated("x = 1\n", "x = {1: x, 2: x}\n", "z = x == {1: x}\n")),
    "lists that double from the top": Hostile(
        60,
        text(
            lambda n: (
                lines("l@ = []\n", n) + lines("l@.append(l^)\nl@.append(l^)\n", n)[18:] + f"z = [l{n}] == [l{n} + []]\n"
            )
        ),
    ),
    "a list in itself": Hostile(60, repeated("x = []\n", "x.append(x)\n", "z = x == [x]\nx.index(x)\n")),
    "types that double": Hostile(
        60,
        repeated(
            "from typing import Tuple, Union\nT = int\n",
            "T = Tuple[T, T]\nU = Union[T, T]\n",
            '§torch.library.custom_op("my::f", mutates_args=())\ndef f(x: T) -> U: ...\nz = T == U\n',
        ),
    ),
    "types that are joined": Hostile(4000, repeated("T = int\n", "T = T | torch.Tensor\n", "z = T == int\n")),
    "a sort, a set and a sum of shared rows": Hostile(
        60, repeated("x = (1,)\n", "x = (x, x)\n", "set([x])\nsorted([x, x])\ndict([(x, 1)])\n[x].count((x,))\n")
    ),
    "enumeration members that double": Hostile(
        60,
        text(
            lambda n: (
                "import enum\nx = 1\n" + lines("class E@(enum.Enum):\n    A = x\nx = (E@.A, E@.A)\n", n) + "{x: 1}\n"
            )
        ),
    ),
    "a kind that doubles": Hostile(60, repeated("x = 1\n", "x = (x, x)\n", 'torch.library.Library("my", x)\n')),
    "arguments that double": Hostile(40, text(lambda n: "def f(*a):\n    return f(*a, *a)\n" + "f(1)\n" * n)),
    "arguments with stars": Hostile(2000, text(lambda n: f"{ROWS}def f(*a): pass\nf({'*x, ' * n})\n[{'*x, ' * n}]\n")),
    "zip of rows": Hostile(16_000, text(lambda n: f"{ROWS}y = [x] * {n}\nz = zip(*y)\n")),
    "product of rows": Hostile(
        16_000,
        text(
            lambda n: (
                f"import itertools\n{ROWS}y = [[1]] * {n}\nz = itertools.product(*y)\nitertools.chain(*([x] * {n}))\n"
            )
        ),
    ),
    "mergers of dictionaries": Hostile(
        2000, text(lambda n: "d = {i: i for i in range(20000)}\n" + "e = {**d, **d}\n" * n)
    ),
    "copies of a list": Hostile(4000, text(lambda n: ROWS + lines("y@ = x + [@]\n", n))),
    "slices of a list": Hostile(4000, text(lambda n: ROWS + lines("y@ = x[1:]\n", n))),
    "searches in a list": Hostile(4000, text(lambda n: ROWS + "z = -1 in x\n" * n)),
    "searches in lists": Hostile(4000, text(lambda n: ROWS + "z = x.count(-1)\n" * n)),
    "lengths of a list": Hostile(8000, text(lambda n: ROWS + "z = len(x)\n" * n)),
    "unpacked lists": Hostile(8000, text(lambda n: ROWS + "a, *b = x\n" * n)),
    # texts
    "texts that are kept": Hostile(8000, text(lambda n: TEXT + lines('t@ = s + "@"\n', n))),
    "wide texts that are kept": Hostile(
        8000, text(lambda n: TEXT.replace('"a"', '"\U00010000"') + lines('t@ = s + "@"\n', n))
    ),
    "a join of long texts": Hostile(16_000, text(lambda n: f'{TEXT}z = ",".join([s] * {n})\n')),
    "a format of long texts": Hostile(16_000, text(lambda n: f'{TEXT}f = "{{0}}" * {n // 3}\nz = f.format(s)\n')),
    "%s of long texts": Hostile(8000, text(lambda n: f'{TEXT}f = "%s" * {n}\nz = f % ((s,) * {n})\n')),
    "an f-string of long texts": Hostile(8000, text(lambda n: f'{TEXT}z = f"{"{s}" * n}"\n')),
    "a path of long texts": Hostile(8000, text(lambda n: f"{TEXT}z = os.path.join(*([s] * {n}))\n")),
    "searches from behind": Hostile(
        4000, text(lambda n: 'a = "a" * 20000\nb = a * 1\nc = "b" + "a" * 10000\n' + "z = b.rfind(c)\n" * n)
    ),
    "strips of signs": Hostile(
        4000, text(lambda n: 'a = "a" * 20000\nc = "b" * 19999 + "a"\n' + "z = a.strip(c)\n" * n)
    ),
    "replacements": Hostile(4000, text(lambda n: 'a = "a" * 20000\n' + 'z = a.replace("a", "bbbbbbbb")\n' * n)),
    "numbers in texts": Hostile(4000, text(lambda n: 'a = "9" * 4000\n' + "z = int(a)\nf = float(a)\n" * n)),
    "powers": Hostile(
        8000, text(lambda n: "x = 9\n" + "x = x * x\n" * n + f"z = 9 ** {n} ** {n}\nw = 1 << {n}000000\n")
    ),
    "ranges": Hostile(8000, text(lambda n: "z = range(10**80)\n" * n + "for i in range(10**9): pass\n" * n)),
    "a schema again and again": Hostile(
        4000,
        text(lambda n: 's = "f(" + "Tensor x, " * 2000 + "Tensor y) -> Tensor"\n' + lines('lib.define("g@" + s)\n', n)),
    ),
    "long dotted names": Hostile(8000, text(lambda n: "x = torch\n" + "x = x.a_long_name\n" * n)),
    "long names of modules": Hostile(400_000, text(lambda n: f"import {'a.' * n}b\nfrom {'.' * n} import c\nc.x\n")),
    "many names of far away": Hostile(
        8000, text(lambda n: f"from {'.' * n} import {lines('c@', n, ', ')}\n{lines('c@;', n)}\n")
    ),
    # loops and calls
    "loops in loops": Hostile(
        20, text(lambda n: "".join("  " * k + "for i in range(100):\n" for k in range(n)) + "  " * n + "x = 1\n")
    ),
    "a loop that registers": Hostile(
        20_000, text(lambda n: f'for i in range({n}):\n    lib.define(f"op{{i}}(Tensor x) -> Tensor")\n')
    ),
    "loops that register": Hostile(
        80, text(lambda n: lines('for i in range(20000):\n    lib.define(f"op@_{i}(Tensor x) -> Tensor")\n', n))
    ),
    "devices of all registrations": Hostile(
        2000,
        text(
            lambda n: (
                'd = [f"cpu:{i}" for i in range(20000)]\n'
                + lines('torch.library.register_kernel("my::a@", d, print)\n', n)
            )
        ),
    ),
    "functions that call twice": Hostile(
        40, text(lambda n: "def f0(): return 1\n" + lines("def f@(): return f^() + f^()\n", n) + f"f{n}()\n")
    ),
    "functions that register and call twice": Hostile(
        40,
        text(
            lambda n: 'def f0(): lib.define("b() -> ()")\n' + lines("def f@():\n    f^()\n    f^()\n", n) + f"f{n}()\n"
        ),
    ),
    "lambdas that call twice": Hostile(
        40, text(lambda n: "f0 = lambda: 1\n" + lines("f@ = lambda: f^() + f^()\n", n) + f"f{n}()\n")
    ),
    "decorators": Hostile(8000, text(lambda n: "def d(f): return f\n" + "@d\n" * n + "def g(): pass\n")),
    "partial functions in each other": Hostile(
        4000, text(lambda n: "import functools\np = lib.define\n" + "p = functools.partial(p, 1)\n" * n + "p()\n")
    ),
    "comprehensions in comprehensions": Hostile(
        20, text(lambda n: f"x = [1 {' '.join(f'for a{k} in range(20000)' for k in range(n))}]\n")
    ),
    "a while that counts": Hostile(4000, text(lambda n: "i = 0\nwhile i < 1000000:\n    i = i + 1\n" * n)),
    "properties that use each other": Hostile(
        40,
        text(
            lambda n: (
                "class A:\n    p0 = 1\n"
                + lines("    §property\n    def p@(self): return (self.p^, self.p^)\n", n)
                + f"A().p{n}\n"
            )
        ),
    ),
    # conditions
    "returns under if": Hostile(
        4000,
        text(
            lambda n: (
                "def f(lib):\n"
                + lines('    if os.environ.get("A@"): return lib\n', n)
                + "    return lib\n"
                + "f(lib)\n" * 9
            )
        ),
    ),
    "ifs of a module": Hostile(
        4000, text(lambda n: lines("x@ = @\n", n) + lines('if os.environ["A@"]:\n    y@ = 1\n', n))
    ),
    "ifs that register": Hostile(
        4000, text(lambda n: lines('if os.environ["A@"]:\n    lib.define("op@(Tensor x) -> Tensor")\n', n))
    ),
    "one operator under ifs": Hostile(
        4000, text(lambda n: lines('if os.environ["A@"]:\n    lib.impl("op", print, "CPU")\n', n))
    ),
    "elif": Hostile(
        1000, text(lambda n: "if a: pass\n" + lines('elif os.environ["A@"]:\n    lib.define("op@() -> ()")\n', n))
    ),
    "elif that raises": Hostile(
        1000, text(lambda n: "if a: pass\n" + lines('elif os.environ["A@"]:\n    raise X\n', n))
    ),
    "cases": Hostile(4000, text(lambda n: "match a:\n" + lines('    case @:\n        lib.define("op@() -> ()")\n', n))),
    "handlers": Hostile(
        4000, text(lambda n: "try:\n    import x\n" + lines('except X@:\n    lib.define("op@() -> ()")\n', n))
    ),
    "imports that may fail": Hostile(
        4000, text(lambda n: lines("try:\n    import x@\nexcept ImportError:\n    x@ = None\n", n))
    ),
    "a test with many parts": Hostile(
        8000, text(lambda n: f'if {lines("a@", n, " or ")}:\n    lib.define("op() -> ()")\n')
    ),
    "tests in each other": Hostile(
        100,
        text(
            lambda n: (
                f"x = {'(' * n}a" + "".join(f" {('and', 'or')[k % 2]} b{k} + {k * 1111})" for k in range(n)) + "\n"
            )
        ),
    ),
    "values under many conditions": Hostile(
        4000, text(lambda n: lines('x@ = "CPU" if os.environ["A@"] else "CUDA"\nlib.impl("op@", print, x@)\n', n))
    ),
    "arguments under conditions": Hostile(
        400,
        text(
            lambda n: (
                lines('x@ = "a" if os.environ["A@"] else "b"\n', n)
                + f'lib.impl(f"{"".join(f"{{x{k}}}" for k in range(1, n))}", print)\n'
            )
        ),
    ),
    # many things
    "functions that nobody calls": Hostile(4000, text(functions)),
    "calls on one line": Hostile(8000, text(lambda n: '"é"; ' + lines('lib.define("op@() -> ()"); ', n))),
    "calls in each other": Hostile(80, text(lambda n: "f(\n" * n + "1" + ")" * n)),
    "unknown libraries": Hostile(8000, text(lambda n: lines('u@.impl("op", print, "CPU")\n', n))),
    "kernels that are removed": Hostile(
        4000,
        text(
            lambda n: lines(
                'torch.ops.my.a@.default.py_impl("CPU")(print)\ndel torch.ops.my.a@.default.py_kernels["CPU"]\n', n
            )
        ),
    ),
    "libraries that end": Hostile(
        4000, text(lambda n: lines('l@ = torch.library.Library("n@", "DEF")\nl@.define("a() -> ()")\ndel l@\n', n))
    ),
    "custom operators": Hostile(
        2000,
        text(
            lambda n: lines(
                '§torch.library.custom_op("my::c@", mutates_args=())\ndef c@(x: torch.Tensor) -> torch.Tensor: ...\n', n
            )
        ),
    ),
    "a function with many parameters": Hostile(
        8000,
        text(
            lambda n: (
                f'@torch.library.custom_op("my::c", mutates_args=())\ndef c({lines("x@: int", n, ", ")}) -> None: ...\n'
            )
        ),
    ),
    "names of a package": Hostile(
        4000,
        lambda n: {
            "p/__init__.py": lines("x@ = @\n", n),
            "p/a.py": f"{HEAD}try:\n    from . import {lines('y@', n, ', ')}\nexcept ImportError: pass\n",
        },
    ),
    "imports without an end": Hostile(16_000, lambda n: {"b.py": "from a import (\n" * n, "a.py": HEAD + OPERATOR}),
    "blanks before import": Hostile(
        400_000,
        lambda n: {
            "b.py": f"{HEAD}{OPERATOR}#\n'''\nfrom{' ' * n}x\n'''\n",
            "a.py": HEAD + OPERATOR,
            "c.py": "import a, b\n",
        },
    ),
    # many modules
    "modules that import the next": Hostile(
        800, modules("from m@ import X\nimport m@\n", entry="from m0 import X\nlib.define(X)\n")
    ),
    "modules that import each other": Hostile(
        400, modules(HEAD + "from m@ import *\nfrom m0 import *\nX = Y\n", entry="from m0 import *\nlib.define(Z)\n")
    ),
    "stars of stars": Hostile(40, tree_of_stars),
    "modules of one name": Hostile(800, alike),
    "modules that register the same": Hostile(400, operators),
    # what Python reads
    "brackets": Hostile(100_000, text(lambda n: f"x = {'(' * n}1{')' * n}\n")),
    "a chain of attributes": Hostile(100_000, text(lambda n: f"x = a{'.b' * n}\n")),
    "a sum": Hostile(200_000, text(lambda n: f"x = 1{' + 1' * n}\n")),
    "a list of numbers": Hostile(240_000, text(lambda n: f"x = [{'1, ' * n}]\n")),
    "dictionaries without an end": Hostile(80, text(lambda n: f"x = {'{1: ' * n}\n")),
    "lambdas": Hostile(4000, text(lambda n: f"x = {'lambda: ' * n}1\n")),
    "a long literal": Hostile(2_000_000, text(lambda n: f'lib.define("{"a" * n}(Tensor x) -> Tensor")\n')),
    "many lines": Hostile(60_000, text(lambda n: "x = 1\n" * n)),
    "NUL characters": Hostile(100_000, text(lambda n: "\0" * n)),
}
