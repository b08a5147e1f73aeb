"""What is worth knowing of a call, by what its kernels are and do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from dispatch_cli.engine.call.kernels.entry import is_core_fallback
from dispatch_cli.engine.call.kernels.functorch import BATCHED, BATCHED_NESTED
from dispatch_cli.engine.call.simulator import runs_python
from dispatch_cli.engine.call.trace import Does, Hop
from dispatch_cli.engine.keys.autocast import autocast_backend
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.kernel import Kernel, WrapKind
from dispatch_cli.model.universe import AUTOGRAD, Universe
from dispatch_cli.trace.explained import Explained


class CallFact(Enum):
    """A fact about a call; the value is the word that the command line has for it."""

    FALLBACK = "fallback"
    """A backend fallback ran, or that of vmap, in the place of a kernel of the operator."""
    DECOMPOSES = "decomposes"
    """A kernel of it is written in other operators."""
    NO_GRADIENT = "no-gradient"
    """A tensor wanted gradients, and the operator has no autograd kernel, or one without a backward."""
    STALE = "stale"
    """A slot held another kernel than its registrations determine."""
    PYTHON = "python"
    """Python ran: a mode, a tensor subclass, or a kernel that is a Python function."""
    AUTOCAST = "autocast"
    """Autocast cast tensors."""
    RAISED = "raised"
    """It raised."""


class FallbackKind(Enum):
    """A backend fallback that stands in for a kernel of the operator, by what it does.

    Most of PyTorch's own fallbacks stand in for none: they are how a feature works for every operator, as conjugate
    views do. A fallthrough is no kernel at all.
    """

    BACKEND = "backend"
    """Somebody else's, for a backend: it often computes on the CPU."""
    VMAP = "vmap"
    """That of vmap: it calls the operator for each element."""
    AUTOGRAD = "autograd-not-implemented"
    """That of autograd: the operator has no autograd kernel."""


class GradientLoss(Enum):
    """What becomes of the gradient in a call with tensors that require it, where no autograd kernel gives one."""

    RAISES = "backward-raises"
    """``torch.library.custom_op`` made the operator, without a backward: the backward pass raises."""
    WARNS = "backward-warns"
    """Autograd's fallback ran: the backward pass warns, and gives only what operators inside have."""
    DROPPED = "dropped"
    """Autograd was passed over: the result requires no gradient, without a warning."""


def facts_of(explained: Explained, universe: Universe, returned: bool = True) -> tuple[CallFact, ...]:
    """The facts about a call that follow from its kernels: all but AUTOCAST and RAISED. returned: it did not raise.

    What the operator does that a kernel calls again is about that call.
    """
    found = []
    hops = explained.ran(returned)
    if any(kind is not FallbackKind.AUTOGRAD for _, kind in fallbacks(hops, universe)):
        found.append(CallFact.FALLBACK)
    if any(hop.does is Does.DECOMPOSES for hop in hops):
        found.append(CallFact.DECOMPOSES)
    if returned and gradient_loss(explained, universe) is not None:
        found.append(CallFact.NO_GRADIENT)
    if any(is_stale(hop) for hop in hops):
        found.append(CallFact.STALE)
    if any(hop.does is Does.HANDS_OVER or runs_python(hop) for hop in hops):
        found.append(CallFact.PYTHON)
    return tuple(found)


def is_stale(hop: Hop) -> bool:
    """Whether its slot held another kernel than the registrations determine, and it is known which."""
    return hop.canonical is not None and hop.live.rule is not Rule.NOT_KNOWN


def fallbacks(hops: Iterable[Hop], universe: Universe) -> Iterator[tuple[Hop, FallbackKind]]:
    """Those kernels that are backend fallbacks, and take the place of a kernel of the operator."""
    for hop in hops:
        if hop.live.rule is not Rule.FALLBACK or hop.python is not None:
            continue
        if hop.slot in autograd_keys(universe):
            yield hop, FallbackKind.AUTOGRAD
        elif hop.slot in (BATCHED, BATCHED_NESTED):
            yield hop, FallbackKind.VMAP
        elif not is_core_fallback(universe, hop.live):
            yield hop, FallbackKind.BACKEND


def gradient_loss(explained: Explained, universe: Universe) -> GradientLoss | None:
    """What becomes of the gradient, where a tensor wants one and what ran gives none; None where nothing is lost.

    Where the thread excludes autograd, as below an autograd kernel, nothing is said: whoever excludes it sees to that.
    """
    selection = explained.selection
    if not explained.wants_gradient or selection is None:
        return None
    keys = autograd_keys(universe)
    at = [hop for hop in explained.hops if hop.slot in keys]
    if any(hop.python is None and _has_no_backward(hop.live.kernel) for hop in at):
        return GradientLoss.RAISES
    if any(hop.live.rule is not Rule.FALLBACK or hop.python is not None for hop in at):
        return None
    if any(hop.does in (Does.HANDS_OVER, Does.CALLS_ANEW) for hop in explained.hops):
        return None  # what it hands the call to decides
    if at:
        return GradientLoss.WARNS
    return GradientLoss.DROPPED if any(key in keys for key in selection.skipped) else None


def _has_no_backward(kernel: Kernel | None) -> bool:
    """Whether it is the autograd kernel that ``torch.library.custom_op`` makes of an operator without a backward."""
    wraps = None if kernel is None else kernel.wraps
    return wraps is not None and wraps.kind is WrapKind.AUTOGRAD and wraps.function is wraps.place is None


def autograd_keys(universe: Universe) -> tuple[str, ...]:
    """The keys at which autograd kernels are."""
    return universe.aliases.get(AUTOGRAD, ())


def autocast_hop(hops: Iterable[Hop], universe: Universe) -> Hop | None:
    """The autocast kernel among those; None where there is none."""
    return next((hop for hop in hops if autocast_backend(universe, hop.slot) is not None), None)
