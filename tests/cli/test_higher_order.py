"""``register`` and ``table`` for higher-order operators, and ``table --resolver``: machine formats, names, mistakes.

What the tables hold is judged by recordings elsewhere; here it is that every format says it.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.crossref.compare import AMBIGUOUS, MISSING
from tests.cli.support import call
from tests.support import load_recording

HOP = """\
dispatch: 1
higher_order_operators:
  - name: hop
    dispatch: {CPU: hop_cpu, XLA: fallthrough}
    modes: {MyMode: {kernel: hop_mode, returns: NotImplemented}}
"""
DIVERGING = """\
dispatch: 1
operators:
  - func: m::f(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: math, CPU: cpu}
    python_dispatch: {Meta: py_meta, CompositeImplicitAutogradNestedTensor: "py_[nested]"}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hop.yaml").write_text(HOP, encoding="utf-8")
    (tmp_path / "python.yaml").write_text(DIVERGING, encoding="utf-8")


def sheet(*args: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(call(*args, "--format", "csv").out)))


def place(line: int, column: int) -> dict[str, Any]:
    return {"file": "hop.yaml", "line": line, "column": column}


def test_table_json() -> None:
    report = json.loads(
        call("table", "hop.yaml", "--op", "hop", "--key", "CPU", "--key", "Conj*", "--format", "json").out
    )
    operator = report["higher_order_operators"][0]
    assert report["operators"] == []
    assert [rule["name"] for rule in operator["impls"]] == ["CPU", "XLA", "MyMode"]
    assert operator["impls"][2]["returns_not_implemented"] is True
    assert operator["entries"] == [
        {
            "key": "CPU",
            "slot": "fallthrough",
            "rule": "kernel",
            "rule_number": 1,
            "source": "CPU",
            "kernel": "hop_cpu",
            "declared_at": place(4, 16),
            "error": None,
        },
        {
            "key": "Conjugate",
            "slot": "no-impl",
            "rule": "fallback",
            "rule_number": 9,
            "source": None,
            "kernel": None,
            "declared_at": None,
            "error": (
                "could not find kernel for HigherOrderOperator hop at dispatch key DispatchKey.Conjugate "
                "(resolved from DispatchKey.Conjugate)"
            ),
        },
    ]


def test_table_csv_and_markdown_have_every_slot() -> None:
    rows = sheet("table", "hop.yaml")
    # The fallthrough at XLA takes Dense away as a whole: all backends fall through with it.
    assert Counter(row["rule"] for row in rows if row["fallthrough"] == "true") == {
        "kernel": 1,
        "missing": 14,
        "fallback": 8,
    }
    markdown = call("table", "hop.yaml", "--format", "markdown").out
    assert "| mode | MyMode | hop\\_mode (returns NotImplemented) | hop.yaml:5:13 |\n" in markdown
    assert len(sheet("table", "hop.yaml", "--resolver", "python")) == len(rows) == 137


def test_a_name_that_is_close() -> None:
    result = call("table", "--base", "torch-2.15", "--op", "call_torchbnd")
    assert (result.code, result.out) == (2, "")
    assert "no operator matches 'call_torchbnd'. Did you mean call_torchbind?" in result.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("table", "hop.yaml", "--format", "raw"), "no table dump of a higher-order operator"),
        (("register", "hop.yaml", "--format", "raw"), "no dump of a higher-order operator"),
        (("table", "hop.yaml", "--resolver", "differences"), "--resolver cannot be 'differences'"),
        (("table", "python.yaml", "--resolver", "python", "--format", "raw"), "remove --resolver"),
        (("table", "python.yaml", "--resolver", "python", "--view", "grid"), "remove --resolver"),
    ],
)
def test_what_says_nothing_together(args: tuple[str, ...], message: str) -> None:
    result = call(*args)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_python_table_json() -> None:
    args = ("table", "python.yaml", "--resolver", "python", "--format", "json")
    report = json.loads(call(*args, "--key", "Meta", "--key", "NestedTensorCPU", "--key", "HPU").out)
    entries = {entry["key"]: entry for entry in report["operators"][0]["entries"]}
    assert entries["Meta"] == {
        "key": "Meta",
        "chosen_key": "Meta",
        "rule": "kernel",
        "rule_number": 1,
        "source": "Meta",
        "kernel": "py_meta",
        "python": True,
        "fallthrough": False,
        "core_fallback": False,
        "declared_at": {"file": "python.yaml", "line": 5, "column": 23},
        "error": None,
        "differs": {
            "key": "Meta",
            "cpp": {"rule": "math", "source": "CompositeImplicitAutograd"},
            "python": {"rule": "kernel", "source": "Meta"},
            "reason": "python-kernel",
            "because": ["Meta"],
        },
    }
    assert entries["NestedTensorCPU"]["kernel"] == "py_[nested]"
    assert entries["HPU"]["differs"] is None


def test_python_table_sheets() -> None:
    rows = {row["key"]: row for row in sheet("table", "python.yaml", "--resolver", "python")}
    assert len(rows) == 137
    assert rows["AutogradMeta"]["cpp"] == "CompositeImplicitAutograd"
    assert rows["Fake"]["error"] == "could not find kernel for m.f.default at dispatch key DispatchKey.Fake"
    markdown = call("table", "python.yaml", "--resolver", "python", "--format", "markdown").out
    assert "| Python py\\_\\[nested\\] |" in markdown
    summary = sheet("table", "python.yaml", "--resolver", "python", "--view", "summary")[0]
    assert int(summary["differs"]) == len([row for row in rows.values() if row["cpp"]])


def test_differences_are_those_of_the_recorded_answers() -> None:
    """Every slot of PyTorch 2.15.0, against what live PyTorch answered there and what its tables said."""
    recording = load_recording("2.15.0.resolve_key")
    rows = sheet("table", "--base", "torch-2.15", "--resolver", "differences")
    assert len(rows) == 702
    assert len({row["operator"] for row in rows}) == 138
    for row in rows:
        answer = recording["rows"][recording["row_of"][row["operator"]]][recording["slots"].index(row["key"])]
        others = {"fallback": row["key"], "missing": MISSING, "ambiguous": AMBIGUOUS}
        chosen = row["python_source"] or others[row["python_rule"]]
        assert chosen == answer
    report = json.loads(call("table", "--base", "torch-2.15", "--resolver", "differences", "--format", "json").out)
    assert (report["report"], report["compared"]) == ("python-differences", 3624)
    assert sum(len(operator["slots"]) for operator in report["operators"]) == 702
