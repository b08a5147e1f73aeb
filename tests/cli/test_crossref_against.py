"""``dispatch-cli crossref --against STATE``: declarations and sources beside the contents of a state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import call

SOURCE = """\
TORCH_LIBRARY(demo, m) {
  m.def("f(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(demo, CPU, m) {
  m.impl("f", f);
}
"""
STATE = """\
dispatch: 1
operators:
  - func: demo::f(Tensor x) -> Tensor
    dispatch: {CPU: f}
"""
FURTHER = "  - func: demo::g() -> ()\n"
WITH_PYTHON = """\
dispatch: 1
operators:
  - func: demo::f(Tensor x) -> Tensor
    alias_analysis: PURE_FUNCTION
    dispatch: {CPU: f, AutogradCPU: fallthrough}
    python_dispatch: {CompositeImplicitAutograd: f_math}
  - custom_op: demo::g(Tensor x) -> Tensor
    kernel: g
fallbacks: {PrivateUse1: fallthrough}
higher_order_operators:
  - name: repeat
    dispatch: {CompositeExplicitAutograd: repeat_impl}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.cpp").write_text(SOURCE, encoding="utf-8")
    Path("state.yaml").write_text(STATE, encoding="utf-8")


def drift(*arguments: str) -> list[tuple[Any, ...]]:
    """The findings: the check, the operator, the key, the line."""
    result = call("crossref", *arguments, "--format", "json")
    findings = json.loads(result.out)["findings"]
    assert result.code == bool(findings)
    return [(row["check"], row["operator"], row["key"], row["declared_at"]["line"]) for row in findings]


@pytest.mark.parametrize("text", [STATE, WITH_PYTHON])
def test_a_state_is_as_its_own_declarations_say(text: str) -> None:
    Path("state.yaml").write_text(text, encoding="utf-8")
    assert drift("state.yaml", "--against", "state.yaml") == []


def test_sources_and_a_state_that_lack_something() -> None:
    assert drift("a.cpp", "--against", "state.yaml") == []
    Path("state.yaml").write_text(STATE.replace("{CPU: f}", "{CUDA: f}") + FURTHER, encoding="utf-8")
    assert drift("a.cpp", "--against", "state.yaml") == [
        ("drift-undeclared", "demo::g", None, 1),
        ("drift-undeclared", "demo::f", "CUDA", 2),
        ("drift-missing", "demo::f", "CPU", 5),
    ]


def test_an_embedded_state_has_kernels_of_its_own() -> None:
    """The kernel of PyTorch at the key is the declared one, as nothing says whose it is."""
    block = 'TORCH_LIBRARY_IMPL(aten, CPU, m) {\n  m.impl("mm", mm);\n  m.impl("bm", mm);\n}\n'
    Path("a.cpp").write_text(block, encoding="utf-8")
    assert drift("a.cpp", "--against", "torch-2.15") == [("drift-missing", "aten::bm", None, 3)]


def test_only_the_operators_that_are_chosen() -> None:
    Path("state.yaml").write_text(STATE + FURTHER, encoding="utf-8")
    assert drift("a.cpp", "--against", "state.yaml", "--op", "demo::f") == []
