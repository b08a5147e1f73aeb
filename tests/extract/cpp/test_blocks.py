"""Registration blocks of C++ and the statements in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.extract.settings import ReadSettings
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import (
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Extraction,
    Unknown,
)
from tests.extract.cpp.reading import extracted


def blocks(found: Extraction) -> list[ExtractedBlock]:
    return [item for item in found.found if isinstance(item, ExtractedBlock)]


def definitions(found: Extraction) -> list[ExtractedDefinition]:
    return [item for item in found.found if isinstance(item, ExtractedDefinition)]


def kernels(found: Extraction) -> list[ExtractedKernel]:
    return [item for item in found.found if isinstance(item, ExtractedKernel)]


def in_block(folder: Path, body: str, head: str = "TORCH_LIBRARY(my, m)", before: str = "") -> Extraction:
    """Extraction of a block whose body this is; all of it has to be understood."""
    extraction = extracted(folder, f"{before}\n{head} {{\n{body}\n}}\n")
    assert extraction.not_understood == ()
    return extraction


def test_a_definition_and_a_kernel_have_their_places(tmp_path: Path) -> None:
    text = 'int x;\nTORCH_LIBRARY(my, m) {\n  m.def("f(Tensor a) -> Tensor");\n  m.impl("f", &f);\n}\n'
    block, definition, kernel = extracted(tmp_path, text).found
    assert isinstance(block, ExtractedBlock)
    assert (block.kind, block.namespace, block.dispatch_key) == (LibraryKind.DEF, "my", None)
    assert (block.at.line, block.at.column) == (2, 1)
    assert isinstance(definition, ExtractedDefinition)
    assert (definition.name, definition.schema) == ("my::f", "my::f(Tensor a) -> Tensor")
    assert (definition.at.line, definition.at.column) == (3, 3)
    assert isinstance(kernel, ExtractedKernel)
    assert (kernel.operator, kernel.key, kernel.kernel, kernel.at.line) == ("my::f", None, "f", 4)


@pytest.mark.parametrize(
    ("head", "kind", "namespace", "key"),
    [
        ("TORCH_LIBRARY_FRAGMENT(my, m)", LibraryKind.FRAGMENT, "my", None),
        ("TORCH_LIBRARY_IMPL(my, CPU, m)", LibraryKind.IMPL, "my", "CPU"),
        ("TORCH_LIBRARY_IMPL(my, Autocast, m)", LibraryKind.IMPL, "my", "AutocastCUDA"),
        ("TORCH_LIBRARY_IMPL(my, CatchAll, m)", LibraryKind.IMPL, "my", None),
        (
            "STABLE_TORCH_LIBRARY_IMPL(my, CompositeExplicitAutograd, m)",
            LibraryKind.IMPL,
            "my",
            "CompositeExplicitAutograd",
        ),
        ("TORCH_LIBRARY_FRAGMENT(MY_EXTENSION_NAME, m)", LibraryKind.FRAGMENT, Unknown("MY_EXTENSION_NAME"), None),
        ("TORCH_LIBRARY_IMPL(my, MY_BACKEND_KEY, m)", LibraryKind.IMPL, "my", Unknown("MY_BACKEND_KEY")),
    ],
)
def test_forms_of_blocks(
    tmp_path: Path, head: str, kind: LibraryKind, namespace: str | Unknown, key: str | Unknown | None
) -> None:
    extraction = in_block(tmp_path, 'm.impl("f", f);', head)
    (block,) = blocks(extraction)
    assert (block.kind, block.namespace, block.dispatch_key) == (kind, namespace, key)
    (kernel,) = kernels(extraction)
    assert kernel.key == key
    unknown = {value.expression for value in (namespace, key) if isinstance(value, Unknown)}
    assert {name for name, _ in extraction.missing} == unknown


def test_wrappers_of_blocks_and_macros_of_the_command_line(tmp_path: Path) -> None:
    files = {
        "reg.h": "#pragma once\n#define MY_LIB(NAME, MODULE) TORCH_LIBRARY(NAME, MODULE)\n"
        "#define MY_OP(op, key) TORCH_LIBRARY_IMPL(my, key, m) { m.impl(#op, &op##_##key); }\n"
        '#define OTHER(op) MY_OP(op, CPU) \\\n\\\n  TORCH_LIBRARY_FRAGMENT(my, m) { m.def(#op "(Tensor a) -> ()"); }\n',
        "a.cpp": '#include "reg.h"\nMY_LIB(EXT, ops) {\n  ops.def("f() -> ()");\n}\n\nOTHER(g);\n',
    }
    extraction = extracted(tmp_path, files, ReadSettings(defines=(("EXT", "_C"),)))
    assert extraction.not_understood == ()
    assert [(block.namespace, block.at.line) for block in blocks(extraction)] == [("_C", 2), ("my", 6), ("my", 6)]
    assert [definition.schema for definition in definitions(extraction)] == ["_C::f() -> ()", "my::g(Tensor a) -> ()"]
    (kernel,) = kernels(extraction)
    assert (kernel.operator, kernel.key, kernel.kernel, kernel.at.line) == ("my::g", "CPU", "g_CPU", 6)
    header = str(tmp_path / "reg.h")
    assert {(header, 2), (header, 3), (header, 6)} <= extraction.accounted


def test_the_body_may_follow_a_wrapper_and_m_may_have_any_name(tmp_path: Path) -> None:
    text = '#define BLOCK(key) TORCH_LIBRARY_IMPL(my, key, lib)\nBLOCK(XPU)\n{ lib.impl("f", f); }\n'
    (kernel,) = kernels(extracted(tmp_path, text))
    assert (kernel.operator, kernel.key) == ("my::f", "XPU")


@pytest.mark.parametrize(
    ("body", "schema"),
    [
        ('m.def("f(Tensor a, "\n "int b) -> Tensor");', "my::f(Tensor a, int b) -> Tensor"),
        ('m.def(R"(f.out(Tensor a, *, Tensor(a!) out) -> ())");', "my::f.out(Tensor a, *, Tensor(a!) out) -> ()"),
        ('m.def("my::f() -> ()");', "my::f() -> ()"),
        ('m.def(TORCH_SELECTIVE_SCHEMA("f() -> ()"));', "my::f() -> ()"),
        ('m.def(torch::schema("f() -> ()"));', "my::f() -> ()"),
        ('m.def(std::string("f(") + "Tensor a" + ") -> ()");', "my::f(Tensor a) -> ()"),
        ('const char* s = "f() -> ()";\nm.def(s);', "my::f() -> ()"),
        ("m.def(ns::kSchema);", "my::f(int b) -> ()"),
    ],
)
def test_forms_of_schemas(tmp_path: Path, body: str, schema: str) -> None:
    before = '#define SCHEMA "f(int a) -> ()"\nconstexpr char kSchema[] = "f(int b) -> ()";'
    (definition,) = definitions(in_block(tmp_path, body, before=before))
    assert (definition.name, definition.schema) == (schema.partition("(")[0], schema)
    assert definition.alias_analysis is None


@pytest.mark.parametrize(
    ("arguments", "tags", "alias_analysis", "kernel"),
    [
        ('"f() -> ()", {at::Tag::core}', ("core",), None, None),
        ('"f() -> ()", tags', ("pt2_compliant_tag", "core"), None, None),
        ('"f() -> ()", {one}', ("needs_fixed_stride_order",), None, None),
        ('torch::schema("f() -> ()", c10::AliasAnalysisKind::PURE_FUNCTION)', (), "PURE_FUNCTION", None),
        ('"f() -> ()", &k', (), None, ("k", None)),
        ('"f() -> ()", torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(k))', (), None, ("k", "CPU")),
        ('"f() -> ()", torch::dispatch(torch::kCUDA, k), {at::Tag::core}', ("core",), None, ("k", "CUDA")),
    ],
)
def test_forms_of_definitions(
    tmp_path: Path,
    arguments: str,
    tags: tuple[str, ...],
    alias_analysis: str | None,
    kernel: tuple[str, str | None] | None,
) -> None:
    body = (
        "std::vector<at::Tag> tags = {at::Tag::pt2_compliant_tag, at::Tag::core};\n"
        f"at::Tag one = at::Tag::needs_fixed_stride_order;\nm.def({arguments});"
    )
    extraction = in_block(tmp_path, body)
    (definition,) = definitions(extraction)
    assert (definition.tags, definition.alias_analysis) == (tags, alias_analysis)
    assert [(kernel.kernel, kernel.key) for kernel in kernels(extraction)] == ([] if kernel is None else [kernel])


@pytest.mark.parametrize(
    ("arguments", "kernel", "key", "flags"),
    [
        ('"f", &ns::f', "ns::f", "CPU", ""),
        ('"f", TORCH_FN(ns::f)', "ns::f", "CPU", ""),
        ('TORCH_SELECTIVE_NAME("f"), TORCH_FN((f<int, 2>))', "f<int, 2>", "CPU", ""),
        ('"my::f", TORCH_BOX(&f)', "f", "CPU", "boxed"),
        ('"f", static_cast<Tensor (*)(Tensor, int)>(&f)', "f", "CPU", ""),
        ('"f", torch::CppFunction::makeFallthrough()', "fallthrough", "CPU", "fallthrough"),
        ('"f", torch::CppFunction::makeFromBoxedFunction<&boxed>()', "boxed", "CPU", "boxed"),
        ('"f", torch::CppFunction::makeFromBoxedFunctor(std::make_unique<F>())', "F", "CPU", "boxed"),
        ('"f", torch::CppFunction::makeFromUnboxedFunction(f).debug("x")', "f", "CPU", ""),
        ('"f", c10::DispatchKey::CUDA, f', "f", "CUDA", ""),
        ('"f", torch::kCUDA, &f', "f", "CUDA", ""),
        ('"f", c10::DeviceType::XPU, &f', "f", "XPU", ""),
        ('"f", torch::dispatch(c10::kAutograd, f)', "f", "Autograd", ""),
        ('"f", kKey, f', "f", "PrivateUse1", ""),
        ('"f", key_of(x), f', "f", Unknown("key_of(x)"), ""),
    ],
)
def test_forms_of_kernels(tmp_path: Path, arguments: str, kernel: str, key: str | Unknown, flags: str) -> None:
    before = "constexpr auto kKey = c10::DispatchKey::PrivateUse1;"
    (registered,) = kernels(in_block(tmp_path, f"m.impl({arguments});", "TORCH_LIBRARY_IMPL(my, CPU, m)", before))
    assert (registered.operator, registered.kernel, registered.key) == ("my::f", kernel, key)
    assert (registered.fallthrough, registered.boxed_only) == (flags == "fallthrough", flags == "boxed")


def test_lambdas_are_named_by_their_places(tmp_path: Path) -> None:
    body = 'm.impl("f", [](Tensor a) { if (a.x()) { return a; } return a; })\n .impl("g", [](Tensor a) { return a; });'
    first, second = kernels(in_block(tmp_path, body, "TORCH_LIBRARY_IMPL(my, CPU, m)"))
    assert first.kernel == f"lambda at {tmp_path}/a.cpp:3:13"
    assert (second.operator, second.kernel) == ("my::g", f"lambda at {tmp_path}/a.cpp:4:13")


def test_fallbacks(tmp_path: Path) -> None:
    text = (
        "TORCH_LIBRARY_IMPL(_, AutogradXLA, m) { m.fallback(torch::CppFunction::makeFallthrough()); }\n"
        "TORCH_LIBRARY(_, m) { m.fallback(torch::dispatch(c10::DispatchKey::XPU, boxed())); }\n"
        'TORCH_LIBRARY_IMPL(_, Meta, m) { m.impl("aten::add.Tensor", f); }\n'
    )
    extraction = extracted(tmp_path, text)
    fallbacks = [item for item in extraction.found if isinstance(item, ExtractedFallback)]
    assert [(fallback.key, fallback.kernel, fallback.fallthrough) for fallback in fallbacks] == [
        ("AutogradXLA", "fallthrough", True),
        ("XPU", "boxed()", False),
    ]
    assert [kernel.operator for kernel in kernels(extraction)] == ["aten::add.Tensor"]


def test_a_definition_by_name_takes_the_signature_of_its_function(tmp_path: Path) -> None:
    files = {
        "f.h": "#pragma once\nnamespace my { TORCH_API std::tuple<at::Tensor, int64_t> g(\n  const at::Tensor& a, "
        "const std::optional<at::Tensor>& b = {}, at::IntArrayRef c = {1, 2}, std::array<bool, 2> d); }\n",
        "a.cpp": '#include "f.h"\nstatic void f(torch::Tensor& a, double b, std::string c) { f(a, b, c); }\n'
        "TORCH_LIBRARY(my, m) {\n"
        '  m.def("f", &f);\n  m.def("g", my::g);\n  m.def("h", h);\n'
        '  m.def("l", [](bool a, std::vector<std::vector<int64_t>> b) -> c10::SymInt { return 1; });\n}\n',
    }
    extraction = extracted(tmp_path, files)
    assert [
        (definition.name, definition.schema, definition.alias_analysis) for definition in definitions(extraction)
    ] == [
        ("my::f", "my::f(Tensor _0, float _1, str _2) -> ()", "CONSERVATIVE"),
        ("my::g", "my::g(Tensor _0, Tensor? _1, int[] _2, bool[] _3) -> (Tensor _0, int _1)", "CONSERVATIVE"),
        ("my::h", None, "CONSERVATIVE"),
        ("my::l", "my::l(bool _0, int[][] _1) -> SymInt _0", "CONSERVATIVE"),
    ]
    assert definitions(extraction)[2].why_unknown is not None
    assert len(kernels(extraction)) == 4


def test_schemas_that_are_not_known(tmp_path: Path) -> None:
    extraction = in_block(tmp_path, 'm.def(make_schema("f"));\nm.impl(name_of(F), f);')
    (definition,) = definitions(extraction)
    assert (definition.name, definition.schema) == (Unknown('make_schema("f")'), None)
    assert definition.why_unknown == "the schema is the value of 'make_schema(\"f\")', which is not known"
    assert [kernel.operator for kernel in kernels(extraction)] == [Unknown("name_of(F)")]


def test_what_registers_no_operator_is_harmless(tmp_path: Path) -> None:
    body = (
        ';\nm.class_<C>("C").def(torch::init<>()).def("f", &C::f);\nauto c = m.class_<D>("D");\nc.def("g", &D::g);\n'
        'TORCH_CHECK(true);\nstatic int counter = 0;\nusing T = int;\nprintf("x");\n'
    )
    assert len(in_block(tmp_path, body).found) == 1


def test_the_python_module_is_that_of_later_definitions(tmp_path: Path) -> None:
    body = (
        'm.def("f() -> ()");\nm.set_python_module("my.ops").def("g() -> ()");\n'
        'm.impl_abstract_pystub("other", "//x");\nm.def("h() -> ()");\n'
        'm.set_python_module(chosen());\nm.def("i() -> ()");\n'
    )
    extraction = in_block(tmp_path, body)
    modules = {definition.name: definition.python_module for definition in definitions(extraction)}
    assert modules == {"my::f": (), "my::g": ("my.ops",), "my::h": ("other", "//x"), "my::i": ()}


def test_register_operators(tmp_path: Path) -> None:
    text = (
        "static Tensor f(const Tensor& a) { return a; }\n"
        "static auto registry = torch::RegisterOperators()\n"
        '  .op("my::f(Tensor a) -> Tensor", &f)\n'
        '  .op("my::g", &f)\n'
        '  .op("my::h(Tensor a) -> Tensor", c10::RegisterOperators::options()\n'
        "    .kernel<decltype(f), &f>(c10::DispatchKey::CPU)\n"
        "    .kernel(DispatchKey::CUDA, &f).catchAllKernel<Functor>()\n"
        "    .aliasAnalysis(AliasAnalysisKind::FROM_SCHEMA))\n"
        '  .op(torch::RegisterOperators::options().schema("my::i() -> ()"));\n'
        'torch::RegisterOperators second("my::j() -> ()", &f);\n'
        'static torch::jit::RegisterOperators jit({Operator("aten::x() -> ()", [](Stack& s) {})});\n'
        'void later() { auto r = torch::RegisterOperators().op("my::k() -> ()"); }\n'
    )
    extraction = extracted(tmp_path, text)
    assert extraction.not_understood == ()
    assert [
        (definition.schema, definition.alias_analysis, definition.at.line) for definition in definitions(extraction)
    ] == [
        ("my::f(Tensor a) -> Tensor", "default", 3),
        ("my::g(Tensor _0) -> Tensor _0", "default", 4),
        ("my::h(Tensor a) -> Tensor", None, 5),
        ("my::i() -> ()", "default", 9),
        ("my::j() -> ()", "default", 10),
        ("my::k() -> ()", "default", 12),
    ]
    assert [(kernel.operator, kernel.key, kernel.kernel) for kernel in kernels(extraction)] == [
        ("my::f", None, "f"),
        ("my::g", None, "f"),
        ("my::h", "CPU", "f"),
        ("my::h", "CUDA", "f"),
        ("my::h", None, "Functor"),
        ("my::j", None, "f"),
    ]
    assert all(block.implicit for block in blocks(extraction))
    assert [str(condition) for condition in definitions(extraction)[-1].when] == ["later is called"]


def test_library_objects(tmp_path: Path) -> None:
    text = (
        "void init() {\n  static auto lib = MAKE_TORCH_LIBRARY_IMPL(_, Lazy);\n  lib.fallback(f());\n  other();\n}\n"
        'void test() { auto m = MAKE_TORCH_LIBRARY(my); m.def("f() -> ()"); { m.def("g() -> ()"); } }\n'
    )
    extraction = extracted(tmp_path, text)
    assert extraction.not_understood == ()
    assert [(block.namespace, block.dispatch_key, str(block.when[0])) for block in blocks(extraction)] == [
        ("_", "Lazy", "init is called"),
        ("my", None, "test is called"),
    ]
    assert [definition.name for definition in definitions(extraction)] == ["my::f", "my::g"]
    assert len([item for item in extraction.found if isinstance(item, ExtractedFallback)]) == 1


# Schemas inferred from C++: what lambdas without a type return, and tuples in parameters.


BEFORE = """namespace scatter {
API_MACRO int64_t cuda_version() noexcept;
at::Tensor twice(const at::Tensor& a, int64_t n);
template <typename T> T made(T a);
typedef std::tuple<std::string, std::string, std::string> edge_t;
using pair_t = std::tuple<at::Tensor, int64_t>;
typedef pair_t found_t;
scatter::found_t largest(at::Tensor a);
int64_t sample(const std::vector<edge_t>& edges, const c10::Dict<std::string, at::Tensor>& values);
}
"""


@pytest.mark.parametrize(
    ("function", "schema"),
    [
        ("[] { return scatter::cuda_version(); }", "() -> int _0"),
        ("[](at::Tensor a) { return scatter::twice(a, 2); }", "(Tensor _0) -> Tensor _0"),
        ("[](at::Tensor a) { a.zero_(); }", "(Tensor _0) -> ()"),
        ("[](at::Tensor a) { return scatter::twice(a, 2) + a; }", None),
        ("[](at::Tensor a) { a.zero_(); return scatter::twice(a, 2); }", None),
        ("[](auto a) { return scatter::cuda_version(); }", None),
        ("&scatter::largest", "(Tensor _0) -> (Tensor _0, int _1)"),
        ("&scatter::sample", "((str, str, str)[] _0, Dict(str, Tensor) _1) -> int _0"),
    ],
)
def test_inferred_schemas(tmp_path: Path, function: str, schema: str | None) -> None:
    extraction = extracted(tmp_path, f'{BEFORE}TORCH_LIBRARY(my, m) {{\n  m.def("f", {function});\n}}\n')
    (definition,) = (item for item in extraction.found if isinstance(item, ExtractedDefinition))
    assert definition.schema == (None if schema is None else f"my::f{schema}")


# ``TorchLibraryInit`` written by hand.


@pytest.mark.parametrize(
    "text",
    [
        'torch::detail::TorchLibraryInit init(torch::Library::IMPL, f, "my", key, __FILE__, __LINE__);\n',
        "static torch::detail::TorchLibraryInit init{torch::Library::DEF, "
        '[](torch::Library& lib) { lib.def("f() -> ()"); }, "my", {}, __FILE__, __LINE__};\n',
        """#define QUIET_IMPL(ns, k, m) \\
  static void init_##ns##_##k(torch::Library&); \\
  static const torch::detail::TorchLibraryInit static_##ns##_##k( \\
      torch::Library::IMPL, &init_##ns##_##k, #ns, c10::make_optional(c10::DispatchKey::k), __FILE__, __LINE__); \\
  void init_##ns##_##k(torch::Library & m)
