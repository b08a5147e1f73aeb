"""Places of registrations, and how much of a long error is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import call

LONG = ("resolve", "aten::relu", "--tensor", "fpga")
"""A call whose error lists every registration of the operator, in 7,000 characters."""


@pytest.mark.parametrize("format_", ["text", "markdown", "html"])
def test_a_long_error_is_shown_by_its_first_sentence(format_: str) -> None:
    output = call(*LONG, "--format", format_).out
    assert "arguments from the" in output
    assert "This could be because" not in output
    assert "--full shows the whole text" in output
    assert max(map(len, output.splitlines())) < 700 or format_ == "html"


DECLARED = (
    "dispatch: 1\noperators:\n  - func: mylib::op(Tensor a) -> Tensor\n    dispatch:\n      CPU: native\n"
    "      AutogradCPU: fallthrough\n      Tracer: {fallthrough: true, debug: 'its own text'}\n"
    "fallbacks:\n  PrivateUse1: fallthrough\n"
)
ABOUT_IT = (
    ("register", "{}"),
    ("table", "{}"),
    ("explain", "mylib::op", "AutogradCPU", "{}"),
    ("resolve", "mylib::op", "{}", "--tensor", "cpu"),
)


@pytest.mark.parametrize("args", ABOUT_IT, ids=" ".join)
def test_a_fallthrough_has_one_place(args: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own: line 6 or 9. The operator's entry, which PyTorch's dump would name, begins in line 3."""
    monkeypatch.chdir(tmp_path)
    Path("m.yaml").write_text(DECLARED, encoding="utf-8")
    output = call(*(word.format("m.yaml") for word in args)).out
    assert "registered at m.yaml" not in output
    assert "fallthrough" in output
    assert "m.yaml:6:20" in output or "m.yaml:9:16" in output


TEXT = """dispatch: 1
extends: torch-2.15
libraries:
  - kind: IMPL
    namespace: aten
    impl: {mul.Tensor: {kernel: mine, dispatch_key: PrivateUse1}, add.Tensor: {kernel: other, dispatch_key: CPU}}
  - {kind: IMPL, namespace: _, dispatch_key: PrivateUse1, fallback: fb}
operators:
  - func: lib::op(Tensor x) -> Tensor
    dispatch:
      CPU, CUDA: k
      Meta: {kernel: m, redispatches: true}
      XLA:
        kernel: x
    python_dispatch: {CPU: in_python}
fallbacks:
  PrivateUse2: {kernel: fb2}
"""


def answer(*arguments: str) -> Any:
    return json.loads(call(*arguments, "--format", "json").out)


def place(row: Any) -> tuple[int, int] | None:
    position = row["declared_at"]
    return None if position is None else (position["line"], position["column"])


def test_places_are_the_same_everywhere(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(TEXT, encoding="utf-8")
    listed = {
        (operator["operator"], kernel["key"]): place(kernel)
        for operator in answer("register", str(file))["operators"]
        for kernel in operator["kernels"]
        if place(kernel)
    }
    in_order = {
        (operator["operator"], registration["key"]): place(registration)
        for operator in answer("register", str(file), "--view", "order")["operators"]
        for registration in operator["registrations"]
        if place(registration) and not registration["python"]
    }
    differing = {
        (registration["operator"], registration["key"]): place(after)
        for registration in answer("diff", "torch-2.15", str(file))["registrations"]
        for after in registration["after"]
        if place(after)
    }
    assert len(listed) == 6
    assert in_order == listed
    assert {name: differing[name] for name in listed if name[0].startswith("aten")} == {
        name: found for name, found in listed.items() if name[0].startswith("aten")
    }
    for (operator, key), position in listed.items():
        assert position is not None
        output = call("explain", operator, key, str(file)).out
        assert f"own.yaml:{position[0]}:{position[1]}" in output
