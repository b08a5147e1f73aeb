"""Loss of the gradient in a call, by the kernels that run in it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.engine.call.thread import Contexts
from dispatch_cli.engine.call.trace import Call, Does, EndKind, Hop
from dispatch_cli.engine.table.table import is_core_fallback
from dispatch_cli.model.kernel import Kernel, WrapKind
from dispatch_cli.model.schema.model import FunctionSchema, takes_tensors
from dispatch_cli.model.universe import AUTOGRAD, Universe


class GradientLoss(Enum):
    """Fate of the gradient in a call with tensors that require it, where no autograd kernel gives one."""

    RAISES = "backward-raises"
    """PyTorch's kernel for operators without a backward ran: the backward pass raises."""
    UNSEEN = "writes-unseen"
    """The same, and the operator returns no tensor: autograd does not see what it writes, and nothing raises."""
    WARNS = "backward-warns"
    """Autograd's fallback ran: the backward pass warns, and gives only what operators inside have."""
    DROPPED = "dropped"
    """Autograd was passed over: the result requires no gradient, without a warning, but for what operators inside
    record."""


class LostGradient(NamedTuple):
    """A loss. key: the autograd key that has no kernel with a backward."""

    key: str
    loss: GradientLoss


def lost_in_call(call: Call, universe: Universe, schema: FunctionSchema | None) -> LostGradient | None:
    """Loss of the gradient in a simulated call; None where nothing is lost, and where the call raises."""
    records = call.end.kind is not EndKind.ERROR and records_gradients(call, universe)
    lost = lost_gradient(call.hops, universe) if records else None
    if (
        lost is None
        or lost.loss is not GradientLoss.RAISES
        or schema is None
        or any(map(takes_tensors, schema.returns))
    ):
        return lost
    return lost._replace(loss=GradientLoss.UNSEEN)


def records_gradients(call: Call, universe: Universe) -> bool:
    """True if a tensor of a call requires a gradient, and grad mode is on."""
    needed = any(tensor.requires_grad for tensor in call.tensors)
    return needed and Contexts(TensorMaker(universe)).enter_all(call.contexts).gradients


def lost_gradient(hops: Sequence[Hop], universe: Universe) -> LostGradient | None:
    """Loss of the gradient where a tensor requires one, grad mode is on, and what runs gives none.

    hops: the kernels of the call, which does not raise. None where nothing is lost, and where a fallback that is not
    PyTorch's own, a Python handler or a call of the operator anew decides. Where the thread excludes autograd, as below
    an autograd kernel, nothing is said: whoever excludes it sees to that.
    """
    selection = hops[0].selection if hops else None
    if selection is None:
        return None
    keys = universe.covered_by(AUTOGRAD)
    at = [hop for hop in hops if hop.slot in keys]
    raises = next((hop for hop in at if hop.python is None and has_no_backward(hop.live.kernel)), None)
    if raises is not None:
        return LostGradient(raises.slot, GradientLoss.RAISES)
    if any(hop.python is not None or not is_core_fallback(universe, hop.live) for hop in at):
        return None
    if any(hop.does in (Does.HANDS_OVER, Does.CALLS_ANEW) for hop in hops):
        return None  # what it hands the call to decides
    if at:
        return LostGradient(at[0].slot, GradientLoss.WARNS)
    skipped = next((key for key in selection.skipped if key in keys), None)
    return None if skipped is None else LostGradient(skipped, GradientLoss.DROPPED)


def has_no_backward(kernel: Kernel | None) -> bool:
    """True if it is an autograd kernel of PyTorch's for operators without a backward, whose backward raises.

    ``torch.library.custom_op`` makes one; C++ registers ``torch::autograd::autogradNotImplementedFallback()``.
    """
    wraps = None if kernel is None else kernel.wraps
    if wraps is None:
        return kernel is not None and "autogradNotImplementedFallback" in kernel.debug
    return wraps.kind is WrapKind.AUTOGRAD and wraps.function is wraps.place is None
