"""Which of torchgen's YAML files a text is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dispatch_cli.extract.torchgen.kinds import is_backend_yaml, is_derivatives, is_native_functions
from tests.ends import ends

KINDS: tuple[Callable[[str], bool], ...] = (is_native_functions, is_derivatives, is_backend_yaml)
NATIVE, DERIVATIVES, BACKEND = KINDS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# comment\n\n- func: f(Tensor x) -> Tensor\n  variants: function\n", NATIVE),
        ("\ufeff---\n- variants: function\n  func: f(Tensor x) -> Tensor\n", NATIVE),
        ("- {func: 'f(Tensor x) -> Tensor'}\n", NATIVE),
        ("-\n  func: f(Tensor x) -> Tensor\n", NATIVE),
        ("- func: f\r\n  dispatch:\r\n    CPU: g\r\n", NATIVE),
        ("- func: f(Tensor x -> Tensor\n  dispatch: [\n", NATIVE),
        ("- name: f(Tensor self) -> Tensor\n  self: grad\n", DERIVATIVES),
        ("#\n- name: f.a(Tensor self) -> Tensor\n  output_differentiability: [False]\n", DERIVATIVES),
        ("- name: add(Tensor self) -> Tensor\n  aten: add(self)\n", None),
        ("- name: build\n  run: f() -> x\n", None),
        ("backend: XLA\ncpp_namespace: x\nsupported:\n- abs\n", BACKEND),
        ("# c\nautograd:\n  - abs\nsupported:\n  - abs\n", BACKEND),
        ("'backend': XLA\n\"supported\":\n- abs\n", BACKEND),
        ("# c\naten:  # of PyTorch\n\n  # first\n  - func: f\n    structured: True\n", BACKEND),
        ("libraries:\n- func: f\n", None),
        ("steps:\n  - run: f\n", None),
        ("backend: x\nname: y\n", None),
        ("dispatch: 1\nsupported: []\nbackend: x\n", None),
        ("dispatch: 1\noperators:\n- name: f\n", None),
        ("", None),
        ("- a\n- b\n", None),
        ("name: CI\non: push\n", None),
        ("text func: f", None),
    ],
)
def test_kind_is_told_by_content(text: str, expected: Callable[[str], bool] | None) -> None:
    assert [kind for kind in KINDS if kind(text)] == ([] if expected is None else [expected])


@pytest.mark.parametrize(
    "text",
    [
        "- " * 500_000,
        "-" + " " * 1_000_000,
        "a:\n" * 500_000,
        "- name: f(" * 200_000,
        "a:" + "\n" * 500_000,
        "a:\n #" * 200_000,
    ],
)
def test_a_hostile_text_takes_no_time(text: str) -> None:
    with ends():
        for kind in KINDS:
            kind(text)
