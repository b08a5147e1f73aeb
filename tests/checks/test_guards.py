"""Guards: what each kind of them says when it does not hold, whole, and that it is silent when it does."""

from __future__ import annotations

from pathlib import Path

from dispatch_cli.answers.findings.guards.recorded import recorded_guards
from dispatch_cli.api import load_state
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

GUARDED = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CompositeImplicitAutograd: op_math}
guards:
"""


def place(line: int, column: int) -> Span:
    return Span("x.yaml", line, column)


def test_guards_about_other_operators_than_those_asked_for(state_of: StateOf) -> None:
    text = GUARDED.replace("guards:\n", "  - func: demo::fine(Tensor x) -> Tensor\nguards:\n")
    state = state_of(f"{text}  - {{op: 'demo::op', key: CPU, rule: math}}\n")
    assert "guard" not in {finding.check for finding in findings(state, "demo::fine")}
    assert "guard" in {finding.check for finding in findings(state, "demo::op")}


def test_a_guard_says_through_what_it_came(state_of: StateOf) -> None:
    state_of("dispatch: 1\n")
    guard = "dispatch: 1\nguards:\n  - {op: demo::op, key: CPU, rule: math}\n"
    Path("guards.yaml").write_text(guard, encoding="utf-8")
    text = GUARDED.replace("guards:\n", "").replace("operators:", "extends: [./guards.yaml]\noperators:")
    (finding,) = findings(state_of(text), select="DC9")
    assert finding.span == Span("./guards.yaml", 3, 25)
    assert finding.related[-1] == Related("the guard is loaded through this entry", place(2, 11))


def test_guards_over_a_base() -> None:
    state = load_state([], bases=["torch-2.15"])
    assert findings(state, "aten::relu", select="DC9") == ()


def test_a_file_of_guards_over_a_base(tmp_path: Path) -> None:
    file = tmp_path / "g.yaml"
    file.write_text(
        "dispatch: 1\nguards:\n  - {op: 'aten::add.*', key: 'CPU, CUDA', kernel: '*'}\n"
        "  - {op: aten::relu, key: CPU, rule: math}\n",
        encoding="utf-8",
    )
    state = load_state([], bases=["torch-2.15"], guards=[str(file)])
    results = findings(state, select="DC9")
    assert [(finding.operator, finding.key) for finding in results] == [("aten::relu", "CPU")]
    assert state.dispatcher.is_untouched(next(name for name in state.dispatcher if str(name) == "aten::abs"))


def test_a_stale_slot_holds_what_calls_find(state_of: StateOf) -> None:
    """PyTorch leaves the autograd slots as they were when CompositeExplicitAutograd comes last."""
    state = state_of(
        """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: op_math, CompositeExplicitAutograd: op_default}
guards:
  - {op: "demo::op", key: AutogradCPU, rule: fallback}
  - {op: "demo::op", key: AutogradCUDA, rule: math, kernel: op_math}
  - {op: "demo::op", key: CPU, rule: default}
"""
    )
    (finding,) = findings(state, select="guard")
    assert dict(finding.details) == {"wanted": "rule fallback", "found": "op_math by rule math"}
    recorded = [*recorded_guards(state, [OperatorName.parse("demo::op")], frozenset(("AutogradCPU",)))]
    assert [guard.wants[0].texts for guard in recorded] == [("math",)]
