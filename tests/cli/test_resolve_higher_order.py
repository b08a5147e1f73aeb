"""``dispatch-cli resolve`` of higher-order operators: the rule that runs, who was asked, errors, machine formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import call

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


def test_two_fake_modes() -> None:
    """Dispatch runs the rule; what tracing says of them is a note."""
    args = ("call_torchbind", "--tensor", "cpu fake=A", "--tensor", "cpu", "--tensor", "cpu fake=B")
    report = data(*args)
    assert report["end"]["kind"] == "kernel"
    error = (
        "fake mode (<FakeTensorMode object A>) from fake tensor input 0 doesn't match mode (<FakeTensorMode object B>) "
        "from fake tensor input 2"
    )
    assert report["fake_modes"]["error"] == error
    assert report["fake_modes"]["first"] == {"words": "fake tensor input", "number": 0, "name": "A", "position": 1}
    assert report["fake_modes"]["other"] == {"words": "fake tensor input", "number": 2, "name": "B", "position": 3}
    shown = call("resolve", *args).out
    assert "The fake mode A comes from fake tensor input 0, which is tensor 1\n" in shown
    assert "The fake mode B comes from fake tensor input 2, which is tensor 3\n" in shown
    assert f"detect_fake_mode raises AssertionError for them: {error}\n" in shown
    assert "PyTorch also says where each of the two was allocated. A fake mode of the tracing context" in shown


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
