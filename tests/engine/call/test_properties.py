"""Whatever is asked for, a simulated call ends; and every set that it shows follows from the one before."""

from __future__ import annotations

import pytest

from dispatch_cli import universes
from dispatch_cli.engine.call.select import slot_of
from dispatch_cli.engine.call.step import MAX_HOPS
from dispatch_cli.engine.call.trace import Call, Does, EndKind, ErrorKind, MaskKind, Reached
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from tests.engine.call.random_calls import recorded_operators, simulated
from tests.engine.call.recorded_calls import compare
from tests.support import SOME_UNIVERSES, load_recording

VERSIONS = ("2.13.0", "2.15.0")


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_calls(version: str) -> None:
    count, wrong, stale = compare(universes.load("torch-2.15"), load_recording(f"{version}.calls")["cases"][:150])
    assert wrong == []
    assert count == 750
    assert (stale > 0) == (version == "2.15.0"), "a few calls of that recording are told by the live table alone"


def check(call: Call) -> None:
    assert 0 < len(call.hops) <= MAX_HOPS + 1
    passed: DispatchKeySet | None = None
    for hop in call.hops:
        assert (hop.selection is None) == (hop.reached is Reached.REDISPATCH)
        if hop.selection is not None:
            selection = hop.selection
            assert (
                selection.mask.kind is MaskKind.NONE or selection.result == selection.unmasked & selection.mask.keyset
            )
            union = DispatchKeySet(selection.keyset.layout)
            for argument in selection.arguments:
                union |= argument.keyset
            assert selection.mask.kind is MaskKind.NONE or union == selection.keyset
        elif hop.python is None:
            assert hop.keyset == passed
        if hop.python is None:
            assert hop.slot == slot_of(hop.keyset)
        assert (hop.passes is not None) == (hop.does is Does.REDISPATCHES)
        passed = hop.passes
    ends = {
        EndKind.KERNEL: Does.ENDS,
        EndKind.DECOMPOSITION: Does.DECOMPOSES,
        EndKind.HANDLER: Does.HANDS_OVER,
        EndKind.ERROR: Does.RAISES,
    }
    kind = None if call.end.error is None else call.end.error.kind
    if kind is not ErrorKind.ENDLESS:
        assert call.hops[-1].does is (ends[call.end.kind] if call.end.handler is None else Does.HANDS_OVER)
    assert (call.end.error is not None) == (call.end.kind is EndKind.ERROR)
    assert (
        call.end.fake is not None
        or kind is ErrorKind.MODES
        or (call.end.handler is not None) == (call.end.kind is EndKind.HANDLER)
    )


@pytest.mark.parametrize("universe", SOME_UNIVERSES)
def test_random_calls_hold_together(universe: str) -> None:
    loaded = universes.load(universe)
    for number, asked in enumerate(recorded_operators(loaded)[::16]):
        for call in simulated(loaded, number, asked):
            check(call)
