"""``TorchLibraryInit`` written by hand: in macros of a project, and in functions that register when they are called."""

from __future__ import annotations

from pathlib import Path

from dispatch_cli.model.condition import Atom
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.extracted import ExtractedBlock, ExtractedDefinition, ExtractedKernel
from tests.extract.cpp.reading import extracted

MACRO = """#pragma once
#include <torch/library.h>
#define QUIET_IMPL_(ns, k, m, uid) \\
  static void C10_CONCATENATE(init_##ns##_##k##_, uid)(torch::Library&); \\
  static const torch::detail::TorchLibraryInit C10_CONCATENATE(static_##ns##_##k##_, uid)( \\
      torch::Library::IMPL, &C10_CONCATENATE(init_##ns##_##k##_, uid), #ns, \\
      c10::make_optional(c10::DispatchKey::k), __FILE__, __LINE__); \\
  void C10_CONCATENATE(init_##ns##_##k##_, uid)(torch::Library & m)
#define QUIET_TORCH_LIBRARY_IMPL(ns, k, m) QUIET_IMPL_(ns, k, m, C10_UID)
#define QUIET_FRAGMENT_(ns, m, uid) \\
  static void C10_CONCATENATE(inner_##ns##_, uid)(torch::Library&); \\
  static void C10_CONCATENATE(outer_##ns##_, uid)(torch::Library & lib) { \\
    int old_level = level; \\
    level = 2; \\
    C10_CONCATENATE(inner_##ns##_, uid)(lib); \\
    level = old_level; \\
  } \\
  static const torch::detail::TorchLibraryInit C10_CONCATENATE(static_##ns##_, uid)( \\
      torch::Library::FRAGMENT, &C10_CONCATENATE(outer_##ns##_, uid), #ns, c10::nullopt, __FILE__, __LINE__); \\
  void C10_CONCATENATE(inner_##ns##_, uid)(torch::Library & m)
#define QUIET_TORCH_LIBRARY_FRAGMENT(ns, m) QUIET_FRAGMENT_(ns, m, C10_UID)
"""


def test_a_macro_that_makes_the_initialiser_begins_a_block(tmp_path: Path) -> None:
    use = """#include "library.h"
namespace {
QUIET_TORCH_LIBRARY_IMPL(my, CPU, m) {
  m.impl("f", &f);
}
QUIET_TORCH_LIBRARY_IMPL(my, CPU, m) {
  m.impl("g", &g);
}
}
"""
    other = '#include "library.h"\nQUIET_TORCH_LIBRARY_IMPL(my, CPU, m) {\n  m.impl("h", &h);\n}\n'
    extraction = extracted(tmp_path, {"library.h": MACRO, "a.cpp": use, "b.cpp": other})
    assert extraction.not_understood == ()
    assert [
        (item.block.kind, item.operator, item.key, Path(item.at.file).name, item.block.at.line, item.at.line)
        for item in extraction.found
        if isinstance(item, ExtractedKernel)
    ] == [
        (LibraryKind.IMPL, "my::f", "CPU", "a.cpp", 3, 4),
        (LibraryKind.IMPL, "my::g", "CPU", "a.cpp", 6, 7),
        (LibraryKind.IMPL, "my::h", "CPU", "b.cpp", 2, 3),
    ]
    assert {(str(tmp_path / "a.cpp"), line) for line in (3, 4, 6, 7)} <= extraction.accounted


def test_the_function_of_an_initialiser_may_call_another_one(tmp_path: Path) -> None:
    use = '#include "library.h"\nQUIET_TORCH_LIBRARY_FRAGMENT(my, m) {\n  m.def("f(Tensor a) -> Tensor");\n}\n'
    extraction = extracted(tmp_path, {"library.h": MACRO, "a.cpp": use})
    assert extraction.not_understood == ()
    block, definition = extraction.found
    assert isinstance(block, ExtractedBlock)
    assert (block.kind, block.namespace, block.dispatch_key, block.at.line) == (LibraryKind.FRAGMENT, "my", None, 2)
    assert isinstance(definition, ExtractedDefinition)
    assert (definition.schema, definition.at.line, definition.when) == ("my::f(Tensor a) -> Tensor", 3, ())


def test_an_initialiser_in_a_function_registers_when_that_is_called(tmp_path: Path) -> None:
    text = """static bool lazily(const c10::OperatorHandle& op) {
  auto register_func = [](torch::Library& m) -> void {
    m.impl(TORCH_SELECTIVE_NAME("vision::nms"), TORCH_FN(nms));
  };
  static const torch::detail::TorchLibraryInit
      lazy(torch::Library::IMPL, register_func, "vision",
           std::make_optional(c10::DispatchKey::XPU),
           __FILE__,
           __LINE__);
  return true;
}
"""
    extraction = extracted(tmp_path, text)
    assert extraction.not_understood == ()
    block, kernel = extraction.found
    assert isinstance(block, ExtractedBlock)
    assert isinstance(kernel, ExtractedKernel)
    assert (block.namespace, block.dispatch_key, block.at.line) == ("vision", "XPU", 9)
    assert (block.when, kernel.when) == ((Atom("lazily is called"),),) * 2
    assert (kernel.operator, kernel.key, kernel.at.line) == ("vision::nms", "XPU", 3)
    assert (str(tmp_path / "a.cpp"), 3) in extraction.accounted


def test_a_lambda_may_be_the_argument(tmp_path: Path) -> None:
    text = (
        "static torch::detail::TorchLibraryInit init{\n"
        '    torch::Library::DEF, [](torch::Library& lib) { lib.def("f() -> ()"); }, "my", {}, __FILE__, __LINE__};\n'
    )
    extraction = extracted(tmp_path, text)
    assert extraction.not_understood == ()
    assert [(item.schema, item.block.kind) for item in extraction.found if isinstance(item, ExtractedDefinition)] == [
        ("my::f() -> ()", LibraryKind.DEF)
    ]


def test_a_function_that_is_not_there_is_said(tmp_path: Path) -> None:
    text = 'torch::detail::TorchLibraryInit init(torch::Library::IMPL, elsewhere, "my", key, __FILE__, __LINE__);\n'
    (gap,) = extracted(tmp_path, text).not_understood
    assert (gap.at.line, gap.why) == (1, "the function of this library is not found in this file")


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
