"""Globs over operators and keys."""

from __future__ import annotations

import pytest

from dispatch_cli.answers.shared.selection import (
    not_found,
    select_keys,
    select_names,
    similar_names,
)
from dispatch_cli.api import what_if_state
from dispatch_cli.model.suggest import similar

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


def test_keys_and_what_looks_like_them() -> None:
    dispatcher = what_if_state(["CPU"]).dispatcher
    sparse = {"SparseCPU", "SparseIPU", "SparseXPU", "SparseHPU"}
    assert select_keys(dispatcher.universe, ["Undefined", "Sparse?PU"]) == {"Undefined", *sparse}
    assert select_keys(dispatcher.universe, ["Autograd"]) == set()  # an alias has no slot
    every = dispatcher.universe.keys_by_id
    assert select_keys(dispatcher.universe, ["autograd", "Dense"], every) == {"Autograd", "Dense"}
    assert select_keys(dispatcher.universe, ["cpu"]) == {"CPU"}
    assert select_keys(dispatcher.universe, ["autogradc*"]) == {"AutogradCPU", "AutogradCUDA"}
    assert similar("AutogradCUDAA", dispatcher.universe.slots, 3)[0] == "AutogradCUDA"
    assert similar_names(dispatcher.names(), "__test__::fo") == ["__test__::foo"]
    assert similar_names(dispatcher.names(), "aten::add") == []


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
