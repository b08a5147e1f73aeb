"""Higher-order operators on the command line: table, resolve, explain and checks."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import call

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
    (tmp_path / "hops.yaml").write_text(HOPS, encoding="utf-8")
    (tmp_path / "python.yaml").write_text(DIVERGING, encoding="utf-8")


def sheet(*args: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(call(*args, "--format", "csv").out)))


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
    assert len(rows) == 137


# Explanations and checks.


HOPS = """\
dispatch: 1
higher_order_operators:
  - name: whole
    dispatch: {CompositeExplicitAutograd: whole_impl, AutocastCPU: fallthrough}
    autograd: {kernel: autograd_not_implemented, deferred_error: true}
    modes: {FakeTensorMode: whole_fake, ProxyTorchDispatchMode: whole_proxy}
    subclasses: {MyTensor: whole_mine}
    transforms: {Vmap: whole_vmap}
    functionalize: whole_functional
  - name: half # dispatch-cli: ignore[higher-order-autograd] inference only
    dispatch: {CPU: half_cpu}
modes: {Supporting: {supports_higher_order_operators: true}}
"""


def asked(*args: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(call("explain", *args, "hops.yaml", "--format", "json").out)
    return report


@pytest.mark.parametrize(
    ("key", "found", "kernel"),
    [
        ("CPU", "impl", "whole_impl"),
        ("DispatchKey.AutogradCPU", "impl", "autograd_not_implemented"),
        ("AutocastCPU", "fallthrough", None),
        ("Python", "modes", None),
        ("FuncTorchDynamicLayerFrontMode", "transforms", None),
        ("PreDispatch", "error", None),
        ("torch._subclasses.fake_tensor.FakeTensorMode", "impl", "whole_fake"),
        ("FakeTensor", "impl", "whole_fake"),
        ("transform=Functionalize", "impl", "whole_functional"),
        ("TransformType.Vmap", "impl", "whole_vmap"),
        ("Grad", "error", None),
        ("MyTensor", "impl", "whole_mine"),
        ("subclass=Other", "error", None),
        ("mode=Other", "error", None),
        ("Supporting", "mode-itself", None),
    ],
)
def test_places(key: str, found: str, kernel: str | None) -> None:
    answer = asked("higher_order::whole", key)
    assert (answer["answer"]["found"], answer["answer"]["kernel"]) == (found, kernel)
    assert (answer["answer"]["error"] is not None) is (found == "error")
    assert (answer["advice"] is not None) is (found == "error")


@pytest.mark.parametrize(
    ("key", "helps", "declared"),
    [
        ("FunctionalTensorMode", "register-functionalization", "functionalize: f"),
        ("FakeTensor", "register-fake", "modes: {FakeTensorMode: f}"),
        ("mode=Other", "register-here", "modes: {Other: f}"),
        ("subclass=Other", "register-here", "subclasses: {Other: f}"),
        ("Vmap", "register-here", "transforms: {Vmap: f}"),
        ("AutogradCUDA", "register-derivative", "autograd: f"),
        ("AutogradOther", "register-here", "dispatch: {AutogradOther: f}"),
        ("XPU", "register-for-every-backend", "dispatch: {CompositeExplicitAutograd: f}"),
        ("PreDispatch", "fall-through", "dispatch: {PreDispatch: fallthrough}"),
    ],
)
def test_what_advice_says_helps(key: str, helps: str, declared: str) -> None:
    """Declared in a further file, the first change that is named makes the call at this place work."""
    assert asked("half", key)["advice"][0] == helps
    text = f"dispatch: 1\nhigher_order_operators:\n  - {{name: half, add: true, {declared}}}\n"
    Path("more.yaml").write_text(text, encoding="utf-8")
    after = json.loads(call("explain", "half", key, "hops.yaml", "more.yaml", "--format", "json").out)
    assert after["answer"]["found"] in ("impl", "fallthrough")
    assert after["advice"] is None


COMPOSITE = "dispatch: 1\nhigher_order_operators: [{name: ho, dispatch: {CompositeImplicitAutograd: ho_impl}}]\n"


def end_of_call(operator: str, *contexts: str) -> tuple[str | None, str]:
    """The implementation in which a call ends, and the text of its error."""
    words = (word for context in contexts for word in ("--context", context))
    result = call("resolve", operator, "hops.yaml", "--tensor", "cpu", *words, "--format", "json")
    report: dict[str, Any] = json.loads(result.out)
    impl, error = report["steps"][-1]["impl"], report["end"]["error"]
    return impl and impl["kernel"], error["text"] if error else ""


@pytest.mark.parametrize("mode", ["FakeTensorMode", "ProxyTorchDispatchMode", "FunctionalTensorMode"])
def test_an_implementation_at_an_autograd_key_comes_before_a_mode(mode: str) -> None:
    """As live PyTorch 2.13: ordinary calls run, those in inference mode raise, and tracing above autograd does."""
    Path("hops.yaml").write_text(COMPOSITE, encoding="utf-8")
    assert end_of_call("ho", f"mode={mode}") == ("ho_impl", "")
    text = f"There was no rule registered for HigherOrderOperator ho and mode <{mode}"
    assert end_of_call("ho", "inference_mode", f"mode={mode}")[1].startswith(text)
    if mode == "ProxyTorchDispatchMode":
        text = f"Current active mode <{mode} object> not registered"
        assert end_of_call("ho", f"pre_dispatch_mode={mode}", "pre_dispatch") == (None, text)
    explained = call("explain", "ho", mode, "hops.yaml").out
    assert f"`dispatch-cli resolve ho --tensor cpu --context mode={mode}` follows a whole call" in explained


def test_an_error_at_an_autograd_key_comes_before_a_mode() -> None:
    """As live PyTorch 2.13: the call fails at AutogradCPU, in the mode too."""
    text = "could not find kernel for HigherOrderOperator half at dispatch key DispatchKey.A"
    assert end_of_call("half", "mode=FakeTensorMode")[1].startswith(text)
    text = "There was no rule registered for HigherOrderOperator half and mode <FakeTensorMode"
    assert end_of_call("half", "mode=FakeTensorMode", "inference_mode")[1].startswith(text)


def test_checks_choose_count_and_suppress() -> None:
    report = json.loads(call("check-invariants", "hops.yaml", "--format", "json").out)
    assert (report["operators"], [finding["check"] for finding in report["findings"]]) == (2, ["higher-order-mode"])
    assert [finding["check"] for finding in report["suppressed"]] == ["higher-order-autograd"]
    assert report["findings"][0]["operator"] == "half"
