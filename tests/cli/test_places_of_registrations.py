"""A registration has one place, whichever command says it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import call
from tests.support import load_recording

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


def place(one: Any) -> tuple[int, int] | None:
    found = one["declared_at"]
    return None if found is None else (found["line"], found["column"])


def test_places_are_the_same_everywhere(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(TEXT, encoding="utf-8")
    listed = {
        (operator["operator"], one["key"]): place(one)
        for operator in answer("register", str(file))["operators"]
        for one in operator["kernels"]
        if place(one)
    }
    in_order = {
        (operator["operator"], one["key"]): place(one)
        for operator in answer("register", str(file), "--view", "order")["operators"]
        for one in operator["registrations"]
        if place(one) and not one["python"]
    }
    differing = {
        (one["operator"], one["key"]): place(after)
        for one in answer("diff", "torch-2.15", str(file))["registrations"]
        for after in one["after"]
        if place(after)
    }
    assert len(listed) == 6
    assert in_order == listed
    assert {name: differing[name] for name in listed if name[0].startswith("aten")} == {
        name: found for name, found in listed.items() if name[0].startswith("aten")
    }
    for (operator, key), found in listed.items():
        assert found is not None
        said = call("explain", operator, key, str(file)).out
        assert f"own.yaml:{found[0]}:{found[1]}" in said


def test_a_change_names_the_place_that_answers_say(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(TEXT, encoding="utf-8")
    changes = tmp_path / "changes.yaml"
    changes.write_text(
        'dispatch: 1\nchanges:\n  - remove: {operator: "lib::op", dispatch_key: XLA, place: "own.yaml:14"}\n',
        encoding="utf-8",
    )
    assert "own.yaml:14:9" in call("explain", "lib::op", "XLA", str(file)).out
    report = answer("register", str(file), str(changes), "--op", "lib::op")
    assert "XLA" not in {one["key"] for one in report["operators"][0]["kernels"]}


@pytest.mark.parametrize("start", [0, 1, -1], ids=["the whole path", "without the first folder", "the file alone"])
def test_a_change_names_the_place_at_which_pytorch_says_a_kernel_is_registered(start: int, tmp_path: Path) -> None:
    """The kernel is one of the base, which no file declares; the dump of live PyTorch says its place."""
    dump = load_recording("2.15.0.state")["ops"]["aten::mul.Tensor"]["dump"]
    (said,) = re.findall(r"^CPU: registered at (\S+) ", dump, re.MULTILINE)
    place = "/".join(said.lstrip("/").split("/")[start:]) if start else said
    changes = tmp_path / "changes.yaml"
    change = f'{{operator: "aten::mul.Tensor", dispatch_key: CPU, place: "{place}"}}'
    changes.write_text(f"dispatch: 1\nextends: torch-2.15\nchanges:\n  - remove: {change}\n", encoding="utf-8")
    report = answer("register", str(changes), "--op", "aten::mul.Tensor")
    assert "CPU" not in {one["key"] for one in report["operators"][0]["kernels"]}
    changes.write_text(changes.read_text(encoding="utf-8").replace('"}', '0"}'), encoding="utf-8")
    refused = call("register", str(changes))
    assert refused.code == 2
    assert f"at this key there is: registered at {said}" in " ".join(refused.err.split())
