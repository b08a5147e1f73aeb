"""What is worth knowing of a call, by what its kernels are and do."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from dispatch_cli.engine.call.kernels.entry import is_core_fallback
from dispatch_cli.engine.call.kernels.functorch import BATCHED, BATCHED_NESTED
from dispatch_cli.engine.call.simulator import runs_python
from dispatch_cli.engine.call.trace import Does, EndKind, Hop
from dispatch_cli.engine.keys.autocast import autocast_backend
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.universe import AUTOGRAD, Universe
from dispatch_cli.trace.explained import Explained


class CallFact(Enum):
    """A fact about a call; the value is the word that the command line has for it."""

    FALLBACK = "fallback"
    """A backend fallback ran, in the place of a kernel of the operator."""
    DECOMPOSES = "decomposes"
    """It ended in a kernel that is written in other operators."""
    NO_GRADIENT = "no-gradient"
    """A tensor wanted gradients, and no autograd kernel ran."""
    STALE = "stale"
    """A slot held another kernel than its registrations determine."""
    PYTHON = "python"
    """Python ran: a mode, a tensor subclass, or a kernel that is a Python function."""


def facts_of(explained: Explained, universe: Universe) -> tuple[CallFact, ...]:
    """The facts about a call."""
    found = []
    if any(True for _ in fallbacks(explained, universe)):
        found.append(CallFact.FALLBACK)
    if explained.end is not None and explained.end.kind is EndKind.DECOMPOSITION:
        found.append(CallFact.DECOMPOSES)
    if lacks_gradient(explained, universe):
        found.append(CallFact.NO_GRADIENT)
    if any(hop.canonical is not None for hop in explained.hops):
        found.append(CallFact.STALE)
    if any(hop.does is Does.HANDS_OVER or runs_python(hop) for hop in explained.hops):
        found.append(CallFact.PYTHON)
    return tuple(found)


def fallbacks(explained: Explained, universe: Universe) -> Iterator[Hop]:
    """The kernels of a call that are backend fallbacks, and take the place of a kernel of the operator.

    Most of PyTorch's own are none: they are how a feature works for every operator, as conjugate views do. Those of
    autograd, which give no gradient, and of vmap, which loop, stand in for a kernel.
    """
    standing_in = (*autograd_keys(universe), BATCHED, BATCHED_NESTED)
    for hop in explained.hops:
        is_fallback = hop.live.rule is Rule.FALLBACK and hop.python is None
        if is_fallback and (hop.slot in standing_in or not is_core_fallback(universe, hop.live)):
            yield hop


def lacks_gradient(explained: Explained, universe: Universe) -> bool:
    """Whether a tensor wanted gradients, and what ran gives none.

    Where the thread excludes autograd, as below an autograd kernel, nothing is said: whoever excludes it sees to that.
    """
    selection = explained.selection
    if not explained.wants_gradient or selection is None or explained.call is None:
        return False
    keys = autograd_keys(universe)
    at = [hop for hop in explained.hops if hop.slot in keys]
    if any(hop.live.rule is not Rule.FALLBACK or hop.python is not None for hop in at):
        return False
    if any(hop.does in (Does.HANDS_OVER, Does.CALLS_ANEW) for hop in explained.hops):
        return False  # what it hands the call to decides
    return bool(at) or any(key in keys for key in selection.skipped)


def autograd_keys(universe: Universe) -> tuple[str, ...]:
    """The keys at which autograd kernels are."""
    return universe.aliases.get(AUTOGRAD, ())


def autocast_hop(explained: Explained, universe: Universe) -> Hop | None:
    """The autocast kernel that ran; None where none did."""
    return next((hop for hop in explained.hops if autocast_backend(universe, hop.slot) is not None), None)
