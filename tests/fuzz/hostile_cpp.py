"""C++ that is small and asks for very much, by kind. `tests.fuzz.hostile` reads each in three sizes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

LIBRARY = "TORCH_LIBRARY(my, m) {"
OPERATOR = 'm.def("a(Tensor x) -> Tensor");'
BLOCK = f"{LIBRARY} {OPERATOR} }}\n"


class Hostile(NamedTuple):
    """A kind of input. size: the greatest; files: makes the files of a size, by name."""

    size: int
    files: Callable[[int], Mapping[str, str]]


def lines(template: str, count: int, between: str = "") -> str:
    """The template with each number in place of ``@``, and the number before it in place of ``^``."""
    return between.join(
        template.replace("@", str(number)).replace("^", str(number - 1)) for number in range(1, count + 1)
    )


def text(make: Callable[[int], str]) -> Callable[[int], Mapping[str, str]]:
    """One file, with a block that can be read behind what is made."""
    return lambda count: {"a.cpp": f"{make(count)}\n"}


def body(make: Callable[[int], str], before: Callable[[int], str] = lambda _: "") -> Callable[[int], Mapping[str, str]]:
    """One block with the statements that are made."""
    return lambda count: {"a.cpp": f"{before(count)}\n{LIBRARY}\n{make(count)}\n{OPERATOR}\n}}\n"}


def stringified(count: int) -> str:
    return f'm.impl({"S(" * count}"\\\\"{")" * count}, f);'


def headers(content: str) -> Callable[[int], Mapping[str, str]]:
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


def files_that_include(count: int) -> Mapping[str, str]:
    """Files that all include headers that all change a macro."""
    included = {f"h{number}.h": f"#undef X\n#define X {number}\n" for number in range(count)}
    every = lines('#include "h^.h"\n', count)
    return {**included, **{f"a{number}.cpp": every + BLOCK.replace("my", f"my{number}") for number in range(count)}}


def alternatives(count: int) -> Mapping[str, str]:
    return {f"a{number}.cpp": f'{LIBRARY} m.def("op{number % 7}(Tensor x) -> Tensor"); }}\n' for number in range(count)}


IF = '#if A@\nm.def("op@(Tensor x) -> Tensor");\n#endif\n'
HOSTILE: dict[str, Hostile] = {
    # those of the report
    "stringified backslashes": Hostile(40, body(stringified, lambda _: "#define S(x) S1(x)\n#define S1(x) #x")),
    "headers three times": Hostile(32, headers("@@@")),
    "headers under #if": Hostile(32, headers("#if A\n@#else\n@#endif\n@")),
    "#elif with operators": Hostile(
        100,
        text(
            lambda n: (
                "#if B > 1 || (C && D)\n"
                + LIBRARY
                + "\n"
                + OPERATOR
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
    "nested #if": Hostile(400, text(lambda n: lines("#if A@\n", n) + BLOCK + "#endif\n" * n)),
    "case arms": Hostile(
        800,
        body(lambda n: "switch (k()) {" + lines('case @: m.impl("op@", f@); break;\n', n) + "}"),
    ),
    "independent #if": Hostile(2000, body(lambda n: lines(IF, n))),
    "blocks on lines": Hostile(
        20_000, text(lambda n: lines('TORCH_LIBRARY(ns@, m) { m.def("a(Tensor x) -> Tensor"); }\n', n))
    ),
    "namespaces that nearly match": Hostile(800, text(blocks_of_namespaces)),
    "operators that nearly match": Hostile(
        4000,
        text(
            lambda n: (
                "TORCH_LIBRARY(my, m) {"
                + lines('m.def("operator_of_mine_@(Tensor x) -> Tensor");\n', n)
                + "}\nTORCH_LIBRARY_IMPL(my, CPU, m) {"
                + lines('m.impl("operator_of_mien_@", f@);\n', n)
                + "}"
            )
        ),
    ),
    "a long literal": Hostile(3_000_000, body(lambda n: f'm.def("{"a" * n}(Tensor x) -> Tensor");')),
    # macros
    "macros that double": Hostile(
        40, text(lambda n: "#define A0 1\n" + lines("#define A@ A^ A^\n", n) + f"{LIBRARY} A{n} }}")
    ),
    "macros that double by pasting": Hostile(
        40,
        body(
            lambda n: f'm.impl({"P(" * n}x{")" * n}, f);',
            lambda _: "#define P1(x) x##x\n#define P2(x) P1(x)\n#define P(x) P2(x)",
        ),
    ),
    "arguments that double": Hostile(
        40,
        text(
            lambda n: (
                "#define F0(...) int x;\n"
                + lines("#define F@(...) F^(__VA_ARGS__, __VA_ARGS__)\n", n)
                + f"{LIBRARY} F{n}(1) }}"
            )
        ),
    ),
    "arguments used twice": Hostile(
        40, body(lambda n: f"{'D(' * n}1{')' * n};", lambda _: "#define D(x) E(x) E(x)\n#define E(x) x")
    ),
    "many stringified uses": Hostile(
        4000, body(lambda n: "S(x) " * n, lambda n: f"#define S(x) #x T\n#define T {'y ' * (n // 10)}")
    ),
    "wide arguments": Hostile(
        4000, body(lambda n: f"F({', '.join('x' * 3 for _ in range(n))});", lambda _: "#define F(...) G(__VA_ARGS__)")
    ),
    "a macro defined again under each #if": Hostile(
        2000, body(lambda n: "X;\n" * n, lambda n: lines("#if A@\n#define X m.def(x@)\n#endif\n", n))
    ),
    "macros of one header for blocks": Hostile(
        2000,
        text(
            lambda n: "#define L0 TORCH_LIBRARY\n" + lines("#define L@ L^\n", n) + f"L{n}(my, m) {{ {OPERATOR} }}"
        ),
    ),
    # texts and values
    "constants that double": Hostile(
        40,
        body(
            lambda n: f"m.def(s{n});",
            lambda n: 'const std::string s0 = "a";\n' + lines("const std::string s@ = s^ + s^;\n", n),
        ),
    ),
    "constants that add up three": Hostile(
        20,
        body(
            lambda n: f"m.def(s{n});",
            lambda n: 'const std::string s0 = "a";\n' + lines("const std::string s@ = s^ + s^ + s^;\n", n),
        ),
    ),
    "local conditions that double": Hostile(
        40, body(lambda n: "bool b0 = x;\n" + lines("bool b@ = b^ && !b^;\n", n) + f'if (b{n}) {{ m.impl("a", f); }}')
    ),
    "literals side by side": Hostile(20_000, body(lambda n: f"m.def({lines(chr(34) + 'x@' + chr(34) + ' ', n)});")),
    "sums of literals": Hostile(4000, body(lambda n: f"m.def({lines(chr(34) + 'x@' + chr(34), n, ' + ')});")),
    "nested sums": Hostile(4000, body(lambda n: f"m.def({'(1 + ' * n}1{')' * n});")),
    "names without a value": Hostile(
        2000,
        body(lambda n: lines("m.def(NAME@);\n", n), lambda n: lines("// NAME@ const static inline x x x\n", n)),
    ),
    "functions without a declaration": Hostile(
        2000,
        body(lambda n: lines('m.def("op@", &f@);\n', n), lambda n: lines("int x@ = f@(1) + f@(2);\n", n)),
    ),
    # statements
    "loops in loops": Hostile(
        20, body(lambda n: lines("for (auto x@ : {1, 2, 3}) {", n) + 'm.impl("a", f);' + "}" * n)
    ),
    "lambdas that call twice": Hostile(
        40,
        body(
            lambda n: (
                'auto f0 = [&]() { m.impl("a", f); };\n'
                + lines("auto f@ = [&]() { f^(); f^(); };\n", n)
                + f"f{n}();"
            )
        ),
    ),
    "functions that call twice": Hostile(
        40,
        body(
            lambda n: f"f{n}(m);",
            lambda n: (
                'void f0(torch::Library& m) { m.impl("a", f); }\n'
                + lines("void f@(torch::Library& m) { f^(m); f^(m); }\n", n)
            ),
        ),
    ),
    "arguments of functions that double": Hostile(
        40,
        body(
            lambda n: f"f{n}(m, 1);",
            lambda n: (
                'void f0(torch::Library& m, int x) { m.impl("a", f); }\n'
                + lines("void f@(torch::Library& m, int x) { f^(m, x + x); }\n", n)
            ),
        ),
    ),
    "returns under #if": Hostile(
        1000, body(lambda n: lines('#if A@\nreturn;\n#endif\nm.def("op@(Tensor x) -> Tensor");\n', n))
    ),
    "returns under if": Hostile(
        1000, body(lambda n: lines('if (a@) return;\nm.def("op@(Tensor x) -> Tensor");\n', n))
    ),
    "ifs in a block": Hostile(
        2000, body(lambda n: lines('if (a@) { m.def("op@(Tensor x) -> Tensor"); }\n', n))
    ),
    "#if that open brackets": Hostile(
        40, body(lambda n: lines("#if A@\nif (x) {\n#else\n{\n#endif\n", n) + 'm.impl("a", f);' + "}" * n)
    ),
    "if with a long condition": Hostile(
        4000, body(lambda n: f'if ({lines("a@", n, " && ")}) {{ m.impl("a", f); }}')
    ),
    "else if": Hostile(
        1000, body(lambda n: 'if (x) { m.impl("a", f); }' + lines(' else if (a@) { m.impl("a@", f); }\n', n))
    ),
    "a chain of calls": Hostile(4000, body(lambda n: "m" + lines('.impl("op@", f@)', n) + ";")),
    "RegisterOperators": Hostile(
        2000,
        text(
            lambda n: (
                "static auto r = torch::RegisterOperators()"
                + lines(
                    '.op("my::op@(Tensor x) -> Tensor", '
                    "torch::RegisterOperators::options().kernel<&f@>(c10::DispatchKey::CPU))\n",
                    n,
                )
                + ";"
            )
        ),
    ),
    "less-than signs": Hostile(4000, body(lambda n: f'm.impl("a", {"f < " * n} 1);')),
    "library objects": Hostile(
        2000,
        text(
            lambda n: (
                "void g() {\n" + lines('auto m@ = MAKE_TORCH_LIBRARY(ns@); m@.def("a() -> ()");\n', n) + "}"
            )
        ),
    ),
    "braces before blocks": Hostile(
        4000,
        text(lambda n: lines("void g@() { static auto r = torch::RegisterOperators().op(\"my::o@() -> ()\"); }\n", n)),
    ),
    # preprocessor
    "conditions with very many atoms": Hostile(
        400,
        body(
            lambda n: (
                f'#if {lines("(A@ > 1 && B@)", n, " || ")}\nm.impl("a", f);\n#else\nm.impl("a", g);\n#endif'
            )
        ),
    ),
    "?: in #if": Hostile(40, body(lambda n: f'#if {"A ? B ? " * n}1{" : C : D" * n}\nm.impl("a", f);\n#endif')),
    "#if in macros": Hostile(
        40, text(lambda n: "#define C0 (X > 1)\n" + lines("#define C@ (C^ && C^)\n", n) + f"#if C{n}\n{BLOCK}#endif")
    ),
    "headers that are not there": Hostile(4000, text(lambda n: lines('#include "x@/y/z.h"\n', n) + BLOCK)),
    "files that include": Hostile(120, files_that_include),
    "files that contradict": Hostile(400, alternatives),
    "lines that are joined": Hostile(20_000, text(lambda n: "#define X \\\n" + "a\\\n" * n + "\n" + BLOCK)),
    "comments without an end": Hostile(20_000, text(lambda n: BLOCK + "/* \" ' R\"( " * n)),
    "one line of #": Hostile(20_000, text(lambda n: BLOCK + "# " * n + "\n" + "#\n" * n)),
    "a literal of quotes": Hostile(400_000, body(lambda n: 'm.def("' + '\\"' * n + '");')),
    "a raw literal": Hostile(1_000_000, body(lambda n: 'm.def(R"(' + "\\" * n + ')");')),
    "many operators": Hostile(8000, body(lambda n: lines('m.def("op@(Tensor x) -> Tensor", &f@);\n', n))),
}  # fmt: skip


class Used(NamedTuple):
    """Cost of a process. seconds: of the processor. code: of the exit; below zero for a signal."""

    seconds: float
    megabytes: int
    code: int


_LAUNCHER = """
import os, resource, sys
pid = os.fork()
if pid == 0:
    resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]),) * 2)
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    os.nice(10)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1), os.dup2(null, 2)
    os.execv(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(pid, 0)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10, os.waitstatus_to_exitcode(status))
"""
"""A small process that starts another: the kernel counts the memory of the one that starts a process, too."""


def measure(folder: str, arguments: tuple[str, ...], seconds: int) -> Used:
    """Run this program in a folder."""
    command = [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(seconds), sys.executable, "-m", "dispatch_cli"]
    run = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    cpu, memory, code = run.stdout.split()
    return Used(float(cpu), int(memory), int(code))


def write(files: Mapping[str, str], folder: str) -> int:
    """Write the files, and say how many bytes they have."""
    for name, content in files.items():
        path = Path(folder, "src", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return sum(len(content) for content in files.values())
