"""The kind of torchgen's YAML files that a text is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.torchgen import extract_torchgen
from dispatch_cli.extract.torchgen.kinds import is_backend_yaml, is_derivatives, is_native_functions
from dispatch_cli.extract.torchgen.operator_tables import BACKEND_SELECT_BY_HAND
from dispatch_cli.model.extracted import ExtractedDefinition, ExtractedKernel, SourceKind
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


# What each version of torchgen registers from its own files, by its own functions, and we from the same files.


FOLDERS = list(filter(None, os.environ.get("DISPATCH_CLI_TORCHGEN", "").split(os.pathsep)))


@pytest.mark.skipif(not FOLDERS, reason="DISPATCH_CLI_TORCHGEN names no folder with torchgen")
@pytest.mark.parametrize("parent", FOLDERS)
def test_registrations_and_definitions_equal_those_of_torchgen(parent: str) -> None:
    command = [sys.executable, "-m", "tests.extract.torchgen.torchgen_pairs", parent]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    pairs, schemas = json.loads(run.stdout)
    packaged = Path(parent, "torchgen", "packaged")
    files = {
        SourceKind.NATIVE_FUNCTIONS: [str(packaged / "ATen" / "native" / "native_functions.yaml")],
        SourceKind.DERIVATIVES: [str(packaged / "autograd" / "derivatives.yaml")],
    }
    extraction = extract_torchgen(Sources(files))
    kernels = [item for item in extraction.found if isinstance(item, ExtractedKernel)]
    ours = {(str(kernel.operator).removeprefix("aten::"), str(kernel.key)) for kernel in kernels}
    template = (packaged / "ATen" / "templates" / "RegisterBackendSelect.cpp").read_text(encoding="utf-8")
    by_hand = {(name, "BackendSelect") for name in BACKEND_SELECT_BY_HAND if f'"aten::{name}"' in template}
    expected = {(name, key) for name, key in pairs} | by_hand
    assert sorted(expected - ours) == []
    assert sorted(ours - expected) == []
    definitions = [item for item in extraction.found if isinstance(item, ExtractedDefinition)]
    tags = {str(definition.schema).removeprefix("aten::"): sorted(definition.tags) for definition in definitions}
    assert tags == {_without_dimname(schema): those for schema, those in schemas.items()}
    assert extraction.not_understood == ()


def _without_dimname(schema: str) -> str:
    name, parenthesis, rest = schema.partition("(")
    return name + parenthesis + rest.replace("Dimname", "str")
