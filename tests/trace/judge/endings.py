"""Traces of calls that raise, judged by the kernels that ran.

usage: ``python -m tests.trace.judge.endings PYTHON [COUNT [SEED]]``

PYTHON has PyTorch and NumPy; a C++ compiler is needed. COUNT: the samples that raise, 5,000 by default. SEED: chooses
them. Judged is every format, with all kernels observed, and as if the first ones alone had been.
"""

from __future__ import annotations

import csv
import io
import json
import operator
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.answers.trace.chrome_document import chrome_text
from dispatch_cli.answers.trace.document import sheet
from dispatch_cli.answers.trace.report import TraceReport, trace_report
from dispatch_cli.answers.trace.view import TraceView
from dispatch_cli.answers.trace.wording import ARROW, row_end, row_path
from dispatch_cli.engine.call.trace import Does
from dispatch_cli.render.data import json_text
from dispatch_cli.render.document import joined, runs_of
from dispatch_cli.render.sheet import csv_text
from dispatch_cli.trace.calls import CallEnd
from dispatch_cli.trace.launch import command
from dispatch_cli.trace.recording import read
from dispatch_cli.trace.selected import Wanted
from dispatch_cli.trace.state import state_of
from tests.trace.judge.compare import aligned
from tests.trace.judge.run import driven
from tests.trace.judge.seen import Seen, logged, traced
from tests.trace.kernels import library_of

_IN_BRACKETS = re.compile(r" \((?!assumed: )[^()]*\)")
"""Words of the text about a kernel or of a call beside its key."""


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
    for name, calls in _formats(view).items():
        for call, shown in calls.items():
            if shown != _of_view(view, call):
                wrong[f"{view.recording.operator_of(call)}: {name} {shown}; {_of_view(view, call)}"] += 1
    wrong.update(_totals(view))
    different = Counter(
        f"{view.recording.operator_of(call)}: {kernels} ran; predicted: {view.difference(call)}"
        for call, kernels in ran.items()
        if view.difference(call) is not None
    )
    return Endings(len(ran), raised, cut, different, wrong)


def _of_view(view: TraceView, call: int) -> Shown:
    path = view.path(call)
    return Shown(tuple(kernel.key for kernel in path.own), path.assumed, view.ended_as(call) is CallEnd.RAISED)


def _formats(view: TraceView) -> dict[str, dict[int, Shown]]:
    """Kernels of a call in each format: of all of them, or of the first of those that are alike."""
    return {
        "json": dict(_of_json(_report(view))),
        "text": dict(_of_text(_report(view))),
        "csv": dict(_of_csv(_report(view))),
        "chrome": dict(_of_chrome(view)),
    }


def _report(view: TraceView) -> TraceReport:
    return trace_report(view, Wanted())


def _of_json(report: TraceReport) -> Iterator[tuple[int, Shown]]:
    for thread in json.loads("".join(json_text(report)))["threads"]:
        for row in thread["rows"]:
            if row["operator"] is not None:
                kernels = row["path"]["kernels"]
                ends = (at for at, one in enumerate(kernels) if one["does"] == Does.CALLS_ANEW.value)
                keys = tuple(kernel["key"] for kernel in kernels[: next(ends, len(kernels)) + 1])
                yield row["number"], Shown(keys, tuple(row["path"]["assumed"]), row["raised"] > 0)


def _of_text(report: TraceReport) -> Iterator[tuple[int, Shown]]:
    for thread in report.threads:
        for row in thread.rows:
            if row.operator is not None:
                text = _IN_BRACKETS.sub("", "".join(run.text for run in runs_of(joined(row_path(row), *row_end(row)))))
                path, _, end = text.partition(" raised")
                assert not end
                keys, _, assumed = path.removesuffix(")").partition(" (assumed: ")
                yield row.number, Shown(_keys(keys), _keys(assumed), text.endswith(" raised"))


def _of_csv(report: TraceReport) -> Iterator[tuple[int, Shown]]:
    for row in csv.DictReader(io.StringIO("".join(csv_text(sheet(report))))):
        if row["operator"]:
            keys, assumed = (tuple(row[name].split()) for name in ("kernels", "assumed"))
            yield int(row["call"]), Shown(keys, assumed, row["end"] == "error")


def _of_chrome(view: TraceView) -> Iterator[tuple[int, Shown]]:
    for event in json.loads("".join(chrome_text(view, view.select(Wanted()))))["traceEvents"]:
        args = event.get("args", {})
        if "call" in args:
            assumed = _keys(args.get("assumed", ""))
            yield args["call"], Shown(_keys(args["kernels"]), assumed, args.get("raised", False))


def _keys(text: str) -> tuple[str, ...]:
    return () if text in ("", "no kernel") else tuple(text.split(ARROW))


def _totals(view: TraceView) -> Counter[str]:
    """Rows of the table by operator that differ from the sum of its calls."""
    calls: Counter[Any] = Counter(
        (view.recording.operator_of(call), _of_view(view, call)) for call in range(len(view.recording.calls))
    )
    totals: Counter[Any] = Counter()
    for row in _report(view).operators:
        for path in row.paths:
            totals[row.operator, Shown(path.keys, path.assumed, path.ended is CallEnd.RAISED)] += path.calls
    unlike = (totals - calls) + (calls - totals)
    return Counter({f"table: {operator} {shown}": count for (operator, shown), count in unlike.items()})


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
