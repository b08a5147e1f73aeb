"""Registrations commute and can be taken back: what is in effect alone decides what the dumps say.

All orders of registering, and for each all orders of dropping, are tried; the state after every step must be the one
that was first seen for the same set of registrations.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.bindings import Bindings
from tests.bindings.histories import invariants_hold

Action = Callable[[Any], object]
State = tuple[str, str, bool]


def define(schema: str = "op(Tensor x) -> Tensor") -> Action:
    return lambda library: library.def_(schema)


def infer() -> Action:
    return lambda library: library.def_name_t_t("op")


def kernel(key: str = "") -> Action:
    return lambda library: library.impl_t_t("op", key, f"at_{key or 'catch_all'}")


def python_kernel(key: str) -> Action:
    return lambda library: library.impl("op", key, print)


@pytest.fixture(scope="module")
def bindings() -> Bindings:
    return Bindings(universes.load(universes.default_name()))


def states(bindings: Bindings, actions: list[Action]) -> dict[frozenset[int], tuple[str, str]]:
    """The dumps for every set of registrations in effect that any order passes through."""
    seen: dict[frozenset[int], tuple[str, str]] = {frozenset(): ("", "")}
    for order in permutations(range(len(actions))):
        for back in permutations(order):
            libraries = {}
            for number in order:
                libraries[number] = bindings._dispatch_library("FRAGMENT", "commute", "")
                actions[number](libraries[number])
                assert seen.setdefault(frozenset(libraries), dumps(bindings)) == dumps(bindings), (order, back)
            for number in back:
                del libraries[number]
                assert seen.setdefault(frozenset(libraries), dumps(bindings)) == dumps(bindings), (order, back)
    return seen


def dumps(bindings: Bindings) -> tuple[str, str]:
    return bindings._dispatch_dump("commute::op"), bindings._dispatch_dump_table("commute::op")


def chosen(table: str, *keys: str) -> list[str]:
    lines = dict(line.split(": ", 1) for line in table.splitlines())
    return [lines.get(key, "missing") for key in keys]


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        (
            [define(), kernel("CPU"), kernel("Autograd"), kernel("CompositeExplicitAutograd")],
            [
                "at_CPU [kernel]",
                "at_CompositeExplicitAutograd [default backend kernel]",
                "at_Autograd [autograd kernel]",
                "at_CompositeExplicitAutograd [default backend kernel]",
            ],
        ),
        (
            [infer(), kernel("CUDA"), kernel("AutogradCPU"), kernel("SparseCPU")],
            [
                "default_def_name_t_t [math kernel]",
                "at_CUDA [kernel]",
                "at_AutogradCPU [kernel]",
                "default_def_name_t_t [math kernel]",
            ],
        ),
        (
            [kernel(), kernel("NestedTensorCPU"), kernel("CPU"), python_kernel("CUDA")],
            [
                "at_CPU [kernel]",
                "registered at /dev/null:0 [kernel]",
                "AutogradCPU",
                "at_catch_all [math kernel]",
            ],
        ),
    ],
)
def test_every_order_gives_the_same_states(bindings: Bindings, actions: list[Action], expected: list[str]) -> None:
    seen = states(bindings, actions)
    assert len(seen) == 2 ** len(actions)
    table = seen[frozenset(range(len(actions)))][1]
    kernels = chosen(table, "CPU", "CUDA", "AutogradCPU", "Undefined")
    if expected[2] == "AutogradCPU":
        assert kernels[2].endswith("[backend fallback]")
        kernels[2] = "AutogradCPU"
    assert kernels == expected


def test_a_contradiction_is_refused_in_either_order_with_one_text(bindings: Bindings) -> None:
    actions = [define("op(Tensor x, Tensor y) -> Tensor"), kernel("CPU")]
    texts = set()
    for order in permutations(actions):
        first, second = (bindings._dispatch_library("FRAGMENT", "commute", "") for _ in order)
        order[0](first)
        before = dumps(bindings)
        with pytest.raises(RuntimeError) as refused:
            order[1](second)
        assert dumps(bindings) == before
        texts.add(str(refused.value))
        del refused, second, first
        assert dumps(bindings) == ("", "")
    assert texts == {
        "Inferred operator schema for a C++ kernel function doesn't match the expected function schema.\n"
        "  operator: commute::op\n"
        "  expected schema: commute::op(Tensor x, Tensor y) -> Tensor\n"
        "    registered at /dev/null:0\n"
        "  inferred schema: (Tensor _0) -> Tensor _0\n"
        "    at_CPU\n"
        "  reason: The number of arguments is different. 2 vs 1."
    }


def test_the_newest_kernel_is_active_and_the_one_before_comes_back(bindings: Bindings) -> None:
    older, newer = (bindings._dispatch_library("FRAGMENT", "commute", "") for _ in range(2))
    older.impl_t_t("op", debug="older")
    newer.impl_t_t("op", debug="newer")
    flags = "(Tensor _0) -> Tensor _0 [ boxed unboxed ]"
    both = (
        "name: commute::op\nschema: (none)\n"
        f"CompositeImplicitAutograd[alias]: newer :: {flags}\n"
        f"CompositeImplicitAutograd[alias] (inactive): older :: {flags}\n"
    )
    assert dumps(bindings)[0] == both
    del newer
    alone = f"name: commute::op\nschema: (none)\nCompositeImplicitAutograd[alias]: older :: {flags}\n"
    assert dumps(bindings)[0] == alone


def test_the_live_table_does_not_commute(bindings: Bindings) -> None:
    """The dumps hide this: after one order of these two the live table is stale, after the other it is not."""
    held = []
    for keys in (("CompositeImplicitAutograd", "QuantizedCPU"), ("QuantizedCPU", "CompositeImplicitAutograd")):
        library = bindings._dispatch_library("FRAGMENT", "commute", "")
        for key in keys:
            library.impl_t_t("op", key)
        held.append(invariants_hold(bindings, "commute::op"))
        del library
    assert held == [False, True]
