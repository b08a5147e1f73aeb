"""Run programs with the recorder and the logging kernels in one process, and judge recorder and engine by what ran."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from dispatch_cli.capture.document import document
from dispatch_cli.engine.table.layout import layout_of
from dispatch_cli.model.names import OperatorName
from dispatch_cli.trace.launch import variables
from tests import in_pytorch
from tests.capture.support import read_document
from tests.engine.call.judge.compare import Judge, Judged, judge_all, observed_calls
from tests.trace.judge.compare import Causes, Compared, Seen, Threads, Trace, compare, logged, traced, undisturbed
from tests.trace.recorded import library_of

HERE = Path(__file__).parent
PROGRAMS = HERE.parent / "programs"


class Failed(RuntimeError):
    """A program did not run to its end, or was not recorded."""


class Judgement(NamedTuple):
    """A program. compared: the recording with what the kernels saw. engine: its answers with the kernels that ran.

    disturbed: differences between the recordings with and without logging kernels. threads: what the kernels saw.
    """

    program: str
    compared: Compared
    engine: Judged
    disturbed: Causes


def names() -> list[str]:
    """The programs."""
    return sorted(path.stem for path in PROGRAMS.glob("*.py"))


def judge(python: str, program: str, directory: Path) -> Judgement:
    """Run a program twice. Errors: Failed."""
    script, library = PROGRAMS / f"{program}.py", library_of(python)
    log, wrapped, unwrapped = directory / "log", directory / "wrapped", directory / "unwrapped"
    driven = [python, str(HERE / "driver.py"), library, str(log), str(script)]
    with_kernels = _run(driven, variables([str(script)], library, str(wrapped), kernels=True))
    words = [python, str(script)]
    without, alone = _run(words, variables(words[1:], library, str(unwrapped), state=False)), _run(words, {})
    if not with_kernels == without == alone:
        raise Failed(f"{program} says {alone!r}; with the recorder {without!r}; with logging kernels {with_kernels!r}")
    trace, seen = _whole(traced(wrapped)), logged(log)
    if trace.state is None:
        raise Failed(f"{program}: the registry is not in the recording")
    engine = _engine(trace.state, seen, directory / "calls")
    disturbed = undisturbed(trace.threads, _whole(traced(unwrapped)).threads)
    return Judgement(program, compare(trace.threads, seen), engine, disturbed)


def _run(words: list[str], added: dict[str, str]) -> str:
    """Output of a program. added: variables of its environment. Errors: Failed."""
    done = in_pytorch.run(words, check=False, variables=added)
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)} exited with {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def _whole(trace: Trace) -> Trace:
    if trace.stopped:
        raise Failed("; ".join(trace.stopped))
    return trace


def _engine(state: dict[str, Any], seen: Threads, path: Path) -> Judged:
    """The engine's answers to all calls that made a selection."""
    calls = [call for thread in seen.values() for call in thread if not call.data["redispatched"]]
    counts = Counter(json.dumps(_signature(call), sort_keys=True) for call in calls)
    lines = [json.dumps({**json.loads(text), "count": count}) + "\n" for text, count in counts.items()]
    path.write_text("".join(lines), encoding="utf-8")
    called = {call.operator for call in calls}
    operators = [operator for operator in state["operators"] if operator["name"] in called]
    dispatcher = read_document(document({**state, "operators": operators, "higher_order_operators": []}))
    for name in called:
        dispatcher.settle(OperatorName.parse(name))
    judge = Judge(dispatcher, {operator["name"]: operator["python"] for operator in operators})
    return judge_all(judge, observed_calls(path, layout_of(dispatcher.universe)))


def _signature(call: Seen) -> dict[str, Any]:
    """A call without its place in the program."""
    left_out = ("thread", "number", "depth", "announced", "requires_grad", "devices", "grad_mode")
    return {"context": "calls", **{name: value for name, value in call.data.items() if name not in left_out}}


def table(judgements: list[Judgement]) -> str:
    """The figures of each program, and every difference with its count, the most frequent first."""
    head = ("program", "calls", "recorded", "alike", "kernels", "first", "chain", "silent", "by key", "disturbed")
    rows = [head, *(_row(judgement) for judgement in judgements)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]
    for judgement in judgements:
        lines += [f"{judgement.program}: {line}" for line in judgement.compared.differences.lines()]
        lines += [f"{judgement.program}: disturbed: {line}" for line in judgement.disturbed.lines()]
        for tally in judgement.engine.tallies.values():
            lines += [
                f"{judgement.program}: engine: {count} of {cause} ({', '.join(tally.examples[cause])})"
                for cause, count in tally.causes.most_common()
            ]
    return "\n".join(lines)


def _row(one: Judgement) -> tuple[str, ...]:
    compared = one.compared
    calls = sum(tally.calls for tally in one.engine.tallies.values())
    first = sum(tally.first for tally in one.engine.tallies.values())
    chain = sum(tally.chain for tally in one.engine.tallies.values())
    figures = (compared.recorded, compared.alike, compared.kernels)
    return (
        one.program,
        str(compared.seen),
        *(f"{figure / max(compared.seen, 1):.2%}" for figure in figures),
        *(f"{figure / max(calls, 1):.2%}" for figure in (first, chain)),
        str(compared.silent.total()),
        str(compared.by_key.total()),
        str(one.disturbed.total()),
    )
