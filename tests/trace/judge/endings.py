"""Traces of calls that raise, judged by the kernels that ran.

usage: ``python -m tests.trace.judge.endings PYTHON [COUNT [SEED]]``

PYTHON has PyTorch and NumPy; a C++ compiler is needed. COUNT: the samples that raise, 5,000 by default. SEED: chooses
them. Judged is the view of a trace, with all kernels observed, and as if the first ones alone had been.
"""

from __future__ import annotations

import operator
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from dispatch_cli.answers.trace.view import TraceView
from dispatch_cli.trace.calls import CallEnd
from dispatch_cli.trace.launch import command
from dispatch_cli.trace.recording import read
from dispatch_cli.trace.state import state_of
from tests.trace.judge.compare import Seen, aligned, logged, traced
from tests.trace.judge.run import driven
from tests.trace.recorded import library_of

SAMPLES, SAMPLES_OF_A_RUN = 5_000, 500
MOST = 40
"""Number of wrong or different cases that are listed."""


class Shown(NamedTuple):
    """The kernels of a call by key, up to one that calls the operator again, and those that are said to be assumed."""

    keys: tuple[str, ...]
    assumed: tuple[str, ...]
    raised: bool


class Endings(NamedTuple):
    """Figures of a recording, counted by calls.

    raised: those that did. cut: of these, those that raised before the last kernel that is predicted. different: those
    with kernels that the engine does not predict. wrong: what is shown that did not happen, with its operator.
    """

    calls: int
    raised: int
    cut: int
    different: Counter[str]
    wrong: Counter[str]


def run(python: str, directory: Path, count: int, seed: int) -> bool:
    """Record calls that raise, of which the logging kernels write down what they see.

    Returns whether the program ran to its end: PyTorch itself crashes in some calls with what is wrong.
    Errors: CalledProcessError.
    """
    library, program = library_of(python), Path(__file__).with_name("failing_calls.py")
    words = [str(program), str(seed), str(count)]
    recorded = command(python, words, library, str(directory / "recording"), kernels=True)
    driver = driven(recorded, library, directory / "log")
    done = subprocess.run(driver, timeout=3600, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode > 0:
        done.check_returncode()
    return done.returncode == 0


def judged_runs(python: str, count: int, seed: int) -> Iterator[dict[str, Endings]]:
    """The judgements of several programs, in which so many samples raise altogether."""
    dice = random.Random(seed)
    while count > 0:
        with tempfile.TemporaryDirectory() as directory:
            if run(python, Path(directory), min(count, SAMPLES_OF_A_RUN), dice.randrange(1 << 32)):
                yield judged(Path(directory) / "recording", Path(directory) / "log")
                count -= SAMPLES_OF_A_RUN


def judged(recording: Path, log: Path) -> dict[str, Endings]:
    """A recording with all kernels, and the same one as if the first kernels alone had been observed."""
    ran = kernels_that_ran(recording, log)
    whole = read(str(recording))
    state = state_of(whole)
    return {
        "verified": _judged(TraceView(whole, state), ran),
        "predicted": _judged(TraceView(replace(whole, kernels={}), state), ran),
    }


def kernels_that_ran(recording: Path, log: Path) -> dict[int, tuple[str, ...]]:
    """The kernels of each call of a recording, as the logging kernels wrote them down by themselves."""
    recorded, seen = traced(recording).threads, logged(log)
    (ours,), (theirs,) = recorded.values(), seen.values()
    pairs = aligned(ours, [call for call in theirs if call.announced])
    return {
        pair.recorded.number: () if pair.seen is None else _redispatched(pair.seen)
        for pair in pairs
        if pair.recorded is not None
    }


def _redispatched(call: Seen) -> tuple[str, ...]:
    """The first kernel of a call, and each that one before redispatches to."""
    keys, depth = [call.kernels[0][1]], 0
    for own_depth, slot, _, reached, _ in call.kernels[1:]:
        if own_depth <= depth:
            break
        if own_depth == depth + 1 and reached == "redispatch":
            keys.append(slot)
            depth = own_depth
    return tuple(keys)


def _judged(view: TraceView, ran: dict[int, tuple[str, ...]]) -> Endings:
    wrong: Counter[str] = Counter()
    raised = cut = 0
    for call, kernels in ran.items():
        shown, name = _of_view(view, call), view.recording.operator_of(call)
        raised += shown.raised
        whole = (*shown.keys, *shown.assumed)
        predicted = tuple(hop.slot for hop in view.explainer.of_call(call).own_hops if hop.live.kernel is not None)
        cut += shown.raised and kernels != predicted
        is_right = kernels[: len(shown.keys)] == shown.keys and whole[: len(kernels)] == kernels
        if not is_right or (shown.assumed and (view.recording.kernels or not shown.raised)):
            wrong[f"{name}: {kernels} ran; shown: {shown}"] += 1
    different = Counter(
        f"{view.recording.operator_of(call)}: {kernels} ran; predicted: {view.difference(call)}"
        for call, kernels in ran.items()
        if view.difference(call) is not None
    )
    return Endings(len(ran), raised, cut, different, wrong)


def _of_view(view: TraceView, call: int) -> Shown:
    path = view.path(call)
    return Shown(tuple(kernel.key for kernel in path.own), path.assumed, view.ended_as(call) is CallEnd.RAISED)


def together(found: Iterable[dict[str, Endings]]) -> dict[str, Endings]:
    """The figures of several programs as those of one."""
    sums: dict[str, Endings] = {}
    for one in found:
        for name, each in one.items():
            before = sums.get(name)
            sums[name] = each if before is None else Endings(*map(operator.add, before, each))
    return sums


def table(found: dict[str, Endings]) -> str:
    """The figures, and what is wrong with its count, the most frequent first."""
    names = ("calls", "raised", "cut", "different", "wrong")
    lines = [f"{'kernels':10}{''.join(f'{name:>10}' for name in names)}"]
    for name, ending in found.items():
        figures = (ending.calls, ending.raised, ending.cut, ending.different.total(), ending.wrong.total())
        lines.append(f"{name:10}{''.join(f'{figure:10,}' for figure in figures)}")
    for name, ending in found.items():
        lines += [f"{name}: {count} of {what}" for what, count in (ending.different + ending.wrong).most_common(MOST)]
    return "\n".join(lines)


def main() -> None:
    python = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else SAMPLES
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    print(table(together(judged_runs(python, count, seed))))


if __name__ == "__main__":
    main()
