"""Cases of checks, in files and as declarations here: findings and their places."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from dispatch_cli import universes
from dispatch_cli.answers.findings.guards.recorded import recorded_guards
from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.checks.check import Finding
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import EndKind
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.calls.support import PROMISED
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError, Related
from dispatch_cli.model.span import Span
from dispatch_cli.render.data import data_of
from tests.answers.random_declarations import changed, kernel_at, keys, schema
from tests.checks.cases import FOLDER, documents, rendered
from tests.checks.helpers import StateOf, findings


@pytest.mark.parametrize(
    ("check", "text"), [pytest.param(check, text, id=f"{check}-{number}") for check, number, text in documents()]
)
def test_a_case(check: str, text: str) -> None:
    assert rendered(check, text) == text


def test_each_file_is_about_a_check() -> None:
    assert {path.stem for path in FOLDER.iterdir()} <= {check.id for check in CHECKS}


AUTOCAST = "no-autocast-fallback"
HEAD = "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch: "


@pytest.mark.parametrize("universe", ["torch-2.15", "torch-2.4"])
def test_it_speaks_of_the_backends_whose_calls_fail(universe: str, state_of: StateOf) -> None:
    """An operator with a kernel at one backend, called under that device's autocast."""
    devices = universes.load(universe).devices
    for device, key in devices.items():
        if f"Autocast{key}" not in universes.load(universe).slot:
            continue
        state = state_of(f"universe: {universe}\n{HEAD}{{{key}: k, Autograd: a}}\n")
        call = simulate(
            state, OperatorName("demo::op"), (TensorSpec.parse(device),), (Context.parse(f"autocast {device}"),)
        )
        fails = call.end.kind is EndKind.ERROR
        results = findings(state, select=AUTOCAST)
        assert [finding.key for finding in results] == ([f"Autocast{key}"] if fails else []), device
        assert fails == (device in ("privateuseone", "xla", "hpu", "ipu"))


GUARDED = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CompositeImplicitAutograd: op_math}
guards:
"""


def place(line: int, column: int) -> Span:
    return Span("x.yaml", line, column)


def test_a_guard_says_through_what_it_came(state_of: StateOf) -> None:
    state_of("dispatch: 1\n")
    guard = "dispatch: 1\nguards:\n  - {op: demo::op, key: CPU, rule: math}\n"
    Path("guards.yaml").write_text(guard, encoding="utf-8")
    text = GUARDED.replace("guards:\n", "").replace("operators:", "extends: [./guards.yaml]\noperators:")
    (finding,) = findings(state_of(text), select="DC9")
    assert finding.span == Span("./guards.yaml", 3, 25)
    assert finding.related[-1] == Related("the guard is loaded through this entry", place(2, 11))


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


# Promises of support.


LIBRARY = """\
dispatch: 1
operators:
  - func: demo::plain(Tensor x) -> Tensor
    dispatch: {CPU: plain_cpu}
  - func: demo::silent(Tensor x) -> ()
    dispatch: {CPU: silent_cpu, Meta: silent_meta}
  - func: demo::math(Tensor x) -> Tensor
    dispatch: {CompositeImplicitAutograd: math}
support:
"""


def broken(state_of: StateOf, *promises: str) -> tuple[Finding, ...]:
    """Findings about these promises."""
    text = "".join(f"  - {{{promise}}}\n" for promise in promises)
    return findings(state_of(f"{LIBRARY}{text}"), select="broken-promise")


@pytest.mark.parametrize("seed", range(8))
def test_a_fix_helps(seed: int, state_of: StateOf) -> None:
    """After the change that a finding names, the cells are no longer broken for this reason."""
    dice = random.Random(seed)
    operator = {"func": f"demo::{schema(dice)}", "dispatch": {key: kernel_at(dice, key) for key in keys(dice)}}
    promise = {"op": "demo::*", "backends": ["cpu", "cuda"], "contexts": [context.value for context in PROMISED]}
    document = {"dispatch": 1, "universe": "torch-2.15", "operators": [operator], "support": [promise]}
    for finding in findings(state_of(json.dumps(document)), select="broken-promise"):
        if finding.fix:
            after = state_of(json.dumps(changed(document, data_of(finding.fix))))
            assert finding.subject not in {finding.subject for finding in findings(after, select="broken-promise")}


def test_too_many_cells_are_refused(state_of: StateOf) -> None:
    state = state_of(
        "dispatch: 1\nextends: torch-2.15\nsupport:\n  - op: '*'\n    contexts: [eager, fake, compile, train, vmap]\n"
        "    backends: [cpu, cuda, xpu, hpu, mps, xla, meta, lazy, mtia]\n"
    )
    with pytest.raises(InputError) as refused:
        findings(state, select="broken-promise")
    assert refused.value.problems[0].message.startswith("the promises up to here need more comparisons")
