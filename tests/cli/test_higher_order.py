"""Higher-order operators on the command line: register, table and resolve."""

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


TORCHBIND = ("resolve", "call_torchbind", "--base", "torch-2.15", "--tensor", "cpu requires_grad")
DECLARATIONS = """\
dispatch: 1
higher_order_operators:
  - name: hop
    dispatch: {CompositeExplicitAutograd: hop_dense, Autograd: autograd_not_implemented}
    modes: {MyMode: hop_mode}
    subclasses: {MyTensor: {kernel: hop_subclass, returns: NotImplemented}, Other: hop_other}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(DECLARATIONS, encoding="utf-8")
    return "a.yaml"


def data(*args: str, code: int = 0) -> Any:
    result = call("resolve", *args, "--format", "json")
    assert (result.code, result.err) == (code, "")
    return json.loads(result.out)


def answer(*args: str) -> str:
    result = call("resolve", *args)
    assert result.err == ""
    return next(line for line in result.out.splitlines() if line.startswith("The call "))


def test_call_torchbind() -> None:
    """By spec section 6: kernels at CompositeExplicitAutograd and Autograd, the latter not implemented."""
    report = data(*TORCHBIND[1:])
    assert (report["report"], report["operator"], report["side_effect"]) == (
        "resolve-higher-order",
        "call_torchbind",
        True,
    )
    assert report["end"] == {"kind": "kernel", "handler": None, "passed": [], "error": None, "fake": None}
    assert report["backward_error"] == "Autograd not implemented for call_torchbind"
    first, last = report["steps"]
    assert [(key["key"], key["status"], key["included"]) for key in first["keys"]] == [
        ("AutocastCPU", "excluded", False),
        ("AutogradCPU", "runs", False),
        ("ADInplaceOrView", "falls-through", True),
        ("BackendSelect", "falls-through", True),
        ("CPU", "not-reached", False),
    ]
    assert (first["does"], first["entry"]["source"], first["excludes"]["functionalities"]) == (
        "calls-anew",
        "Autograd",
        ["AutogradOther", "AutogradFunctionality", "AutogradNestedTensor"],
    )
    assert (last["key"], last["entry"]["source"], last["result"]["keys"]) == (
        "CPU",
        "CompositeExplicitAutograd",
        ["CPU"],
    )
    assert last["impl"]["kernel"].endswith(".call_torchbind_impl")


def test_the_innermost_mode(file: str) -> None:
    report = data("hop", file, "--tensor", "cpu", "--context", "mode=Outer", "--context", "mode=MyMode")
    last = report["steps"][-1]
    asked = [(row["kind"], row["name"], row["position"], row["answer"]) for row in last["asked"]]
    assert asked == [("mode", "MyMode", 2, "handles")]
    assert last["impl"] == {
        "kind": "mode",
        "name": "MyMode",
        "kernel": "hop_mode",
        "declared_at": {"file": "a.yaml", "line": 5, "column": 13},
    }
    inside = ("hop", file, "--tensor", "cpu", "--context", "mode=MyMode", "--context", "mode=Outer")
    assert answer(*inside) == "The call fails at Python: PyTorch raises NotImplementedError"
    assert data(*inside, code=1)["steps"][-1]["asked"][0]["answer"] == "no-impl"


def test_subclasses_are_asked_in_turn(file: str) -> None:
    args = ("hop", file, "--tensor", "cpu subclass=MyTensor", "--tensor", "cpu subclass=Other")
    shown = call("resolve", *args).out
    assert "Python: the tensor subclass MyTensor (tensor 1) returns NotImplemented\n" in shown
    assert "Python: the tensor subclass Other (tensor 2) handles it\n" in shown
    assert answer(*args) == "The call ends in hop_other at Python (registered for Other)."


def test_what_is_refused() -> None:
    unknown = call("resolve", "call_torchbnd", "--tensor", "cpu")
    assert (unknown.code, "help: did you mean call_torchbind?" in unknown.err) == (2, True)
    refused = call("resolve", "call_torchbind", "--keyset", "CPU")
    assert (refused.code, refused.out) == (2, "")
    assert "a higher-order operator has no C++ kernels" in refused.err


def test_rules_that_raise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "dispatch: 1\nuniverse: torch-2.15\nhigher_order_operators:\n  - name: hop\n    dispatch:\n"
        "      CPU: {kernel: at_cpu, redispatches: raises, error: 'mylib.Refused: not on CPU'}\n"
        "      Meta: {kernel: at_meta, redispatches: raises}\n"
        "    functionalize: {kernel: functional, redispatches: false, error: {dispatch: 'ValueError: no context'}}\n"
    )
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    cpu = ("hop", "a.yaml", "--tensor", "cpu inference")
    assert answer(*cpu) == "The call fails at CPU: at_cpu raises mylib.Refused"
    error = {"kind": "impl", "type": "mylib.Refused", "text": "not on CPU", "whole": True, "tensor": None, "slot": None}
    assert data(*cpu, code=1)["end"]["error"] == error
    meta = answer("hop", "a.yaml", "--tensor", "meta inference")
    assert meta == "The call fails at Meta: at_meta raises an error whose text is not declared"
    functional = ("hop", "a.yaml", "--tensor", "cpu inference functional")
    assert answer(*functional) == "The call fails at Functionalize: functional raises ValueError"
    mode = answer("hop", "a.yaml", "--tensor", "cpu inference", "--context", "mode=FunctionalTensorMode")
    assert mode.startswith("The call ends in functional at Python")


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("{kernel: k, error: 'E: x'}", "the field 'error' needs an implementation that raises"),
        (
            "{kernel: k, redispatches: raises, error: {dispatch: x}}",
            "only an implementation for functionalization can have errors by place",
        ),
        ("{kernel: k, redispatches: maybe}", "true, false or raises"),
    ],
)
def test_errors_that_no_rule_can_raise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    text = f"dispatch: 1\nhigher_order_operators:\n  - name: hop\n    dispatch:\n      CPU: {rule}\n"
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    result = call("resolve", "hop", "a.yaml", "--tensor", "cpu")
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert "a.yaml:5:" in result.err
