"""``history``: what changed between embedded versions, compared with recorded dumps of PyTorch."""

from __future__ import annotations

import json
import lzma
import re
from functools import cache
from typing import Any

from dispatch_cli.answers.history.changes import Versions
from dispatch_cli.answers.history.report import HeldKind, history_report
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
