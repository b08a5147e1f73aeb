"""``register --view fallbacks`` and ``register --view order``, compared with PyTorch's dumps and with tables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch
from tests.capture.support import live_universe, torch_python
from tests.cli.support import call
from tests.support import UNIVERSE_OF, load_recording

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
    assert {one["key"]: f"{'fallthrough ' * one['fallthrough']}{one['debug']}" for one in rows} == expected


@pytest.mark.live
def test_the_fallbacks_are_those_of_live_pytorch(tmp_path: Path) -> None:
    done = in_pytorch.run([torch_python(), "-c", EMPTY_TABLE], "")
    expected = dict(FALLBACK.findall(done.stdout))
    assert len(expected) > 30, done.stderr
    (tmp_path / "universe.json").write_text(json.dumps(live_universe()), encoding="utf-8")
    rows = answer("-k", "CPU", "--universe", str(tmp_path / "universe.json"), "--view", "fallbacks")["fallbacks"]
    assert {one["key"]: f"{'fallthrough ' * one['fallthrough']}{one['debug']}" for one in rows} == expected


def test_fallbacks_of_files_and_of_keys() -> None:
    file = "examples/out_of_tree_backend.yaml"
    found = answer(file, "--view", "fallbacks", "--key", "*PrivateUse1")["fallbacks"]
    first = found[0]
    assert (first["key"], first["kernel"], first["core"]) == ("PrivateUse1", "npu_cpu_fallback", False)
    assert first["declared_at"]["file"] == file and all(one["core"] for one in found[1:])
    assert answer(file, "--view", "fallbacks", "--key", "SparseCPU")["fallbacks"] == []
    text = call("register", file, "--view", "fallbacks", "--key", "PrivateUse1").out
    assert text.startswith("1 backend fallback\n") and f"{file}:8:16" in text


def test_registrations_are_in_the_order_of_the_files() -> None:
    state = load_state(["examples/stale.yaml"])
    for one in answer("examples/stale.yaml", "--view", "order")["operators"]:
        lines = [row["declared_at"]["line"] for row in one["registrations"]]
        assert lines == sorted(lines) and len(lines) == 2
        kernels = state.dispatcher.operator(OperatorName.parse(one["operator"])).kernels
        assert {row["key"] for row in one["registrations"]} == {*kernels}


def test_a_change_of_the_order_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "changed.yaml"
    which = "{operator: stale::fine, dispatch_key: CompositeExplicitAutograd}"
    file.write_text(f"dispatch: 1\nchanges:\n- move: {which}\n  after: {which.replace('Explicit', 'Implicit')}\n")
    named = ("examples/stale.yaml", str(file), "--allow-outside", "--op", "stale::fine", "--view", "order")
    (found,) = answer(*named)["operators"]
    keys = [row["key"] for row in found["registrations"]]
    assert keys == ["CompositeImplicitAutograd", "CompositeExplicitAutograd"]


def test_what_depends_on_conditions_is_there_whatever_holds() -> None:
    result = call("register", "tests/cli/conditions.yaml", "--view", "order", "--op", "mylib::scale")
    assert "scale_hip" in result.out and "not defined(USE_ROCM)" in result.out


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
