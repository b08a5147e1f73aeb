"""The audit finds what looks like a registration, in C++ and in Python, and little else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from dispatch_cli.audit import audit
from dispatch_cli.declarations.source import SourceError
from dispatch_cli.model.span import Span


def sites(text: str, file: str = "a.cpp", accounted: frozenset[tuple[str, int]] = frozenset()) -> list[tuple[int, str]]:
    return [(place.at.line, place.what) for place in audit([file], lambda _: text, accounted)]


def test_a_block_with_its_statements() -> None:
    text = 'TORCH_LIBRARY_IMPL(mylib, CPU, m) {\n  m.impl("f", f);\n  m\n    .def("g() -> ()");\n  m.fallback(h);\n}\n'
    assert sites(text) == [(1, "TORCH_LIBRARY_IMPL"), (2, "impl"), (4, "def"), (5, "fallback")]
    assert sites(text, accounted=frozenset({("a.cpp", 2), ("a.cpp", 4), ("b.cpp", 1)})) == [
        (1, "TORCH_LIBRARY_IMPL"),
        (5, "fallback"),
    ]


def test_a_place_has_the_line_and_its_text() -> None:
    (place,) = audit(["a.cpp"], lambda _: '\n  m.impl("f", f);  \n', frozenset())
    assert (place.at, place.text) == (Span("a.cpp", 2, 5), 'm.impl("f", f);')


@pytest.mark.parametrize(
    "text",
    [
        '// m.impl("f", f);',
        "// a comment that goes on \\\nTORCH_LIBRARY(mylib, m) {}",
        '/* TORCH_LIBRARY(mylib, m) {\n m.impl("f", f); } */',
        'auto s = "TORCH_LIBRARY(mylib, m)";',
        'auto s = R"x(\nm.impl("f", f); )" m.def(1) )x";',
        "auto s = '\\''; auto t = \"m.impl(1)\";",
    ],
)
def test_comments_and_literals_are_left_out(text: str) -> None:
    assert sites(text) == []
    assert sites(text + '\nm.impl("g", g);') == [(text.count("\n") + 2, "impl")]


@pytest.mark.parametrize(
    "text",
    [
        'PYBIND11_MODULE(x, m) { m.def("f", &f); }',
        'void init(py::module& m) {\n  m.def("f", &f);\n}',
        'py::class_<X>(m, "X")\n  .def(py::init<>())\n  .def("f", &X::f);',
        'static auto x = torch::class_<X>("a", "X").def("f", &X::f);',
        'NB_MODULE(x, m) { m.def("f", &f); }',
        'TVM_FFI_STATIC_INIT_BLOCK() { refl::GlobalDef().def("f", f); }',
        "EXECUTORCH_LIBRARY(aten, f, g);",
        "node.op(1);",
        "namespace torch::jit { RegisterOperators reg({Operator(1)}); }",
        "class TORCH_API RegisterOperators { RegisterOperators() = default; };",
    ],
)
def test_other_registries_are_left_out(text: str) -> None:
    assert sites(text) == []


def test_blocks_beside_those_of_pybind11() -> None:
    text = 'PYBIND11_MODULE(x, m) { m.def("f", &f); }\nTORCH_LIBRARY(y, m) { m.def("g() -> ()"); }\n'
    assert sites(text) == [(2, "TORCH_LIBRARY"), (2, "def")]
    text = 'void f(py::module& m) {\n#if A\n  if (x) {\n#else\n  {\n#endif\n  m.def("f", &f);\n  }\n}\n'
    text += "TORCH_LIBRARY(y, m) {}"
    assert sites(text) == [(10, "TORCH_LIBRARY")]


def test_a_chain_of_the_old_interface() -> None:
    text = 'static auto r = torch::RegisterOperators()\n  .op("a::f", &f)\n  .op("a::g", &g);'
    assert sites(text) == [(1, "RegisterOperators"), (2, "op"), (3, "op")]


def test_what_is_in_a_macro_counts_where_the_macro_is_used() -> None:
    define = "#define REG(x) \\\n  m.impl(#x, x)\n"
    assert sites(define) == []
    assert sites(define + "#define ALL REG(a)\n") == []
    assert sites(define + "#define ALL \\\n REG(a)\n// REG(b)\nALL") == [(2, "impl")]
    texts = {"a.h": define, "b.cpp": "REG(f);"}
    assert [place.at for place in audit(["a.h", "b.cpp"], texts.__getitem__, frozenset())] == [Span("a.h", 2, 5)]
    texts["b.cpp"] = "#define REG(x) other(x)\nREG(f);"
    assert audit(["a.h", "b.cpp"], texts.__getitem__, frozenset()) == []


DEF = "#define DEF(m, x) \\\n  m.def(#x, \\\n [](int) { return x; })\n"


@pytest.mark.parametrize(
    "use",
    [
        "PYBIND11_MODULE(x, m) { DEF(m, f); }",
        "void add(nb::module_& m) { if (x) { DEF(m, f); } }",
        "#define ALL DEF(m, f); DEF(m, g)\nPYBIND11_MODULE(x, m) { ALL }",
        'static auto UNUSED c = torch::class_<C>("a", "C");\nvoid f() { DEF(c, f); }',
    ],
)
def test_macros_that_only_other_registries_use(use: str) -> None:
    assert sites(DEF + use) == []
    assert sites(f"{DEF}{use}\nvoid register_all(torch::Library& m) {{ DEF(m, h); }}") == [(2, "def")]


def test_a_template_in_a_file_with_bindings() -> None:
    text = 'using py::str;\ntemplate <class S> void f(S& s) {\n  s.def(x, y);\n  s.def("g(Tensor x) -> ()");\n}\n'
    assert sites(text) == [(4, "def")]
    assert sites(text + "TORCH_LIBRARY(y, m) { }") == [(3, "def"), (4, "def"), (6, "TORCH_LIBRARY")]


PYTHON = '''
import torch
from torch.library import Library, impl as register, register_fake

lib = Library("mylib", "DEF")
lib.define("f(Tensor x) -> Tensor")
@torch.library.custom_op("mylib::g", mutates_args=())
def g(x): ...
@g.register_fake
def _(x): ...
@register(lib, "f", "CPU")
def f(x):
    """lib.define("h() -> ()")"""
    return "lib.impl(" + x  # lib.impl("f", f)
direct_register_custom_op("h", h, [], None)
op.py_impl(DispatchKey.CPU)(f)
again = torch.library.impl
again("mylib::f", "CUDA")(f)
def register_fake(x): ...
class Library: ...
'''


def test_python() -> None:
    expected = [
        (5, "Library"),
        (6, "define"),
        (7, "custom_op"),
        (9, "register_fake"),
        (11, "register"),
        (15, "direct_register_custom_op"),
        (16, "py_impl"),
        (18, "again"),
    ]
    assert sites(PYTHON, "a.py") == expected
    assert sites(PYTHON, "without an extension") == expected


def test_strings_of_python_that_do_not_end() -> None:
    assert sites('lib.define("f() -> ()\nlib.define("g() -> ()")', "a.py") == [(1, "define"), (2, "define")]
    assert sites('x = """\nlib.define("g() -> ()")', "a.py") == []
    assert sites('x = """ \\""" """; lib.define("g() -> ()")', "a.py") == [(1, "define")]