QUIET_IMPL(my, CPU, m) {
  m.impl("f", &f);
}
""",
    ],
)
def test_what_an_initialiser_registers_is_not_understood(tmp_path: Path, text: str) -> None:
    extraction = extracted(tmp_path, text)
    assert [gap.why for gap in extraction.not_understood] == ["a library that TorchLibraryInit makes is not read"]
    assert not extraction.found


def test_the_class_itself_is_no_registration(tmp_path: Path) -> None:
    text = """class TorchLibraryInit final {
 public:
  TorchLibraryInit(Library::Kind kind, InitFn* fn, const char* ns, std::optional<c10::DispatchKey> k, int line)
      : lib_(kind, ns, k, line) {
    fn(lib_);
  }
};
TORCH_LIBRARY(my, m) {
  m.def("f() -> ()");
}
"""
    extraction = extracted(tmp_path, text)
    assert extraction.not_understood == ()
    assert len(extraction.found) == 2


def test_registrations_in_tests_are_left_out_with_their_number(tmp_path: Path) -> None:
    text = """TEST(OperatorTest, one) {
  auto registrar = RegisterOperators().op("_test::f() -> ()", &f).op("_test::g() -> ()", &g);
}
TEST_F(OperatorTest, two) {
  auto registrar = c10::RegisterOperators().op("_test::f(Tensor a) -> ()", &f);
}
TYPED_TEST(OperatorTest, three) {
  auto m = MAKE_TORCH_LIBRARY(_test);
  m.def("f(int a) -> ()");
}
TEST(OperatorTest, four) {
  torch::detail::TorchLibraryInit init(torch::Library::DEF, fn, "_test", c10::nullopt, __FILE__, __LINE__);
}
TORCH_LIBRARY(my, m) {
  m.def("f() -> ()");
}
"""
    extraction = extracted(tmp_path, text)
    assert [item.name for item in extraction.found if isinstance(item, ExtractedDefinition)] == ["my::f"]
    (gap,) = extraction.not_understood
    assert (gap.at.line, gap.why) == (
        2,
        "4 statements with registrations, which are in the bodies of tests and hold only while those run, left out",
    )
    assert {(str(tmp_path / "a.cpp"), line) for line in (2, 5, 8, 9, 12)} <= extraction.accounted
