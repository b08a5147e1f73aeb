"""One PyTorch against the engine: its operators, histories of registrations, calls, and higher-order operators."""

from __future__ import annotations

import json
import lzma
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli import api, bases, universes
from dispatch_cli.capture.run import ANSWERS, run_probe
from dispatch_cli.crossref.answers import Answers
from dispatch_cli.crossref.compare import Comparison, compare, higher_order_names, names_of
from dispatch_cli.crossref.replay import Subject, replay, subject_of
from tests import in_pytorch
from tests.engine.call import random_calls, recorded_calls
from tests.engine.call.higher_order.higher_order_cases import declarations, differences
from tests.engine.dispatcher.recorded_histories import differing_steps
from tests.support import RECORDINGS, load_recording

CALLS = RECORDINGS / "record_calls.py"
HISTORIES = RECORDINGS / "record_sequences.py"
HIGHER_ORDER = Path(__file__).parents[1] / "engine" / "call" / "higher_order" / "live_higher_order.py"
NEWEST = "2.15.0"
"""The version whose recorded higher-order operators are asked of one without a recording."""
PER_OPERATOR = 5
"""The calls that `CALLS` makes of an operator."""
SECONDS = 1800


class Size(NamedTuple):
    """Numbers of calls and histories that are tried."""

    calls: int = 1000
    histories: int = 300
    seed: int = 1


class Part(NamedTuple):
    """A part of the comparison. left: what cannot be compared. wrong: what differs, in words."""

    name: str
    compared: int
    wrong: list[str]
    left: int = 0


def parts(python: str, size: Size) -> Iterator[Part]:
    """Ask the PyTorch of that Python, and compare; each part when it is there."""
    probed = run_probe(python, script=ANSWERS, vmap=False, seconds=SECONDS)
    yield from _compared(probed, subject(probed))
    universe = universes.from_data(probed["universe"])
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        yield from recorded(probed["universe"], record(python, size, directory), directory)
        asked = random_calls.question(universe, random_calls.recorded_operators(universe))
        answers = in_pytorch.ask(python, random_calls.SCRIPT, asked)
        comparison = random_calls.compare(universe, asked["operators"], answers)
        yield Part("random calls", comparison.calls - comparison.unmade, comparison.wrong, comparison.unmade)


def subject(probed: Answers) -> Subject:
    """The embedded state, if this is the build that it is of; otherwise what the PyTorch has registered."""
    name = str(probed["universe"]["name"])
    if name not in bases.names() or universes.load(name).torch != probed["universe"]["torch"]:
        return replay(probed)
    differing = universes.differences(universes.load(name), universes.from_data(probed["universe"]))
    assert not differing, f"the embedded universe differs: {differing}"
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "embedded.json"
        file.write_text(json.dumps({"dispatch": 1, "extends": [name]}), encoding="utf-8")
        return subject_of(api.load_state([str(file)]))


def _compared(answers: Answers, ours: Subject) -> Iterator[Part]:
    comparison: Comparison = compare(ours, answers, names_of(ours, answers), higher_order_names(ours, answers))
    for count in comparison.counts:
        wrong = [
            f"{difference.operator} {difference.key}: {difference.ours}; PyTorch: {difference.theirs}"
            for difference in comparison.differences
            if difference.part is count.part
        ]
        yield Part(count.part.value, count.compared, wrong)


def record(python: str, size: Size, directory: Path) -> dict[str, Any]:
    """Random calls and histories of a live PyTorch, and the recorded calls of higher-order operators."""
    calls, histories = directory / "calls.json.xz", directory / "histories.json.xz"
    _run(python, CALLS, str(calls), str(size.seed), str(size.calls // PER_OPERATOR))
    _run(python, HISTORIES, str(histories), str(size.seed), str(size.histories))
    recording = _read(calls)
    version = recording["torch"].partition("+")[0]
    if not (RECORDINGS / f"torch-{version}.version.json.xz").exists():
        version = NEWEST
    cases = load_recording(f"{version}.version")["higher_order"]
    return {
        "torch": recording["torch"],
        "seed": size.seed,
        "calls": recording["cases"],
        "histories": _read(histories)["histories"],
        "higher_order": in_pytorch.ask(python, HIGHER_ORDER, cases),
    }


def recorded(said: str | Mapping[str, Any], recording: Mapping[str, Any], directory: Path) -> Iterator[Part]:
    """A recording of `record` against the engine.

    said: the name of an embedded universe, or the data of one. directory: for a temporary file.
    """
    universe = universes.load(said) if isinstance(said, str) else universes.from_data(said)
    calls = recorded_calls.compare(universe, recording["calls"])
    yield Part("calls", calls.calls, [str(difference) for difference in calls.wrong])
    steps, wrong = differing_steps(universe, recording["histories"])
    yield Part("history steps", steps, wrong)
    cases = recording["higher_order"]
    file = directory / "operators.json"
    file.write_text(json.dumps(declarations(said, cases)), encoding="utf-8")
    different, _ = differences(api.load_state([str(file)]), cases)
    yield Part("higher-order calls", len(cases), [str(difference) for difference in different])


def _run(python: str, script: Path, *arguments: str) -> bytes:
    command = [python, str(script), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS)
    return done.stdout


def _read(file: Path) -> Any:
    with lzma.open(file, "rt") as text:
        return json.load(text)
