"""The preprocessor against the C++ standard, [cpp], and against a compiler where there is one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from dispatch_cli.extract.cpp.expander import UnclosedMacro
from dispatch_cli.extract.cpp.project import CppProject
from dispatch_cli.extract.cpp.tokens import CppToken, string_value, tokens_of
from dispatch_cli.extract.cpp.unit import TranslationUnit
from dispatch_cli.extract.settings import ReadSettings
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.work import OverWork
from dispatch_cli.model.extracted import SourceKind

GXX = shutil.which("g++")


def unit_tokens(folder: Path, files: dict[str, str], settings: ReadSettings | None = None) -> list[CppToken]:
    """All tokens of ``a.cpp``."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    names = [str(folder / name) for name in files]
    chosen = settings or ReadSettings()
    sources = Sources({SourceKind.CPP: names[:1]}, frozenset(names), (str(folder),), lambda _: chosen)
    unit = TranslationUnit(CppProject(sources), names[0], {})
    unit.skipping = False
    tokens: list[CppToken] = []
    with sources.work.file(names[0]):
        while (token := unit.next()) is not None:
            tokens.append(token)
    return tokens


def expanded(folder: Path, text: str) -> list[str]:
    return [token.text for token in unit_tokens(folder, {"a.cpp": text})]


STANDARD_1 = """
#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
#define p() int
#define q(x) x
#define r(x,y) x ## y
#define str(x) # x
f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);
g(x+(3,4)-w) | h 5) & m
(f)^m(m);
p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };
char c[2][6] = { str(hello), str() };
"""
STANDARD_2 = """
#define str(s) # s
#define xstr(s) str(s)
#define debug(s, t) printf("x" # s "= %d, x" # t "= %s", x ## s, x ## t)
#define INCFILE(n) vers ## n
#define glue(a, b) a ## b
#define xglue(a, b) glue(a, b)
#define HIGHLOW "hello"
#define LOW LOW ", world"
debug(1, 2);
fputs(str(strncmp("abc\\0d", "abc", '\\4') == 0) str(: @\\n), s);
xstr(INCFILE(2).h)
glue(HIGH, LOW);
xglue(HIGH, LOW)
"""
STANDARD_3 = """
#define hash_hash # ## #
#define mkstr(a) # a
#define in_between(a) mkstr(a)
#define join(c, d) in_between(c hash_hash d)
char p[] = join(x, y);
#define t(x,y,z) x ## y ## z
int j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };
"""
VARIADIC = """
#define F(a, ...) a(__VA_ARGS__)
#define G(X, ...) f(0, X __VA_OPT__(,) __VA_ARGS__)
#define SDEF(sname, ...) S sname __VA_OPT__(= { __VA_ARGS__ })
#define EMP
#define COUNT(_1, _2, _3, N, ...) N
#define NARG(...) COUNT(__VA_ARGS__, 3, 2, 1)
#define OLD(x, ...) p(x, ## __VA_ARGS__)
#define NAMED(args...) q(args)
F(a, b, c) F(d, (e, f), g) G(a, b, c) G(a, ) G(a) SDEF(foo); SDEF(bar, 1, 2);
NARG(a) NARG(a, b) NARG(a, (b, c), d) OLD(1) OLD(1, 2) NAMED(1, 2) NAMED() G(a, EMP)
"""
RESCAN = """
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define KERNEL1(x) one(x)
#define KERNEL2(x, y) two(x, y)
#define PICK(_1, _2, N, ...) N
#define KERNEL(...) CAT(KERNEL, PICK(__VA_ARGS__, 2, 1))(__VA_ARGS__)
#define LIST(_) _(a) _(b)
#define EMPTY
#define DEFER(x) x EMPTY
#define f(a) a*g
#define g(a) f(a)
KERNEL(x) KERNEL(x, y) LIST(KERNEL) CAT(CAT(a, b), c) f(2)(9) DEFER(g)(1)
#define self self + 1
#define AA BB
#define BB AA
self AA BB "a\\
b" te\\
xt // comment \\
goes on
/* over
lines */ end
"""
CASES = {"1": STANDARD_1, "2": STANDARD_2, "3": STANDARD_3, "variadic": VARIADIC, "rescan": RESCAN}


@pytest.mark.skipif(GXX is None, reason="g++ is not here")
@pytest.mark.parametrize("name", CASES)
def test_macros_are_replaced_as_a_compiler_does(tmp_path: Path, name: str) -> None:
    text = CASES[name]
    ours = expanded(tmp_path, text)
    run = subprocess.run(
        [str(GXX), "-E", "-P", "-std=c++20", str(tmp_path / "a.cpp")], capture_output=True, text=True, check=True
    )
    assert [t.replace("\\\n", "") for t in ours] == [token.text for token in tokens_of(run.stdout)]


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ('"a\\n\\"b\\\\"', 'a\n"b\\'),
        ('R"ab(x)" )a")ab"', 'x)" )a"'),
        ('u8"\\x41\\102\\u00e9"', "AB\u00e9"),
        ('"one \\\ntwo"', "one two"),
    ],
)
def test_values_of_literals(literal: str, value: str) -> None:
    (token,) = tokens_of(literal)
    assert string_value(token) == value


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"#define A{n} A{n + 1} A{n + 1}\n" for n in range(40)) + "A0\n",
        "#define f(x) " + "x" + "\n" + "f(" * 200 + "1" + ")" * 200 + "\n",
    ],
    ids=["growing", "arguments"],
)
def test_what_exceeds_a_bound_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(OverWork):
        unit_tokens(tmp_path, {"a.cpp": text})


def test_arguments_that_do_not_end_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnclosedMacro):
        unit_tokens(tmp_path, {"a.cpp": "#define f(x) x\nf(1, 2\n"})


def test_a_file_that_includes_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OverWork):
        unit_tokens(tmp_path, {"a.cpp": '#include "a.cpp"\n'})
