"""Lost gradients of simulated calls, judged by calls in a live PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.engine.call.gradient import GradientLoss, lost_in_call
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from tests.capture.support import torch_python
from tests.engine.live_cases import answers_to

KERNEL, FALLTHROUGH = "kernel", "fallthrough"
OPERATORS = {
    "alone": {"CPU": KERNEL},
    "default": {"CompositeExplicitAutograd": KERNEL},
    "sparse": {"SparseCPU": KERNEL},
    "skipped": {"CPU": KERNEL, "AutogradCPU": FALLTHROUGH},
    "skipped_by_alias": {"CPU": KERNEL, "Autograd": FALLTHROUGH},
}
CALLS = [
    ("alone", "strided", True, "warns"),
    ("alone", "strided", False, "no grad_fn"),
    ("default", "strided", True, "warns"),
    ("sparse", "sparse", True, "warns"),
    ("skipped", "strided", True, "no grad_fn"),
    ("skipped_by_alias", "strided", True, "no grad_fn"),
    ("made", "strided", True, "raises"),
]
LOST = {"warns": GradientLoss.WARNS, "no grad_fn": GradientLoss.DROPPED, "raises": GradientLoss.RAISES}


@pytest.mark.live
def test_what_pytorch_does() -> None:
    asked = {"operators": OPERATORS, "calls": [call[:3] for call in CALLS]}
    assert answers_to("gradients")(torch_python(), asked) == [seen for *_, seen in CALLS]


@pytest.mark.parametrize(("name", "layout", "grad", "seen"), CALLS)
def test_what_is_said(name: str, layout: str, grad: bool, seen: str, tmp_path: Path) -> None:
    file = tmp_path / "lost.yaml"
    text = "dispatch: 1\nextends: [torch-2.13]\noperators:\n"
    text += "  - {custom_op: 'lost::made(Tensor x) -> Tensor', kernel: k}\n"
    for operator, kernels in OPERATORS.items():
        held = ", ".join(f"{key}: {'fallthrough' if kind == FALLTHROUGH else 'k'}" for key, kind in kernels.items())
        text += f"  - func: lost::{operator}(Tensor x) -> Tensor\n    dispatch: {{{held}}}\n"
    file.write_text(text, encoding="utf-8")
    state = load_state([str(file)])
    tensor = f"cpu {'sparse ' if layout == 'sparse' else ''}requires_grad"
    contexts = () if grad else (Context.parse("no_grad"),)
    call = simulate(state, OperatorName.parse(f"lost::{name}"), (TensorSpec.parse(tensor),), contexts)
    lost = lost_in_call(call, state.dispatcher.universe, None)
    assert (None if lost is None else lost.loss) == (LOST[seen] if grad else None)
    assert lost is None or lost.key == "AutogradCPU"
    without = simulate(state, OperatorName.parse(f"lost::{name}"), (TensorSpec.parse(tensor.split(" requires")[0]),))
    assert lost_in_call(without, state.dispatcher.universe, None) is None


def test_a_kernel_with_a_derivative_loses_nothing() -> None:
    state = load_state((), bases=("torch-2.13",))
    for name in ("aten::mul.Tensor", "aten::linear"):
        tensors = tuple(TensorSpec.parse("cpu requires_grad") for _ in range(2))
        assert lost_in_call(simulate(state, OperatorName.parse(name), tensors), state.dispatcher.universe, None) is None


def test_what_only_writes_raises_nothing(tmp_path: Path) -> None:
    """PyTorch 2.13: ``w(y); y.sum().backward()`` gives the gradient of before the call, without a warning."""
    file = tmp_path / "writes.yaml"
    file.write_text(
        "dispatch: 1\nextends: [torch-2.13]\noperators:\n  - {custom_op: 't::w(Tensor(a!) x) -> ()', kernel: k}\n"
    )
    state, name = load_state([str(file)]), OperatorName.parse("t::w")
    definition = state.dispatcher.operator(name).definition
    call = simulate(state, name, (TensorSpec.parse("cpu requires_grad"),))
    lost = lost_in_call(call, state.dispatcher.universe, definition and definition.known_schema)
    assert lost is not None and lost.loss is GradientLoss.UNSEEN