def test_a_file_that_cannot_be_read_is_left_out() -> None:
    def read(file: str) -> str:
        if file == "a.cpp":
            raise SourceError(file, "is not a regular file")
        return 'm.impl("f", f);'

    assert [place.at.file for place in audit(["a.cpp", "b.cpp"], read, frozenset())] == ["b.cpp"]


def lines_run(function: Callable[[], object]) -> int:
    """Number of lines of this program that a call executes, without others, as when Python collects garbage."""
    count = 0

    def line(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def entered(frame: FrameType, _event: str, _argument: object) -> Any:
        return line if "dispatch_cli" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "unit",
    ["{ m.impl(", "#if A\n{", 'R"x(', '"""', "/*", "'", "py::", "m.def(1);\n", "#define A m.impl(1)\n", "\\\n", "a.b."],
)
@pytest.mark.parametrize("file", ["a.cpp", "a.py"])
def test_the_work_grows_with_the_text(unit: str, file: str) -> None:
    few, many = lines_run(lambda: sites(unit * 500, file)), lines_run(lambda: sites(unit * 2000, file))
    assert many <= 4.5 * few + 200


def test_a_long_chain_of_macros_takes_few_looks() -> None:
    chain = "".join(f"#define M{number} M{number + 1}\n" for number in range(1_000))
    text = f'{chain}#define M1000 m.impl("f", &f)\nTORCH_LIBRARY(my, m) {{ M0; }}\n'
    reads: list[str] = []

    def read(file: str) -> str:
        reads.append(file)
        return text

    assert [place.at.line for place in audit(["a.cpp"], read, frozenset({("a.cpp", 1002)}))] == [1001]
    assert len(reads) < 50
