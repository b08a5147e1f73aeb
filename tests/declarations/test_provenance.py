"""Through what declarations come: files that the user did not name, and embedded states."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.declarations.loader import load
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.origin import OWN, Inherited, Origin
from dispatch_cli.model.span import Span
from tests.cli.support import call

FILES = {
    "base.yaml": """\
dispatch: 1
extends: [torch-2.15]
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu}
  - name: demo::lost
    dispatch: {CPU: lost_cpu}
fallbacks: {PrivateUse1: mine}
""",
    "middle.yaml": "dispatch: 1\nextends: [base.yaml]\n",
    "overlay.yaml": """\
dispatch: 1
extends:
  - middle.yaml
operators:
  - name: demo::op
    dispatch: {CUDA: op_cuda}
  - name: aten::trunc
    dispatch: {PrivateUse2: trunc_mine}
""",
}
OVERLAY, MIDDLE, BASE = Span("overlay.yaml", 3, 5), Span("middle.yaml", 2, 11), Span("base.yaml", 2, 11)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


def test_declarations_know_through_what_each_file_and_state_came() -> None:
    declarations = load(["overlay.yaml"])
    assert declarations.inherited == (
        Inherited("torch-2.15", True, (OVERLAY, MIDDLE, BASE)),
        Inherited("middle.yaml", False, (OVERLAY,)),
        Inherited("base.yaml", False, (OVERLAY, MIDDLE)),
    )
    assert declarations.through(Span("base.yaml", 5, 21)) == (OVERLAY, MIDDLE)
    assert declarations.through(Span("overlay.yaml", 6, 22)) == declarations.through(None) == ()


def test_what_the_user_names_came_through_nothing() -> None:
    for paths in (["overlay.yaml", "base.yaml"], ["base.yaml", "overlay.yaml"]):
        assert load(paths).through(Span("base.yaml", 5, 21)) == ()
    inherited = load(["overlay.yaml"], bases=["torch-2.15"]).inherited
    assert [base.name for base in inherited] == ["middle.yaml", "base.yaml"]


def test_every_registration_has_its_origin() -> None:
    state = load_state(["overlay.yaml"])
    kernels = state.dispatcher.operator(OperatorName("demo::op")).kernels
    assert state.origin(kernels["CPU"][0]) == Origin(None, (OVERLAY, MIDDLE))
    assert state.origin(kernels["CUDA"][0]) == OWN
    trunc = state.dispatcher.operator(OperatorName("aten::trunc")).kernels
    assert state.origin(trunc["CPU"][0]) == Origin("torch-2.15", (OVERLAY, MIDDLE, BASE))
    assert state.origin(trunc["PrivateUse2"][0]) == OWN
    assert state.operator_origin(OperatorName("demo::op")) == Origin(None, (OVERLAY, MIDDLE))
    assert state.operator_origin(OperatorName("demo::lost")) == OWN, "nothing defines it"
    for name in ("aten::trunc", "aten::relu"):
        assert state.operator_origin(OperatorName(name)) == Origin("torch-2.15", (OVERLAY, MIDDLE, BASE))
    assert state.origin(state.dispatcher.fallbacks["PrivateUse1"]) == Origin(None, (OVERLAY, MIDDLE))
    assert state.origin(state.dispatcher.fallbacks["AutogradCPU"]) == OWN


def test_texts_say_it_below() -> None:
    text = call("register", "overlay.yaml", "--op", "demo::op").out
    assert text.endswith(
        "CPU   op_cpu   active  1 slot  base.yaml:5:21\n"
        "CUDA  op_cuda  active  1 slot  overlay.yaml:6:22\n"
        "\n"
        "Backend fallbacks, for all operators\n"
        "\n"
        "Key          Kernel  Declared at\n"
        "PrivateUse1  mine    base.yaml:8:26\n"
        "\n"
        "base.yaml: through extends of middle.yaml:2:11, extends of overlay.yaml:3:5\n"
        "\n"
        "1 operator, 2 kernels, 38 core fallbacks of torch-2.15\n"
    )
    text = call("table", "overlay.yaml", "--op", "aten::trunc", "--key", "CPU", "--key", "PrivateUse2").out
    lines = [line.split() for line in text.splitlines()]
    assert next(line[-2:] for line in lines if line[:1] == ["CPU"]) == ["kernel", "torch-2.15"]
    assert text.endswith(
        "torch-2.15: through extends of base.yaml:2:11, extends of middle.yaml:2:11, extends of overlay.yaml:3:5\n"
    )
    assert "through" not in call("table", "base.yaml", "--op", "demo::op", "--key", "CPU").out


def test_a_finding_names_the_entries_that_led_to_its_file() -> None:
    result = call("check-invariants", "overlay.yaml", "--op", "demo::lost", "--format", "json")
    (finding,) = json.loads(result.out)["findings"]
    assert [(row["message"], row["declared_at"]["file"], row["declared_at"]["line"]) for row in finding["related"]] == [
        ("this file is extended here", "middle.yaml", 2),
        ("and that file is extended here", "overlay.yaml", 3),
    ]
