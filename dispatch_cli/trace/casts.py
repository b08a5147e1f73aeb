"""The casts of autocast: the calls that its kernels make before they call their operator again."""

from __future__ import annotations

from dispatch_cli.model.universe import Universe
from dispatch_cli.trace.calls import NONE
from dispatch_cli.trace.explained import Explainer
from dispatch_cli.trace.facts import autocast_hop


def casts_of(explainer: Explainer, universe: Universe) -> dict[int, int]:
    """Number of calls that each autocast kernel made before it called its operator again: the casts of its tensors."""
    recording = explainer.recording
    calls = recording.calls
    autocast = [False] * len(recording.signatures)
    for signature in {*calls.signature}:
        autocast[signature] = autocast_hop(explainer.of_signature(signature).own_hops, universe) is not None
    counts: dict[int, int] = {}
    done: set[int] = set()
    for call, parent in enumerate(calls.parent):
        if parent == NONE or not autocast[calls.signature[parent]] or parent in done:
            continue
        operators = (recording.signatures[calls.signature[number]]["operator"] for number in (call, parent))
        if len({*operators}) == 1:
            done.add(parent)
        else:
            counts[parent] = counts.get(parent, 0) + 1
    return {call: count for call, count in counts.items() if call in done}
