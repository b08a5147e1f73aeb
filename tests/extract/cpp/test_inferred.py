"""Schemas inferred from C++: what lambdas without a type return, and tuples in parameters."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.model.extracted import ExtractedDefinition
from tests.extract.cpp.reading import extracted

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
        ("[]() { return scatter::cuda_version(); }", "() -> int _0"),
        ("[](at::Tensor a) { return scatter::twice(a, 2); }", "(Tensor _0) -> Tensor _0"),
        ("[](at::Tensor a) { a.zero_(); }", "(Tensor _0) -> ()"),
        ("[](at::Tensor a) { return scatter::twice(a, 2) + a; }", None),
        ("[](at::Tensor a) { a.zero_(); return scatter::twice(a, 2); }", None),
        ("[](at::Tensor a) { return unknown(a); }", None),
        ("[](auto a) { return scatter::cuda_version(); }", None),
        ("&scatter::largest", "(Tensor _0) -> (Tensor _0, int _1)"),
        ("&scatter::sample", "((str, str, str)[] _0, Dict(str, Tensor) _1) -> int _0"),
    ],
)
def test_inferred_schemas(tmp_path: Path, function: str, schema: str | None) -> None:
    extraction = extracted(tmp_path, f'{BEFORE}TORCH_LIBRARY(my, m) {{\n  m.def("f", {function});\n}}\n')
    (definition,) = (item for item in extraction.found if isinstance(item, ExtractedDefinition))
    assert definition.schema == (None if schema is None else f"my::f{schema}")
