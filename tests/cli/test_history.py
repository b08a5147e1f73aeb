"""``dispatch-cli history``"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dispatch_cli import bases
from tests.cli.support import call

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


@pytest.mark.parametrize("text", ["cond", "higher_order.cond", "torch.ops.higher_order.cond"])
def test_a_higher_order_operator(text: str) -> None:
    (operator,) = data(text, "CompositeExplicitAutograd")["operators"]
    assert (operator["operator"], operator["higher_order"], operator["schema"]) == ("cond", True, None)
    assert [row["function"] for row in operator["at_key"]] == ["torch._higher_order_ops.cond.cond_op_dense"]


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
