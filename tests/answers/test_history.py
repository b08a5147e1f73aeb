"""``history``: what changed between embedded versions, compared with recorded dumps of PyTorch."""

from __future__ import annotations

import json
import lzma
import re
from functools import cache
from typing import Any

import pytest

from dispatch_cli.answers.history.changes import Versions
from dispatch_cli.answers.history.report import HeldKind, history_report
from dispatch_cli.engine.comparison.operators import Likeness, Rename, renames
from dispatch_cli.engine.comparison.sides import Side
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.schema import parse_schema
from dispatch_cli.universes import default_name, load
from tests.answers.raw_history import differences, expected
from tests.cli.support import call
from tests.support import RECORDINGS


@cache
def recorded() -> list[dict[str, Any]]:
    with lzma.open(RECORDINGS / "versions.raw_dumps.json.xz", "rt") as file:
        answer: list[dict[str, Any]] = json.load(file)
        return answer


def test_it_says_what_the_dumps_of_every_version_say() -> None:
    names = [*recorded()[0]["ops"]]
    assert [*differences(recorded(), names)] == []
    kinds = {kind for by_version in expected(recorded()).values() for change in by_version.values() for kind in change}
    assert kinds == {"gone", "schema", "kernels", "slots"}
    assert len(recorded()) == 12


def side(*operators: tuple[str, str, str]) -> Side:
    """A state with operators: schema, key, and the file in which the kernel is registered."""
    dispatcher = Dispatcher(load(default_name()))
    for text, key, file in operators:
        schema = parse_schema(text)
        dispatcher.define(schema, "registered at schemas.cpp:1")
        dispatcher.implement(schema.name, key, Kernel(debug=f"registered at a/{file}:7"))
    return Side(State(dispatcher))


KEPT = ("demo::kept(Tensor x) -> Tensor", "CPU", "kept.cpp")
OLD = side(("demo::f(Tensor x, int n) -> Tensor", "CPU", "f.cpp"), KEPT)


def test_an_operator_that_went_on_under_another_name() -> None:
    new = side(
        ("demo::g(Tensor x, int n) -> Tensor", "CPU", "f.cpp"), ("demo::h(Tensor x) -> Tensor", "CPU", "f.cpp"), KEPT
    )
    pairs = (Rename("demo::f", "demo::g", Likeness.SCHEMA_AND_KERNELS),)
    assert renames(OLD, new, "demo::f") == renames(OLD, new, "demo::g") == pairs
    assert renames(OLD, new, "demo::h") == renames(OLD, new, "demo::kept") == ()


@pytest.mark.parametrize(
    "other",
    [
        ("demo::g(Tensor x, int n) -> Tensor", "CPU", "g.cpp"),
        ("demo::g(Tensor x, int n) -> Tensor", "CUDA", "f.cpp"),
        ("demo::g(Tensor x, SymInt n) -> Tensor", "CPU", "f.cpp"),
        ("demo::f.new(Tensor x, SymInt n) -> Tensor", "CPU", "f.cpp"),
    ],
)
def test_an_operator_that_is_only_somewhat_alike_is_no_successor(other: tuple[str, str, str]) -> None:
    assert renames(OLD, side(other, KEPT), "demo::f") == ()


def test_another_overload_with_the_same_schema() -> None:
    new = side(("demo::f.new(Tensor x, int n) -> Tensor", "CUDA", "new.cpp"), KEPT)
    assert renames(OLD, new, "demo::f") == (Rename("demo::f", "demo::f.new", Likeness.NAME_AND_SCHEMA),)


def versions() -> Versions:
    return Versions([f"torch-{recording['version']}" for recording in recorded()])


def test_runs_at_a_key_cover_every_version_once() -> None:
    names = ["aten::tril", "aten::kthvalue", "aten::align_as", "aten::_flash_attention_forward.quantized"]
    every = versions()
    for key in ("CPU", "Named", "AutocastMAIA", "CompositeExplicitAutograd", "AutogradPrivateUse1", "Dense"):
        for operator in history_report(every, names, key).operators:
            ends = [place for held in operator.at_key for place in (held.first, held.last)]
            places = [every.names.index(version) for version in ends]
            assert places[0] == 0
            assert places[-1] == len(every.names) - 1
            assert all(last + 1 == first for last, first in zip(places[1:-1:2], places[2::2], strict=True))
            assert all(first <= last for first, last in zip(places[::2], places[1::2], strict=True))
            absent = {held.first for held in operator.at_key if held.kind is HeldKind.NO_OPERATOR}
            assert bool(absent) == (not all(every.with_operator(operator.operator)))


def test_a_python_kernel_is_not_the_one_of_a_cpp_file() -> None:
    """Also in a version that does not say where a Python kernel is from, as the recorded dumps show."""
    name = "aten::_upsample_bilinear2d_aa_backward"
    (operator,) = history_report(versions(), [name], key="Meta").operators
    dumps = {recording["version"]: recording["ops"][name]["dump"].splitlines() for recording in recorded()}
    in_cpp = [
        version for version, lines in dumps.items() if any(re.match("Meta: .*RegisterMeta", line) for line in lines)
    ]
    assert operator.at_key[0].last == f"torch-{in_cpp[-1]}"
    assert [run.kernel and run.kernel.file for run in operator.at_key] == ["RegisterMeta.cpp", "_meta_registrations.py"]


def test_a_key_that_some_versions_lack() -> None:
    """``Named`` is a key up to the version before the one that removed it, as the recorded runtime keys say."""
    (operator,) = history_report(versions(), ["aten::kthvalue"], key="Named").operators
    lacking = [recording["version"] for recording in recorded() if "Named" not in recording["runtime"]]
    (run,) = [held for held in operator.at_key if held.kind is HeldKind.NO_KEY]
    assert (run.first, run.last) == (f"torch-{lacking[0]}", f"torch-{lacking[-1]}")


# The command line.


def data(*args: str) -> Any:
    result = call("history", *args, "--format", "json")
    assert (result.code, result.err) == (0, "")
    return json.loads(result.out)


def names(*args: str) -> list[str]:
    return [operator["operator"] for operator in data(*args)["operators"]]


def test_a_higher_order_operator_is_said_to_be_one() -> None:
    result = call("history", "higher_order.cond")
    assert result.code == 2
    assert "It is a higher-order one, which `dispatch-cli diff A B --op NAME` compares." in result.err


def test_the_picture_of_many_operators_says_what_the_json_says() -> None:
    """In text as in SVG, a mark for each kind of change, and no other."""
    report = json.loads(call("history", "aten::_flash*", "--format", "json").out)
    names = [version["name"] for version in report["versions"]]
    kinds = {"s": "schema_changed_in", "r": "registrations_changed_in", "t": "slots_changed_in"}
    text, svg = (call("history", "aten::_flash*", *more).out for more in ((), ("--format", "svg")))
    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("aten::")}
    assert lines.keys() == {operator["operator"] for operator in report["operators"]}
    head = text.splitlines()[0]
    at = {name: head.index(f" {name.removeprefix('torch-')}") + 1 for name in names}
    for row in report["operators"]:
        line = lines[row["operator"]]
        added = {run["first"] for run in row["versions"]} - ({names[0]} if row["or_earlier"] else set())
        for name in names:
            marks = line[at[name] :].split(" ")[0].rstrip("\N{MIDDLE DOT}")
            expected = "+" * (name in added) or "".join(sign for sign, field in kinds.items() if name in row[field])
            assert marks == expected, (row["operator"], name)
        assert row["operator"] in svg
    assert svg.startswith("<svg") and "schema changed" in svg
