"""What is worth knowing of a call, by what its kernels are and do."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from dispatch_cli.engine.call.simulator import runs_python
from dispatch_cli.engine.call.trace import Does, EndKind, Hop
from dispatch_cli.engine.keys.autocast import autocast_backend
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.universe import AUTOGRAD, BACK, FRONT, PRE_DISPATCH, PYTHON, PYTHON_DISPATCHER, Universe
from dispatch_cli.trace.explained import Explained

_HANDING_ON = frozenset({FRONT, BACK, PYTHON, PYTHON_DISPATCHER, PRE_DISPATCH, "PythonTLSSnapshot"})
"""Keys at which a backend fallback is the mechanism itself, for every operator: it hands the call on."""


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


def facts_of(explained: Explained, universe: Universe, is_top: bool) -> tuple[CallFact, ...]:
    """The facts about a call. is_top: no other call made it."""
    found = []
    if any(True for _ in fallbacks(explained)):
        found.append(CallFact.FALLBACK)
    if explained.end is not None and explained.end.kind is EndKind.DECOMPOSITION:
        found.append(CallFact.DECOMPOSES)
    if lacks_gradient(explained, universe, is_top):
        found.append(CallFact.NO_GRADIENT)
    if any(hop.canonical is not None for hop in explained.hops):
        found.append(CallFact.STALE)
    if any(hop.does is Does.HANDS_OVER or runs_python(hop) for hop in explained.hops):
        found.append(CallFact.PYTHON)
    return tuple(found)


def fallbacks(explained: Explained) -> Iterator[Hop]:
    """The kernels of a call that are backend fallbacks, and take the place of a kernel of the operator."""
    for hop in explained.hops:
        if hop.live.rule is Rule.FALLBACK and hop.slot not in _HANDING_ON and hop.python is None:
            yield hop


def lacks_gradient(explained: Explained, universe: Universe, is_top: bool) -> bool:
    """Whether a tensor wanted gradients, and what ran gives none.

    Of calls that others make below autograd, nothing is said: what made them has its own.
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
    if at or any(key in keys for key in selection.skipped):
        return True
    excluded = any(key in keys and selection.excluded.has(universe.runtime_parts[key][0]) for key in selection.keyset)
    return excluded and is_top


def autograd_keys(universe: Universe) -> tuple[str, ...]:
    """The keys at which autograd kernels are."""
    return universe.aliases.get(AUTOGRAD, ())


def autocast_hop(explained: Explained, universe: Universe) -> Hop | None:
    """The autocast kernel that ran; None where none did."""
    return next((hop for hop in explained.hops if autocast_backend(universe, hop.slot) is not None), None)
