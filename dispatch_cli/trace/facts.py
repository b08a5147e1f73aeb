"""Facts about a call that are worth knowing, by its kernels and what they do."""

from __future__ import annotations

from enum import Enum

from dispatch_cli import bases
from dispatch_cli.engine.call.chain import runs_python
from dispatch_cli.engine.call.gradient import LostGradient, lost_gradient
from dispatch_cli.engine.call.trace import Does, Hop
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import is_core_fallback
from dispatch_cli.model.calls.call import CallEnd
from dispatch_cli.model.universe import AUTOGRAD, BATCHED_KEYS, Universe
from dispatch_cli.trace.explained import Explained


class CallFact(Enum):
    """A fact about a call; the value is the word that the command line has for it."""

    FALLBACK = "fallback"
    """A backend fallback ran, or that of vmap, in the place of a kernel of the operator."""
    DECOMPOSES = "decomposes"
    """A kernel of it is written in other operators."""
    NO_GRADIENT = "no-gradient"
    """A tensor wanted gradients, and the operator has no autograd kernel, or one without a backward. Not those that
    PyTorch has for inference only."""
    STALE = "stale"
    """A slot held another kernel than its registrations determine."""
    PYTHON = "python"
    """Python ran: a mode, a tensor subclass, or a kernel that is a Python function."""
    RAISED = "raised"
    """The call raised."""


def facts_of(explained: Explained, universe: Universe) -> tuple[CallFact, ...]:
    """The facts about a call that follow from its kernels: all but RAISED.

    What the operator does that a kernel calls again is about that call.
    """
    facts = []
    hops = explained.hops
    if any(is_fallback(hop, universe) for hop in hops):
        facts.append(CallFact.FALLBACK)
    if any(hop.does is Does.DECOMPOSES for hop in hops):
        facts.append(CallFact.DECOMPOSES)
    if gradient_loss(explained, universe) is not None:
        facts.append(CallFact.NO_GRADIENT)
    if any(is_stale(hop) for hop in hops):
        facts.append(CallFact.STALE)
    if any(hop.does is Does.HANDS_OVER or runs_python(hop) for hop in hops):
        facts.append(CallFact.PYTHON)
    return tuple(facts)


def is_stale(hop: Hop) -> bool:
    """True if its slot held another kernel than the registrations determine, and it is known which."""
    return hop.canonical is not None and hop.live.rule is not Rule.NOT_KNOWN


def is_fallback(hop: Hop, universe: Universe) -> bool:
    """True for a backend fallback that takes the place of a kernel of the operator: vmap's, or one not PyTorch's own.

    Most of PyTorch's own take no kernel's place: they are how a feature works for every operator, as conjugate views
    do. That of autograd means that the operator has no autograd kernel.
    """
    if hop.live.rule is not Rule.FALLBACK or hop.python is not None or hop.slot in universe.covered_by(AUTOGRAD):
        return False
    return hop.slot in BATCHED_KEYS or not is_core_fallback(universe, hop.live)


def gradient_loss(explained: Explained, universe: Universe) -> LostGradient | None:
    """Loss of a gradient that a tensor wants and that no kernel that ran gives.

    None where nothing is lost, and of a call that did not return. Operators that PyTorch has for inference only are
    left out: tensors that require gradients do not mean there that somebody wants them, and nobody is to write a
    backward.
    """
    if not explained.wants_gradient or explained.ended is not CallEnd.RETURNED:
        return None
    lost = lost_gradient(explained.hops, universe)
    return None if lost is None or is_for_inference(str(explained.operator), universe) else lost


def is_for_inference(operator: str, universe: Universe) -> bool:
    """True for an operator of PyTorch's own that gives a gradient at no key, such as a quantized one."""
    known = bases.names()
    source = bases.load(universe.name if universe.name in known else known[0])
    try:
        kernels = source.header(operator).kernels
    except KeyError:
        return False  # it is the user's
    autograd = {*universe.covered_by(AUTOGRAD)}
    gives = autograd | {alias for alias, keys in universe.aliases.items() if not autograd.isdisjoint(keys)}
    return not any(key in gives and not falls_through for key, (_, falls_through) in kernels.items())
