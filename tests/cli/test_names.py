"""Spellings of operators and keys on the command line, and the defaults where no file is named."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import bases, universes
from dispatch_cli.answers.shared.selection import (
    not_found,
    select_keys,
    select_names,
)
from dispatch_cli.api import what_if_state
from tests.cli.support import Result, call
from tests.support import SOME_UNIVERSES

ADD = ("aten::add.Tensor", "aten.add.Tensor", "torch.ops.aten.add.Tensor")
NOTE = "note: over torch-2.15 (assumed; `dispatch-cli bases` lists others)\n"
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("table",),
    ("check-invariants",),
    ("guards", "--record"),
)


def data(*args: str) -> Any:
    result = call(*args, "--format", "json")
    assert result.code == 0, result.err
    return json.loads(result.out)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_operators_of_pytorch_need_no_file(command: tuple[str, ...]) -> None:
    named = call(*command, "--base", "torch-2.15", "--op", ADD[0])
    for name in ADD:
        assert call(*command, "--op", name) == Result(named.code, named.out, NOTE + named.err)


@pytest.mark.parametrize("name", ["aten::add", "aten.add", "torch.ops.aten.add"])
def test_a_name_without_overload(name: str) -> None:
    overloads = [operator["operator"] for operator in data("table", "--op", name)["operators"]]
    assert overloads == ["aten::add.Scalar", "aten::add.Scalar_out", "aten::add.Tensor", "aten::add.out"]
    assert "did you mean aten::add.Tensor or aten::add.Scalar or aten::add.out" in call("explain", name, "CPU").err


@pytest.mark.parametrize("version", SOME_UNIVERSES)
def test_every_key_in_any_case(version: str) -> None:
    universe = universes.load(version)
    for key in universe.ids:
        for text in (key, key.lower(), key.upper(), f"DispatchKey.{key}", f"c10::DispatchKey::{key.lower()}"):
            assert universe.key_named(text) == key
    assert universe.key_named("NoSuchKey") == "NoSuchKey"


def test_keys_in_any_case_wherever_a_key_is_written() -> None:
    assert call("keys", "autogradcpu") == call("keys", "AutogradCPU")
    assert data("keys", "autogradcpu|sparsecuda")["keys"] == data("keys", "AutogradCPU|SparseCUDA")["keys"]
    assert call("explain", ADD[0], "autogradcuda") == call("explain", ADD[0], "AutogradCUDA")
    assert call("table", "--op", ADD[0], "--key", "*privateuse1") == call(
        "table", "--op", ADD[0], "--key", "*PrivateUse1"
    )
    assert call("register", "-k", "cpu", "-k", "autograd") == call("register", "-k", "CPU", "-k", "Autograd")


def test_the_name_of_the_backend_at_privateuse1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = ("--privateuse1", "npu")
    assert "\nTensors  npu\n" in call("resolve", ADD[0], "--tensor", "npu", *named).out
    explained = call("explain", ADD[0], "AutogradPrivateUse1")
    assert call("explain", ADD[0], "autogradnpu", *named) == explained
    assert call("table", "--op", ADD[0], "--key", "*NPU", *named) == call(
        "table", "--op", ADD[0], "--key", "*PrivateUse1"
    )
    assert call("register", "-k", "npu", *named) == call("register", "-k", "PrivateUse1")
    keys = call("keys", "--tensor", "npu", *named).out
    refused = call("resolve", ADD[0], "--tensor", "npu")
    assert refused.code == 2
    assert "the name that `privateuse1` gives it" in refused.err
    (tmp_path / "pyproject.toml").write_text('[tool.dispatch-cli]\nprivateuse1 = "npu"\n', encoding="utf-8")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert call("explain", ADD[0], "AutogradNPU") == explained
    assert call("keys", "--tensor", "npu").out == keys
    assert call("check-invariants", "--op", ADD[0]).code == 0
    (tmp_path / "pyproject.toml").write_text('[tool.dispatch-cli]\nprivateuse1 = "cuda"\n', encoding="utf-8")
    refusal = "error[backend-name]: Cannot register privateuse1 backend with in-tree device name: cuda"
    for command in (("explain", ADD[0], "CPU"), ("keys",)):
        assert f"../pyproject.toml:2:15: {refusal}" in call(*command).err


# Names of states and universes: ``torch-2.9.1`` means ``torch-2.9``, and standard error says so.


PATCH = "torch-2.9.1"
PATCH_NOTE = f"note: {PATCH} means torch-2.9, which is of PyTorch {bases.load('torch-2.9').description.torch}\n"


@pytest.mark.parametrize(
    "line",
    [
        *("table --base {} --op aten::relu", "table --universe {} -k CPU", "table --universe {} --op aten::relu"),
        *("explain aten::relu CPU --base {}", "keys --universe {}"),
    ],
)
def test_a_patch_version_means_its_minor_version(line: str) -> None:
    expected = call(*line.format("torch-2.9").split())
    assert call(*line.format(PATCH).split()) == Result(expected.code, expected.out, PATCH_NOTE + expected.err)


def test_a_patch_version_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "dispatch: 1\nuniverse: {}\nextends: [{}]\noperators:\n  - func: a::b(Tensor x) -> Tensor\n"
    Path("a.yaml").write_text(text.format("torch-2.9", "torch-2.9"), encoding="utf-8")
    expected = call("table", "a.yaml")
    Path("a.yaml").write_text(text.format(PATCH, PATCH), encoding="utf-8")
    assert call("table", "a.yaml") == expected


# Globs over operators and keys.


ANOTHER_CASE = "upper and lower case are not the same here; in another case, it matches"
NAMES = ["aten::add.Tensor", "aten::add.out", "aten::add_.Tensor", "aten::addmm", "my.lib::add", "plain", "plain.out"]


@pytest.mark.parametrize(
    ("glob", "chosen"),
    [
        ("aten::add", ["aten::add.Tensor", "aten::add.out"]),
        ("aten::add.out", ["aten::add.out"]),
        ("aten::ad", []),
        ("aten::a", []),
        ("aten::ad?", ["aten::add.Tensor", "aten::add.out"]),
        ("aten::add*", ["aten::add.Tensor", "aten::add.out", "aten::add_.Tensor", "aten::addmm"]),
        ("*::add", ["aten::add.Tensor", "aten::add.out", "my.lib::add"]),
        ("aten::[ab]dd", ["aten::add.Tensor", "aten::add.out"]),
        ("ATEN::*", []),
        ("*", NAMES),
        ("", []),
    ],
)
def test_operators(glob: str, chosen: list[str]) -> None:
    assert select_names(NAMES, glob) == chosen


def test_keys_by_globs() -> None:
    dispatcher = what_if_state(["CPU"]).dispatcher
    sparse = {"SparseCPU", "SparseIPU", "SparseXPU", "SparseHPU"}
    assert select_keys(dispatcher.universe, ["Undefined", "Sparse?PU"]) == {"Undefined", *sparse}
    assert select_keys(dispatcher.universe, ["Autograd"]) == set()  # an alias has no slot
    every = dispatcher.universe.keys_by_id
    assert select_keys(dispatcher.universe, ["autograd", "Dense"], every) == {"Autograd", "Dense"}
    assert select_keys(dispatcher.universe, ["cpu"]) == {"CPU"}
    assert select_keys(dispatcher.universe, ["autogradc*"]) == {"AutogradCPU", "AutogradCUDA"}


def test_the_overload_without_a_name_has_one_in_globs() -> None:
    names = ["aten::bmm", "aten::bmm.out", "aten::mm", "aten::mm.default_out"]
    assert select_names(names, "aten::bmm.default") == ["aten::bmm"]
    assert select_names(names, "aten::*mm.default") == ["aten::bmm", "aten::mm"]
    assert select_names(names, "*" + ".default" * 5000) == []
    assert select_names(names, "aten::bmm") == ["aten::bmm", "aten::bmm.out"]


@pytest.mark.parametrize(
    ("glob", "hint"),
    [
        ("aten::AD*_", f"{ANOTHER_CASE} aten::add_.Tensor"),
        ("ATEN::ADD*", f"{ANOTHER_CASE} aten::add.Tensor and 3 more"),
        ("aten::zz*", None),
        ("aten::addmn", "did you mean aten::addmm?"),
        ("ATEN::ADD.TENSOR", "did you mean aten::add.Tensor or aten::add_.Tensor?"),
    ],
)
def test_what_may_be_meant_by_a_glob_that_finds_nothing(glob: str, hint: str | None) -> None:
    assert select_names(NAMES, glob) == []
    assert not_found(NAMES, glob) == hint


NAMELESS = """\
import torch
lib = torch.library.Library("demo", "DEF")
lib.define("f(Tensor x, int n) -> Tensor")

@torch.library.impl(lib, "f", "CPU")
def _(x, n):
    return x + n

@torch.library.register_fake("demo::f")
def _(x):
    return torch.empty_like(x)
"""


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("table", "--op", "demo::f"), "Meta                                    the fake implementation  kernel "),
        (("register",), "CPU   a Python function        active"),
        (("check-invariants",), "demo::f: the fake implementation does not take the arguments of the schema"),
        (("resolve", "demo::f", "--tensor", "cpu fake"), "runs the fake implementation, declared at "),
        (("explain", "demo::f", "Meta"), "Meta holds the fake implementation (rule 1, kernel), declared at "),
        (("support",), "the fake implementation for Meta at "),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_functions_without_a_name(tmp_path: Path, command: tuple[str, ...], words: str) -> None:
    """Projects call them ``_``, which says nothing."""
    file = tmp_path / "ops.py"
    file.write_text(NAMELESS, encoding="utf-8")
    out = call(*command, str(file)).out
    assert words in out
    assert re.search(r"(?<!\w)_(?!\w)", out.replace("def _", "")) is None
