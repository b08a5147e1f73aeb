"""Universes of one's own: whatever is wrong in one is said when it is read, all of it, each fault with its place."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from tests.cli.support import call
from tests.declarations.helpers import write

Data = dict[str, Any]
EMBEDDED: Data = json.loads(Path(universes.__file__).with_name("torch-2.15.json").read_text(encoding="utf-8"))
DECLARATIONS = """\
dispatch: 1
operators:
  - {func: "m::a(Tensor x) -> Tensor", dispatch: {CPU: k, CompositeImplicitAutograd: m}}
  - {func: "m::b(Tensor x) -> Tensor", dispatch: {CUDA: k, Autograd: g}}
guards:
  - {op: "m::*", key: CPU, rule: kernel}
"""


def changed(change: Callable[[Data], object]) -> Data:
    data = copy.deepcopy(EMBEDDED) | {"name": "mine"}
    change(data)
    return data


def more_keys(data: Data, keys: list[str]) -> None:
    data["ids"].update({key: 1000 + number for number, key in enumerate(keys)})
    data["runtime"] = [key for name in data["functionalities"] for key in data["per_backend"].get(name, [name])]


def functionalities(count: int) -> Callable[[Data], None]:
    """So many more than the 46 there are."""

    def change(data: Data) -> None:
        keys = [f"F{number}" for number in range(count)]
        data["functionalities"] += keys
        more_keys(data, keys)

    return change


FAULTS: dict[str, tuple[Callable[[Data], object], str]] = {
    "a key twice": (lambda data: data["runtime"].append("CPU"), "field 'runtime' has 'CPU' twice"),
    "a number twice": (lambda data: data["ids"].update(CPU=data["ids"]["CUDA"]), "field 'ids' has"),
    "a device that is no key": (lambda data: data["devices"].update(cpu="Nonsense"), "field 'devices.cpu' names"),
    "a plain device": (lambda data: data["plain_devices"].append("foo"), "field 'plain_devices' names 'foo'"),
    "a refresh of no key": (lambda data: data["refreshes"].update(CPU=["CPU", "X"]), "field 'refreshes.CPU' names"),
    "no Autograd": (lambda data: data["aliases"].pop("Autograd"), "field 'aliases' must have Autograd"),
    "no Dense": (lambda data: data["per_backend"].pop("Dense"), "field 'per_backend' must have Dense"),
    "no backends": (lambda data: data.update(backends=[], per_backend={}), "field 'backends' must name a backend"),
    "Undefined": (lambda data: data["runtime"].append("Undefined"), "field 'runtime' names Undefined"),
    "an alias of nothing": (lambda data: data["aliases"].update(Autograd=[]), "field 'aliases.Autograd' must name"),
    "an alias that is a key": (lambda data: data["aliases"].update(CPU=["CPU"]), "CPU is an alias key, but"),
    "no id": (lambda data: data["ids"].pop("CPU"), "field 'ids' does not have 'CPU'"),
    "more functionalities": (functionalities(2), "'backends' have 48 and 16 keys; PyTorch cannot have more than 63"),
    "a name": (lambda data: data.update(name="x\n::error::y"), "cannot be the name of a universe"),
    "a device type": (lambda data: data["devices"].update({"::error::": "CPU"}), "cannot be a device type"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, DECLARATIONS, "d.yaml")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault(name: str, folder: Path) -> None:
    change, words = FAULTS[name]
    write(folder, json.dumps(changed(change), indent=1), "u.json")
    for command in (("keys",), ("resolve", "m::a", "d.yaml", "--tensor", "cpu")):
        result = call(*command, "--universe", "u.json")
        assert (result.code, result.out) == (2, ""), command
        assert words in result.err
        assert "u.json:" in result.err
        assert all(sign.isprintable() or sign == "\n" for sign in result.err)
    inline = json.dumps({"dispatch": 1, "universe": changed(change)}, indent=1)
    result = call("register", write(folder, inline, "inline.json"))
    assert result.code == 2
    assert words in result.err
    assert "inline.json:" in result.err


@pytest.mark.parametrize("change", [functionalities(1), lambda data: data.update(refreshes={})])
def test_a_universe_without_fault(change: Callable[[Data], object], folder: Path) -> None:
    """The last backend's number (16) and that of EndOfFunctionalityKeys (48) may be 64; a key that refreshes its own
    slot need not say so.
    """
    write(folder, json.dumps(changed(change), indent=1), "u.json")
    for command in (("keys",), ("check-invariants", "d.yaml", "--select", "all", "--config", "none")):
        assert call(*command, "--universe", "u.json").code in (0, 1), command


def test_all_faults_are_told_at_once(folder: Path) -> None:
    def change(data: Data) -> None:
        data["devices"].update(cpu="Nonsense", foo="Autograd")
        data["refreshes"].update(CPU=["X"])
        data["aliases"]["Autograd"] = []

    write(folder, json.dumps(changed(change), indent=1), "u.json")
    lines = [line for line in call("keys", "--universe", "u.json").err.splitlines() if "error[bad-universe]" in line]
    assert len(lines) == 4
    fields = ("aliases.Autograd", "refreshes.CPU", "devices.cpu", "devices.foo")
    assert all(any(f"'{field}'" in line for line in lines) for field in fields)


def test_a_layout_is_not_known_by_its_name(folder: Path) -> None:
    same = write(folder, json.dumps({"dispatch": 1, "extends": ["torch-2.15"], "universe": EMBEDDED}), "same.json")
    assert call("register", same, "--op", "aten::mm").code == 0
    other = copy.deepcopy(EMBEDDED)
    other["aliases"]["CompositeExplicitAutograd"].remove("CPU")
    for name, words in (
        ("torch-2.15", "the universe is named torch-2.15, but differs from that of the state torch-2.15 in "),
        ("mine", "the state torch-2.15 has the universe torch-2.15, not mine"),
    ):
        text = json.dumps({"dispatch": 1, "extends": ["torch-2.15"], "universe": other | {"name": name}})
        result = call("register", write(folder, text, "other.json"))
        assert result.code == 2
        assert f"other.json:1:29: error[universe-conflict]: {words}" in result.err
