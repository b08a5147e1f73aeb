"""``register --key``: which operators have a kernel at a key, compared with PyTorch's own answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from tests.cli.support import call
from tests.support import UNIVERSE_OF, load_recording

REGISTERED = re.compile(r"^(\w+)(?:\[alias\])?(?: \(inactive\))?: ", re.M)


def rows(*arguments: str) -> dict[str, list[str]]:
    result = call("register", *arguments, "--format", "json")
    assert result.code == 0, result.err
    return {key["key"]: [row["operator"] for row in key["kernels"]] for key in json.loads(result.out)["keys"]}


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_the_operators_at_every_key_are_those_of_recorded_dumps(version: str) -> None:
    name = UNIVERSE_OF[version]
    expected: dict[str, list[str]] = {key: [] for key in ("Undefined", *universes.load(name).ids)}
    for operator, texts in sorted(load_recording(f"{version}.state")["ops"].items()):
        kernels = texts["dump"].partition("alias analysis kind: ")[2] or texts["dump"].partition("schema: (none)")[2]
        for key in dict.fromkeys(REGISTERED.findall(kernels)):
            expected[key].append(operator)
    assert sum(map(len, expected.values())) > 10_000
    assert rows("--base", name, "--key", "*") == expected


def test_operators_and_keys_are_chosen_together() -> None:
    arguments = ("--base", "torch-2.15", "--key", "CPU", "--key", "Autograd*", "--op", "aten::bmm")
    assert {key: names for key, names in rows(*arguments).items() if names} == {
        "CPU": ["aten::bmm", "aten::bmm.out"],
        "Autograd": ["aten::bmm", "aten::bmm.dtype", "aten::bmm.dtype_out", "aten::bmm.out"],
    }


def test_raw_is_what_pytorch_prints() -> None:
    result = call("register", "examples/custom_library.yaml", "--key", "CPU", "--format", "raw")
    assert result.out == "mylib::mul_add\nmylib::mul_add.out\nmylib::norm2\n"


# ``register --view fallbacks`` and ``register --view order``, compared with PyTorch's dumps and with tables.


FALLBACK = re.compile(r"^(\w+): (.+) \[backend fallback\]$", re.M)


def answer(*arguments: str) -> Any:
    result = call("register", *arguments, "--format", "json")
    assert result.code == 0, result.err
    return json.loads(result.out)


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_the_fallbacks_are_those_of_recorded_tables(version: str) -> None:
    """The table of an operator without kernels has them all."""
    expected = dict(FALLBACK.findall(load_recording(f"{version}.state")["empty_table"]))
    assert len(expected) > 30
    rows = answer("--base", UNIVERSE_OF[version], "--view", "fallbacks")["fallbacks"]
    assert {row["key"]: f"{'fallthrough ' * row['fallthrough']}{row['debug']}" for row in rows} == expected


def test_fallbacks_of_files_and_of_keys() -> None:
    file = "examples/out_of_tree_backend.yaml"
    fallbacks = answer(file, "--view", "fallbacks", "--key", "*PrivateUse1")["fallbacks"]
    first = fallbacks[0]
    assert (first["key"], first["kernel"], first["core"]) == ("PrivateUse1", "npu_cpu_fallback", False)
    assert first["declared_at"]["file"] == file and all(fallback["core"] for fallback in fallbacks[1:])
    assert answer(file, "--view", "fallbacks", "--key", "SparseCPU")["fallbacks"] == []
    text = call("register", file, "--view", "fallbacks", "--key", "PrivateUse1").out
    assert text.startswith("1 backend fallback\n") and f"{file}:8:16" in text


def test_kernels_of_the_base_are_listed_for_operators_that_are_named(tmp_path: Path) -> None:
    """The one that the file overrides is listed always."""
    file = tmp_path / "x.yaml"
    kernels = "{PrivateUse1: mine, CPU: faster}"
    file.write_text(f"dispatch: 1\noperators:\n  - {{name: 'aten::mm', dispatch: {kernels}}}\n", encoding="utf-8")
    short = call("register", str(file), "--base", "torch-2.15").out
    keys = [line.split()[0] for line in short.splitlines() if " active " in line or " overridden " in line]
    assert keys == ["CPU", "CPU", "PrivateUse1"] and "kernels of torch-2.15 (--op lists them)" in short
    assert "RegisterSparseCPU" in call("register", str(file), "--base", "torch-2.15", "--op", "aten::mm").out


def test_long_conditions_are_cut_in_a_table(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    when = " and ".join(f"defined(CONDITION_{number})" for number in range(20))
    operator = f'{{func: "a::b(Tensor x) -> Tensor", dispatch: {{CPU: k}}, when: "{when}"}}'
    file.write_text(f"dispatch: 1\noperators:\n  - {operator}\n", encoding="utf-8")
    out = call("register", str(file)).out
    assert "defined(CONDITION_0) and defined(CONDITION_1)" in out and max(map(len, out.splitlines())) < 250
