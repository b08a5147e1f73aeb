"""Promises of support: what breaks one is said once for each reason, at its place, and what helps takes it away."""

from __future__ import annotations

import json
import random

import pytest

from dispatch_cli.checks.check import Finding
from dispatch_cli.model.problem import InputError
from dispatch_cli.model.support import PROMISED
from dispatch_cli.render.data import data_of
from tests.answers.random_declarations import changed, kernel_at, keys, schema
from tests.checks.helpers import StateOf, findings

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
