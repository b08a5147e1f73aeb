"""Backward calls name the forward call that made their node, or none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch_cli.trace.recording import NONE, read
from tests.trace.recorded import LIVE_PROGRAMS, run

PROGRAM = LIVE_PROGRAMS["backward calls"]["program.py"]


@pytest.mark.live
def test_what_is_said_of_a_program_is_so(tmp_path: Path) -> None:
    """PyTorch says which line made each node, and what it is."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = run(tmp_path / "program.py")
    assert (done.code, "Traceback" in done.err) == (0, False), done.err
    nodes = {int(number): tuple(of) for number, of in json.loads(done.out).items()}
    recording = read(str(tmp_path / "recording"))
    calls = recording.calls
    recorded_nodes, unsaid = set(), set()
    for call in range(len(calls)):
        number, forward = calls.sequence[call], recording.forward_of(call)
        if forward is None:
            if calls.forward_thread[call] != NONE and number in nodes:
                unsaid.add(nodes[number])
            continue
        place = recording.place_of(forward)
        assert place is not None
        if number in nodes:
            assert (place.line, place.function) == (nodes[number][0], "<module>"), (nodes[number], call)
            recorded_nodes.add(nodes[number])
    functions = {"SilentBackward", "SeveralBackward", "CheckpointFunctionBackward"}
    assert {name for _, name in recorded_nodes} & functions == set()
    assert {name for _, name in unsaid} <= functions
    assert "GeneratedBackwardFor_judged_twice_defaultBackward" in {name for _, name in recorded_nodes}
    assert len(recorded_nodes) > 6
