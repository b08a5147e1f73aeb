"""The calls of a recorded program, as ``trace`` shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from dispatch_cli.answers.shared.selection import select_names
from dispatch_cli.answers.trace.findings.report import TraceFinding
from dispatch_cli.answers.trace.report import TraceReport, TraceRow, TraceThread, trace_report
from dispatch_cli.answers.trace.tree_document import ShownLine, thread_title, tree_lines
from dispatch_cli.answers.trace.view import TraceView
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.files.paths import as_argument
from dispatch_cli.model.names import OperatorName
from dispatch_cli.trace.facts import CallFact
from dispatch_cli.trace.selected import Wanted

MOST_LINES = 50_000
"""Lines of the trees that are shown."""
_STEP = 500
"""Lines after which others get their turn."""


_BAD = (CallFact.FALLBACK, CallFact.NO_GRADIENT, CallFact.STALE)
"""Facts that the user may want to act on."""
ONLY: tuple[tuple[CallFact, ...], ...] = ((), _BAD, *((fact,) for fact in CallFact))
"""The facts that calls are chosen by, one choice after another."""


class AskedCalls(NamedTuple):
    """Choice of calls: those of an operator, and those with one of some facts; all by default."""

    operator: str | None = None
    facts: tuple[CallFact, ...] = ()


class ShownCalls(NamedTuple):
    """The calls that are asked for. lines: of the trees. cut: there are more than are shown."""

    answer: PaneAnswer
    lines: Sequence[ShownLine]
    cut: bool

    @property
    def report(self) -> TraceReport:
        """Report that the command prints; of its rows those that are shown."""
        report: TraceReport = self.answer.report
        return report


def view_of(session: Session) -> TraceView:
    """The recording of a session that has one."""
    assert session.trace is not None, "only a session with a recording shows its calls"
    return session.trace


def calls_answer(session: Session, asked: AskedCalls, step: Callable[[str], None]) -> ShownCalls | None:
    """The calls that are asked for; None where the program called no such operator. step: gets texts on progress."""
    view = view_of(session)
    operators = None
    words: list[str] = []
    if asked.operator is not None:
        operators = frozenset(select_names(view.recording.operators, asked.operator))
        if not operators:
            return None
        words += ["--op", asked.operator]
    words += [word for fact in asked.facts for word in ("--only", fact.value)]
    step("Reading the calls…")
    report = trace_report(view, Wanted(operators, facts=asked.facts))
    threads, cut = _read(report, step)
    lines: list[ShownLine] = []
    for thread, rows in threads:
        if report.counts.threads > 1:
            lines.append(ShownLine(None, thread_title(thread), 0))
        lines += tree_lines(rows, report.directory)
    report = replace(report, threads=(thread._replace(rows=iter(rows)) for thread, rows in threads))
    return ShownCalls(PaneAnswer(report, ("trace", _file(view), *words, "--full")), lines, cut)


def _read(
    report: TraceReport, step: Callable[[str], None]
) -> tuple[Sequence[tuple[TraceThread, Sequence[TraceRow]]], bool]:
    """The threads with their rows, and whether there are more rows than are shown."""
    left = MOST_LINES
    threads: list[tuple[TraceThread, Sequence[TraceRow]]] = []
    for thread in report.threads:
        rows: list[TraceRow] = []
        while left and (some := [*islice(thread.rows, min(left, _STEP))]):
            rows += some
            left -= len(some)
            step(f"Reading the calls… {MOST_LINES - left:,} lines")
        threads.append((thread, rows))
        if not left and next(thread.rows, None) is not None:
            return threads, True
    return threads, False


def findings_about(report: TraceReport, row: TraceRow) -> Iterator[TraceFinding]:
    """The findings that concern a row: of its operator, at a key where one of its kernels is, or would have been."""
    if row.path is None:
        return
    keys = {*(kernel.key for kernel in row.path.kernels), *row.path.skipped}
    yield from (finding for finding in report.findings if finding.operator == row.operator and finding.key in keys)


def spot_of_call(session: Session, row: TraceRow) -> Spot | None:
    """The operator of a row, at the slot of its first kernel; None where the state has no such operator."""
    if row.operator is None:
        return None
    first = row.path.kernels[0].key if row.path is not None and row.path.kernels else None
    return spot_in(session, row.operator, first)


def spot_in(session: Session, operator: str, key: str | None) -> Spot | None:
    """An operator of the session's state, at a slot; None where that state has no such operator."""
    dispatcher, name = session.state.dispatcher, OperatorName.parse(operator)
    return Spot(name, key if key in dispatcher.universe.slot else None) if name in dispatcher else None


def called_operators(view: TraceView) -> Mapping[str, int]:
    """The operators that the program called, and how often."""
    recording, counts = view.recording, Counter[str]()
    for signature, count in Counter(recording.calls.signature).items():
        counts[recording.operators[recording.signatures[signature]["operator"]]] += count
    return counts


def _file(view: TraceView) -> str:
    """The recording as an argument."""
    return as_argument(view.recording.file)
