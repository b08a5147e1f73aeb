"""``dispatch-cli history``"""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from dispatch_cli import bases
from tests.cli.support import Result, call

VERSIONS = [*reversed(bases.names())]


def data(*args: str) -> Any:
    result = call("history", *args, "--format", "json")
    assert (result.code, result.err) == (0, "")
    return json.loads(result.out)


def names(*args: str) -> list[str]:
    return [operator["operator"] for operator in data(*args)["operators"]]


def test_every_embedded_version_is_looked_at_the_oldest_first() -> None:
    report = data("aten::sin")
    assert [version["name"] for version in report["versions"]] == VERSIONS
    assert report["operators"][0]["versions"] == [{"first": VERSIONS[0], "last": VERSIONS[-1]}]
    assert report["operators"][0]["or_earlier"] is True


def test_a_name_with_overloads_only() -> None:
    assert names("aten::squeeze_") == ["aten::squeeze_"]
    assert {"aten::add.Tensor", "aten::add.out"} <= set(names("aten::add"))


@pytest.mark.parametrize("text", ["cond", "higher_order.cond", "torch.ops.higher_order.cond"])
def test_a_higher_order_operator(text: str) -> None:
    (operator,) = data(text, "CompositeExplicitAutograd")["operators"]
    assert (operator["operator"], operator["higher_order"], operator["schema"]) == ("cond", True, None)
    assert [row["function"] for row in operator["at_key"]] == ["torch._higher_order_ops.cond.cond_op_dense"]


def test_a_glob_has_a_line_for_each_operator() -> None:
    lines = call("history", "aten::*softmax").out.splitlines()
    matching = [line for line in lines if line.startswith("aten::")]
    assert [line.split()[0] for line in matching] == names("aten::*softmax")
    assert len(matching) > 3


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("aten::kthvalu",), "Did you mean aten::kthvalue?"),
        (("aten::alignas",), "Did you mean aten::align_as"),
        (("aten::nosuch*",), "no embedded version has an operator 'aten::nosuch*'"),
        (("",), "no embedded version has an operator ''"),
        (("aten::sin", "CPUU"), "no embedded version has a dispatch key 'CPUU'. Did you mean CPU"),
        (("aten::sin", "CPU", "--only", "slots"), "--only cannot be combined with KEY"),
    ],
)
def test_what_is_refused(args: tuple[str, ...], message: str) -> None:
    result = call("history", *args)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_only_changes_of_one_kind() -> None:
    every = data("aten::_scaled_mm")["operators"][0]
    kinds = {
        "schemas": {"schema"},
        "registrations": {"registrations", "moves", "python_kernels", "implementations"},
        "slots": {"slots"},
    }
    for only, fields in kinds.items():
        operator = data("aten::_scaled_mm", "--only", only)["operators"][0]
        assert operator["schema_changed_in"] == every["schema_changed_in"]
        wanted = [{field: change[field] for field in fields if change[field]} for change in every["changes"]]
        shown = [
            {field: value for field, value in change.items() if field not in HEAD and value}
            for change in operator["changes"]
        ]
        assert shown == [row for row in wanted if row]


HEAD = ("version", "since", "change", "registered_at")


def rows(result: Result) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(result.out))]


def test_csv_has_a_row_for_each_change() -> None:
    table = rows(call("history", "aten::_scaled_mm", "--format", "csv"))
    (operator,) = data("aten::_scaled_mm")["operators"]
    assert {row["version"] for row in table if row["what"] == "schema"} == set(operator["schema_changed_in"])
    assert {row["version"] for row in table if row["what"] == "slots"} == set(operator["slots_changed_in"])
    whole = next(row for row in table if (row["what"], row["where"]) == ("schema", ""))
    assert whole["after"] == operator["schema"]


def test_an_operator_that_is_gone() -> None:
    """The first version without it, and the overloads of its name that are left, as the states themselves have them."""
    output = call("history", "aten::all.dimname").out
    having = [name for name in VERSIONS if "aten::all.dimname" in bases.load(name).names]
    last, gone = having[-1].removeprefix("torch-"), VERSIONS[len(having)].removeprefix("torch-")
    assert having == VERSIONS[: len(having)]
    assert f"Gone since {gone}; {last} is the last version that has it." in output
    assert "has other overloads of its name: aten::all, aten::all.all_out" in output


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
