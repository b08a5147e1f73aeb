"""Batching rules that no call reaches."""

from __future__ import annotations

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.checks.check import Severity
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import EndKind
from dispatch_cli.engine.keys.autograd import autograd_key_of
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from tests.checks.helpers import StateOf, findings

ID = "unreachable-batching-rule"


COMPOSITE = "CompositeImplicitAutograd: math, FuncTorchBatched: batched"


@pytest.mark.parametrize(
    ("dispatch", "keys", "severity"),
    [
        (COMPOSITE, "AutogradCPU … AutogradMeta (15 keys)", Severity.WARNING),
        (f"{COMPOSITE}, Autograd: autograd", "AutogradCPU … AutogradMeta (15 keys)", Severity.WARNING),
        (f"{COMPOSITE}, CPU: cpu", "AutogradCUDA … AutogradMeta (14 keys)", Severity.INFO),
        (f"{COMPOSITE}, AutogradCPU: autograd", "AutogradCUDA … AutogradMeta (14 keys)", Severity.INFO),
    ],
)
def test_autograd_runs_the_composite_kernel_first(
    dispatch: str, keys: str, severity: Severity, state_of: StateOf
) -> None:
    """As a simulated call under ``vmap(grad(f))`` says too; live PyTorch is asked in `test_live_call_claims`."""
    state = state_of(f"dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch: {{{dispatch}}}\n")
    (finding,) = findings(state, select=ID)
    assert (finding.severity, finding.key, finding.subject) == (severity, "FuncTorchBatched", "composite")
    assert finding.message == (
        "demo::op: under vmap(grad(f)) the batching rule batched at FuncTorchBatched is not reached: the "
        f"CompositeImplicitAutograd kernel runs before it, at {keys}"
    )
    name, contexts = OperatorName("demo::op"), (Context.parse("vmap"), Context.parse("grad"))
    named = dict(finding.details)["autograd keys"].split(", ")
    for device, key in state.dispatcher.universe.devices.items():
        call = simulate(state, name, (TensorSpec.parse(f"{device} batched grad-wrapped"),), contexts)
        assert (call.end.kind is EndKind.DECOMPOSITION and call.hops[-1].slot in named) == (
            autograd_key_of(state.dispatcher.universe, key) in named
        ), device


BY_CHANCE = (
    "demo::early: the batching rule early_batched at FuncTorchBatchedDecomposition is reached only by chance: a "
    "registration at FuncTorchBatchedDecomposition recomputes no slot in torch-2.4, and the rule is used only because "
    "a later registration recomputed FuncTorchBatched"
)


@pytest.mark.parametrize(("universe", "said"), [("torch-2.4", [BY_CHANCE]), ("torch-2.15", [])])
def test_a_registration_that_recomputes_nothing(universe: str, said: list[str]) -> None:
    state = load_state(["examples/scenarios/07_stale_batching_rule.yaml"], universe=universe)
    results = findings(state)
    assert [finding.message for finding in results if finding.check == ID] == said
    stale = {finding.operator for finding in results if finding.check == "stale-live-table"}
    assert stale == ({"demo::late"} if said else set()), "the one that is not in use is stale, which says enough"


@pytest.mark.parametrize("base", ["torch-2.15", "torch-2.4"])
def test_what_pytorch_has(base: str) -> None:
    state = load_state([], bases=[base])
    reported = [finding for finding in findings(state, *state.dispatcher.names()) if finding.check == ID]
    names = ("is_nonzero", "item", "linalg_slogdet", "masked_select_backward", "one_hot", "silu_backward", "where")
    composite = {(Severity.INFO, f"aten::{name}", "composite") for name in names}
    without_tensors = (Severity.INFO, "aten::result_type.Scalar_Scalar", "")
    assert {(finding.severity, finding.operator, finding.subject) for finding in reported} == {
        *composite,
        without_tensors,
    }
    assert len(reported) == 8
