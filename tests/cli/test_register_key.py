"""``register --key``: which operators have a kernel at a key, compared with PyTorch's own answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.api import load_state
from dispatch_cli.bindings import Bindings
from dispatch_cli.bindings.keys import KeySpace
from tests import in_pytorch
from tests.capture.support import captured, live_universe, torch_python
from tests.cli.support import call
from tests.support import UNIVERSE_OF, load_recording

REGISTERED = re.compile(r"^(\w+)(?:\[alias\])?(?: \(inactive\))?: ", re.M)
LIVE = """
import json, sys, torch
at = torch._C._dispatch_get_registrations_for_dispatch_key
answers = {}
for key in json.load(sys.stdin):
    try:
        answers[key] = sorted(at(key))
    except RuntimeError as error:
        answers[key] = str(error)
print(json.dumps(answers))
"""
"""Every operator at each key, or the text of the error."""


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


@pytest.mark.live
def test_the_operators_at_every_key_are_those_of_live_pytorch() -> None:
    """Every name of a key, of a marker, and some that are none; the empty one stands for all operators."""
    capture = captured(vmap=False)
    universe = universes.from_data(live_universe())
    asked = sorted({"", "nope", "cpu", "Undefined", *universe.ids, *KeySpace(universe).members, *universe.parseable})
    done = in_pytorch.run([torch_python(), "-c", LIVE], json.dumps(asked))
    live = json.loads(done.stdout)
    bindings = Bindings(universe, load_state([str(capture)]).dispatcher)
    assert {key: answer_of(bindings, key) for key in asked} == live
    ours = rows(str(capture), "--key", "*")
    known = {key: names for key, names in live.items() if isinstance(names, list) and key}
    assert {key: ours[key] for key in known} == known
    assert sum(map(len, known.values())) > 10_000


def answer_of(bindings: Bindings, key: str) -> Any:
    try:
        return sorted(bindings._dispatch_get_registrations_for_dispatch_key(key))
    except RuntimeError as error:
        return str(error)


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
EMPTY_TABLE = """
import torch
library = torch.library.Library("empty_fallbacks", "DEF")
library.define("nothing(Tensor x) -> Tensor")
print(torch._C._dispatch_dump_table("empty_fallbacks::nothing"))
"""


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


@pytest.mark.live
def test_the_fallbacks_are_those_of_live_pytorch(tmp_path: Path) -> None:
    done = in_pytorch.run([torch_python(), "-c", EMPTY_TABLE], "")
    expected = dict(FALLBACK.findall(done.stdout))
    assert len(expected) > 30, done.stderr
    (tmp_path / "universe.json").write_text(json.dumps(live_universe()), encoding="utf-8")
    rows = answer("-k", "CPU", "--universe", str(tmp_path / "universe.json"), "--view", "fallbacks")["fallbacks"]
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--view", "fallbacks", "--op", "aten::add"), "give --view fallbacks without --op"),
        (("--view", "order", "--key", "CPU"), "it takes no --key"),
        (("--view", "fallbacks", "--format", "raw"), "use another --format"),
    ],
)
def test_options_that_do_not_go_together(arguments: tuple[str, ...], said: str) -> None:
    result = call("register", "examples/add.yaml", *arguments)
    assert result.code == 2 and said in result.err.replace("\n", " ")
