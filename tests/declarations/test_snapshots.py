"""Files that carry their own universe, and snapshots of running dispatchers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch_cli import universes
from dispatch_cli.api import load_state
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError
from tests.support import SOME_UNIVERSES

EMBEDDED = Path(universes.__file__).parent
OPERATOR = "demo::op(Tensor x) -> Tensor"
STALE = {"func": OPERATOR, "dispatch": {"CompositeImplicitAutograd": "op_math", "QuantizedCPU": "op_quantized"}}


def written(tmp_path: Path, name: str = "file.json", **fields: object) -> str:
    path = tmp_path / name
    path.write_text(json.dumps({"dispatch": 1, **fields}, indent=1), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", SOME_UNIVERSES)
def test_a_universe_in_the_file_is_the_universe(tmp_path: Path, name: str) -> None:
    inline = json.loads((EMBEDDED / f"{name}.json").read_text(encoding="utf-8"))
    state = load_state([written(tmp_path, universe=inline)])
    assert universes.differences(state.dispatcher.universe, universes.load(name)) == []


def test_files_with_the_same_universe_agree_however_they_name_it(tmp_path: Path) -> None:
    inline = json.loads((EMBEDDED / "torch-2.4.json").read_text(encoding="utf-8"))
    first = written(tmp_path, "one.json", universe=inline)
    assert (
        load_state([first, written(tmp_path, "two.json", universe="torch-2.4")]).dispatcher.universe.name == "torch-2.4"
    )
    with pytest.raises(InputError) as raised:
        load_state([first, written(tmp_path, "three.json", universe="torch-2.15")])
    assert [problem.code for problem in raised.value.problems] == ["universe-conflict"]


def test_a_universe_that_does_not_hold_together_is_refused(tmp_path: Path) -> None:
    inline = json.loads((EMBEDDED / "torch-2.4.json").read_text(encoding="utf-8"))
    inline["runtime"].remove("CPU")
    with pytest.raises(InputError) as raised:
        load_state([written(tmp_path, universe=inline)])
    assert [problem.code for problem in raised.value.problems] == ["bad-universe"]


def test_the_live_tables_of_a_snapshot_are_in_order(tmp_path: Path) -> None:
    name = OperatorName("demo::op")
    history = load_state([written(tmp_path, operators=[STALE])])
    assert [entry.canonical.key for entry in history.dispatcher.stale_entries(name)] == ["AutogradOther"]
    snapshot = load_state([written(tmp_path, snapshot=True, operators=[STALE])])
    assert snapshot.dispatcher.stale_entries(name) == []


def test_what_comes_after_a_snapshot_can_leave_it_behind(tmp_path: Path) -> None:
    base = written(tmp_path, "base.json", snapshot=True, operators=[STALE])
    over = written(
        tmp_path, "over.json", operators=[{"name": "demo::op", "dispatch": {"CompositeExplicitAutograd": "op_default"}}]
    )
    stale = load_state([base, over]).dispatcher.stale_entries(OperatorName("demo::op"))
    assert "AutogradCUDA" in [entry.canonical.key for entry in stale]


def test_a_snapshot_names_keys_as_the_enum_does(tmp_path: Path) -> None:
    operator = {"func": OPERATOR, "dispatch": {"QuantizedHIP": "op_hip"}}
    with pytest.raises(InputError):
        load_state([written(tmp_path, operators=[operator])])
    state = load_state([written(tmp_path, snapshot=True, operators=[operator])])
    assert state.dispatcher.operator(OperatorName("demo::op")).has_kernel("QuantizedHIP")


def test_what_is_imported_is_laid_over_the_rest_of_a_snapshot(tmp_path: Path) -> None:
    captured = {
        "snapshot": True,
        "pytorch": True,
        "operators": [STALE],
        "imported": {
            "modules": ["mine"],
            "operators": [{"name": "demo::op", "dispatch": {"CPU": "mine"}, "python_dispatch": {"CPU": "p"}}],
            "fallbacks": {"PrivateUse1": "f"},
        },
    }
    state = load_state([written(tmp_path, **captured)])
    assert state.own_operators() == [OperatorName("demo::op")]
    assert state.base is not None
    assert not state.base.operator(OperatorName("demo::op")).has_kernel("CPU")
    assert state.dispatcher.operator(OperatorName("demo::op")).has_kernel("CPU")
    assert state.dispatcher.stale_entries(OperatorName("demo::op")) == []
    assert "PrivateUse1" in state.dispatcher.fallbacks
    assert "PrivateUse1" not in state.base.fallbacks


@pytest.mark.parametrize("field", [{"pytorch": True}, {"imported": {"modules": ["mine"]}}])
def test_only_a_snapshot_says_what_pytorch_registered(tmp_path: Path, field: dict[str, object]) -> None:
    with pytest.raises(InputError) as raised:
        load_state([written(tmp_path, **field)])
    (problem,) = raised.value.problems
    assert problem.message == f"'{next(iter(field))}' is only for snapshots"
    assert problem.hint == "add snapshot: true"
