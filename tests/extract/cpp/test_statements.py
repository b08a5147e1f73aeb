"""Statements of registration blocks: conditions, loops, functions, and what is not understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.audit import audit
from dispatch_cli.extract.settings import ReadSettings
from dispatch_cli.model.condition import Atom
from dispatch_cli.model.extracted import ExtractedBlock, ExtractedDefinition, ExtractedKernel, Extraction
from tests.extract.cpp.reading import extracted


def registered(found: Extraction) -> dict[str, str]:
    """Conditions by ``operator kernel``, or by schema."""
    result: dict[str, str] = {}
    for item in found.found:
        when = " and ".join(map(str, item.when))
        if isinstance(item, ExtractedKernel):
            result[f"{item.operator} {item.kernel}"] = when
        elif isinstance(item, ExtractedDefinition):
            result[str(item.schema)] = when
    return result


def block(body: str, head: str = "TORCH_LIBRARY_IMPL(my, CPU, m)") -> str:
    return f"{head} {{\n{body}\n}}\n"


def conditions(folder: Path, text: str) -> dict[str, str]:
    extraction = extracted(folder, text)
    assert extraction.not_understood == ()
    return registered(extraction)


def test_preprocessor_conditions(tmp_path: Path) -> None:
    body = (
        '#ifdef A\nm.impl("f", f1);\n#elif B >= 2\nm.impl("f", f2);\n#else\nm.impl("f", f3);\n#endif\n'
        'm.impl("g", g);\n#if 0\nm.impl("h", h);\n#endif\n'
    )
    extraction = extracted(tmp_path, block(body))
    assert registered(extraction) == {
        "my::f f1": "defined(A)",
        "my::f f2": "not defined(A) and B >= 2",
        "my::f f3": "not defined(A) and not B >= 2",
        "my::g g": "",
    }
    assert (str(tmp_path / "a.cpp"), 11) in extraction.accounted


def test_settings_decide_conditions(tmp_path: Path) -> None:
    text = block('#ifdef A\nm.impl("f", f1);\n#elif B >= 2\nm.impl("f", f2);\n#else\nm.impl("f", f3);\n#endif')
    assert registered(extracted(tmp_path, text, ReadSettings(defines=(("A", "1"),)))) == {"my::f f1": ""}
    settings = ReadSettings(defines=(("B", "3"),), undefines=frozenset({"A"}))
    assert registered(extracted(tmp_path, text, settings)) == {"my::f f2": ""}
    when = ReadSettings(when=(Atom("built for CUDA"),), undefines=frozenset({"A", "B"}))
    extraction = extracted(tmp_path, text, when)
    assert registered(extraction) == {"my::f f3": "built for CUDA"}
    assert [item.when for item in extraction.found if isinstance(item, ExtractedBlock)] == [(Atom("built for CUDA"),)]


def test_whole_blocks_are_conditional(tmp_path: Path) -> None:
    text = "#ifndef GUARD\n#define GUARD\n#ifdef A\n" + block('m.impl("f", f);') + "#endif\n#endif\n"
    extraction = extracted(tmp_path, text)
    assert registered(extraction) == {"my::f f": "defined(A)"}
    assert [item.when for item in extraction.found if isinstance(item, ExtractedBlock)] == [(Atom("defined(A)"),)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('if (has_cuda()) m.impl("f", f);', {"my::f f": "has_cuda()"}),
        ('if constexpr (kCuda) { m.impl("f", f); }', {"my::f f": "kCuda"}),
        (
            'if (a && !b) { m.impl("f", f1); } else { m.impl("f", f2); }',
            {"my::f f1": "a and not b", "my::f f2": "not (a and not b)"},
        ),
        (
            'if (x > 1) m.impl("f", f1); else if (y) m.impl("f", f2); else m.impl("f", f3);',
            {"my::f f1": "x > 1", "my::f f2": "not x > 1 and y", "my::f f3": "not x > 1 and not y"},
        ),
        (
            'const bool on = getenv("ON") != nullptr;\nif (!on) { return; }\nm.impl("f", f);',
            {"my::f f": 'getenv("ON") != nullptr'},
        ),
        ('if (a || b) return;\nm.impl("f", f);', {"my::f f": "not a and not b"}),
        ('if (true) { m.impl("f", f); } else { m.impl("g", g); }', {"my::f f": ""}),
        ('#ifdef A\nreturn;\n#endif\nm.impl("f", f);', {"my::f f": "not defined(A)"}),
        ('{ m.impl("f", f); }', {"my::f f": ""}),
        ('m.impl("f", f); return; m.impl("g", g);', {"my::f f": ""}),
    ],
)
def test_conditions_at_run_time(tmp_path: Path, body: str, expected: dict[str, str]) -> None:
    assert conditions(tmp_path, block(body)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            block('m.impl("f",\n#ifdef A\n  f1\n#else\n  f2\n#endif\n);\nm.impl("g", g);'),
            {"my::f f1": "defined(A)", "my::f f2": "not defined(A)", "my::g g": ""},
        ),
        (
            "#ifdef A\n"
            + "TORCH_LIBRARY_IMPL(one, CPU, m) {\n#else\nTORCH_LIBRARY_IMPL(two, CPU, m) {\n#endif\n"
            + 'm.impl("f", f);\n}\n',
            {"one::f f": "defined(A)", "two::f f": "not defined(A)"},
        ),
        (
            block('#ifdef A\nif (x) {\n#endif\nm.impl("f", f);\n#ifdef A\n}\n#endif\nm.impl("g", g);'),
            {"my::f f": "defined(A) and x", "my::f f ": "", "my::g g": ""},
        ),
        (
            block('#ifdef A\nif (x)\n  m.impl("f", f);\nelse\n#endif\n  m.impl("g", g);'),
            {"my::f f": "defined(A) and x", "my::g g": "defined(A) and not x"},
        ),
        (
            "#ifdef A\n#define KEY CUDA\n#define OP(x) m.impl(#x, cuda_##x)\n#else\n#define KEY HIP\n"
            "#define OP(x) m.impl(#x, hip_##x)\n#endif\n" + block("OP(f);", "TORCH_LIBRARY_IMPL(my, KEY, m)"),
            {"my::f cuda_f": "defined(A)", "my::f hip_f": "not defined(A)"},
        ),
        (
            "#ifdef A\n#define OP(x) m.impl(#x, x)\n#endif\n#ifdef A\n" + block("OP(f);") + "#endif\n",
            {"my::f f": "defined(A)"},
        ),
    ],
    ids=["argument", "heads", "if", "else", "macros", "same"],
)
def test_branches_that_cannot_be_read_together(tmp_path: Path, text: str, expected: dict[str, str]) -> None:
    extraction = extracted(tmp_path, text)
    assert extraction.not_understood == ()
    results: dict[str, str] = {}
    for item in extraction.found:
        if isinstance(item, ExtractedKernel):
            when = " and ".join(map(str, item.when))
            name = f"{item.operator} {item.kernel}"
            if results.get(name, when) != when:
                assert (results[name], when) in (
                    ("defined(A) and x", "not defined(A)"),
                    ("defined(A) and not x", "not defined(A)"),
                )
                continue
            results[name] = when
    assert results == {name: when for name, when in expected.items() if not name.endswith(" ")}


@pytest.mark.parametrize(
    "body",
    [
        'const char* names[] = {"f", "g"};\nfor (const char* name : names) m.impl(name, k);',
        'for (const auto& name : std::vector<std::string>{"f", "g"}) { m.impl(name.c_str(), k); }',
        "ns::add_both(m);",
        'm.impl("f", k).impl("g", k);',
        "BOTH(OP)",
    ],
)
def test_loops_functions_and_macros(tmp_path: Path, body: str) -> None:
    before = 'namespace ns { static void add_both(torch::Library& lib) { lib.impl("f", k); lib.impl("g", k); } }\n'
    macros = "#define OP(name) m.impl(#name, k);\n#define BOTH(_) _(f) _(g)\n"
    text = (before if "both(" in body else macros if "BOTH" in body else "") + block(body)
    assert conditions(tmp_path, text) == {"my::f k": "", "my::g k": ""}


def test_functions_of_other_files(tmp_path: Path) -> None:
    files = {
        "a.cpp": "void add(torch::Library& m, const char* suffix);\n" + block('if (x) add(m, ".out");'),
        "b.cpp": 'void add(torch::Library& lib, const char* suffix) {\n  lib.impl(std::string("f") + suffix, f);\n}\n',
    }
    extraction = extracted(tmp_path, files)
    assert extraction.not_understood == ()
    assert registered(extraction) == {"my::f.out f": "x"}
    (kernel,) = [item for item in extraction.found if isinstance(item, ExtractedKernel)]
    assert (kernel.at.file, kernel.at.line) == (str(tmp_path / "b.cpp"), 2)


@pytest.mark.parametrize(
    ("body", "line", "why"),
    [
        ("UNKNOWN_OP(f);", 2, "the macro UNKNOWN_OP is not known"),
        ("for (auto& name : names()) { m.impl(name, k); }", 2, "the list that this loop runs over is not known"),
        ('while (x) { m.impl("f", f); }', 2, "registrations in a 'while' are not followed"),
        ('try { m.impl("f", f); } catch (...) { }\nf();', 2, "registrations in a 'try' are not followed"),
        ('auto add = [&](auto n) { m.impl(n, k); };\nadd("f");', 2, "what this does with the library is not known"),
        ("elsewhere(m);", 2, "the function elsewhere is not found in the sources"),
        ('m.undo("f");', 2, "'undo' of a library is not known"),
        ("auto& copy = m;", 2, "what this does with the library is not known"),
        ('other.impl("f", f);', 2, "which library this registers with is not known"),
        ('m.def("f() -> ()", {tag});', 2, "a tag of this definition is not known"),
        ("${registrations}", 2, "this is a template, which is filled in when the project is built"),
        ("m.fallback(f);", 2, "a fallback needs a dispatch key"),
    ],
)
def test_what_is_not_understood_is_said(tmp_path: Path, body: str, line: int, why: str) -> None:
    extraction = extracted(tmp_path, block(body, "TORCH_LIBRARY(my, m)"))
    assert [(gap.at.line, gap.why) for gap in extraction.not_understood] == [(line, why)]
    if body.startswith("UNKNOWN"):
        assert [name for name, _ in extraction.missing] == [body.rstrip("(f);")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('\nMY_LIBRARY(my, "f", f);\n', "the macro MY_LIBRARY is not known"),
        ("\nTORCH_LIBRARY(my, m) {\n", "the braces of this block are missing or do not match"),
        ("\nTORCH_LIBRARY(my, m\n", "the ')' of the macro TORCH_LIBRARY is missing"),
    ],
)
def test_what_is_in_no_block_is_said(tmp_path: Path, text: str, why: str) -> None:
    extraction = extracted(tmp_path, text)
    assert [(gap.at.line, gap.why) for gap in extraction.not_understood][-1] == (2, why)


@pytest.mark.parametrize(
    "text",
    [
        'void f(torch::Library& m) {\n  m.impl("f", f);\n}\n',
        'auto l = lazy([](torch::Library& m) {\n  m.impl("f", f);\n});\n',
    ],
)
def test_what_a_function_registers_that_nothing_calls_is_for_the_audit(tmp_path: Path, text: str) -> None:
    extraction = extracted(tmp_path, text)
    assert extraction.not_understood == ()
    assert [place.at.line for place in audit(["a.cpp"], lambda _: text, extraction.accounted)] == [2]


def test_a_bound_that_is_exceeded_leaves_the_other_files(tmp_path: Path) -> None:
    grow = "".join(f"#define A{n} A{n + 1} A{n + 1}\n" for n in range(30))
    extraction = extracted(tmp_path, {"a.cpp": grow + block("A0"), "b.cpp": block('m.impl("f", f);')})
    assert registered(extraction) == {"my::f f": ""}
    (gap,) = extraction.not_understood
    assert "steps to read" in gap.why
    assert gap.bound


@pytest.mark.parametrize(
    "body",
    [
        'm.impl("f", a' + "<a" * 20_000 + ");",
        'm.impl("f", ' + "(" * 2_000 + "f" + ")" * 2_000 + ");",
        "m.def(" + '"a" + ' * 2_000 + '"b");',
        "if (" + "!" * 2_000 + 'x) m.impl("f", f);',
        "".join(f"#elif A{n}\n" for n in range(2_000)).replace("#elif", "#if", 1) + "#endif",
        "/*" * 20_000,
        'R"x(' * 20_000,
        "{" * 5_000 + "}" * 5_000,
    ],
    ids=["angles", "parentheses", "sums", "not", "branches", "comments", "strings", "braces"],
)
def test_deep_and_long_sources_end(tmp_path: Path, body: str) -> None:
    extraction = extracted(tmp_path, {"a.cpp": block(body), "b.cpp": block('m.impl("last", f);')})
    assert registered(extraction)["my::last f"] == ""


def test_a_parameter_without_a_type_has_no_signature(tmp_path: Path) -> None:
    extraction = extracted(tmp_path, "void f(int64_t a, = 3) {}\n" + block('m.def("f", f);', "TORCH_LIBRARY(my, m)"))
    assert registered(extraction) == {"None": "", "my::f f": ""}
