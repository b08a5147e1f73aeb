"""The calls of a recorded program, and what is worth knowing of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar, NamedTuple

from textual.binding import Binding, BindingType

from dispatch_cli.answers.shared.selection import select_names
from dispatch_cli.answers.trace.call import trace_call_report
from dispatch_cli.answers.trace.document import TIMED_COLUMNS, ShownLine, document
from dispatch_cli.answers.trace.findings.report import TraceFinding
from dispatch_cli.answers.trace.findings.wording import finding_text
from dispatch_cli.answers.trace.report import TraceReport, TraceRow, TraceThread, trace_report
from dispatch_cli.answers.trace.view import TraceView
from dispatch_cli.answers.trace.wording import TIMES
from dispatch_cli.explore.answers.call import CallTarget, call_blocks, target_of
from dispatch_cli.explore.background import Step
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.files.paths import as_argument
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Gap, Paragraph, Run, Tone
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


class TracePane(Pane):
    """The calls as a tree, one line each, and the call under the cursor explained; below them the findings."""

    TITLE = "Trace"
    BELOW = True
    LISTS = (TIMED_COLUMNS,)
    FILTER = "operator, key"
    DEFAULT_CSS = "TracePane > .below { height: 50%; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "only", "Only", tooltip="List only calls with something to do about, with the next fact, or all"),
        Binding("t", "this", "Operator", tooltip="List only calls of this operator, or all"),
    ]
    MARKS = (
        (TIMES + "3", "so many calls that are alike"),
        ("a → b", "the kernels of a call in turn: the first is observed, the others are predicted"),
    )
    calls = AskedCalls()

    def depends(self) -> tuple[Any, ...]:
        return (self.calls,)

    def open(self, spot: Spot) -> None:
        """Show the calls; those of one operator follow the spot."""
        if self.calls.operator is not None and spot.operator not in (None, self.spot.operator):
            self.calls = self.calls._replace(operator=str(spot.operator))
        super().open(spot)

    def begin(self) -> None:
        calls = self.calls
        self.search(lambda step: calls_answer(self.session, calls, step), "Reading the calls…")

    def document(self, answer: PaneAnswer) -> Iterable[Block]:
        return document(answer.report)

    def nothing(self) -> str:
        return f"The program did not call {self.calls.operator}. t shows all calls."

    @property
    def remark(self) -> str:
        """The filter of the answer, in words."""
        if self.answer is not None and _lines(self.answer.report) == MOST_LINES:
            return f"(prints all lines; here the first {MOST_LINES:,}: t and v choose calls)"
        return super().remark

    def opens(self, item: Any) -> Any:
        """A call; a finding is the slot that it is about, a step the slot where it is."""
        if isinstance(item, ShownLine):
            return item
        if isinstance(item, TraceFinding):
            return spot_in(self.session, item.operator, item.key)
        target = target_of(item)
        if isinstance(target, CallTarget):
            name = _operator_of(self.view.target)
            return None if name is None else spot_in(self.session, name, target.key)
        return None

    def place_of(self, target: Any) -> Any:
        """The line of Python."""
        place = target.place if isinstance(target, ShownLine) else None
        return None if place is None else Span(place.file, max(1, place.line), 1)

    def described(self, target: Any) -> Iterator[Block]:
        """The call, explained."""
        row = target.row if isinstance(target, ShownLine) else None
        if row is None or self.answer is None:
            return
        yield Paragraph(Run(f"Call {row.number:,} of {row.operator}", Tone.HEAD))
        for finding in findings_about(self.answer.report, row):
            yield Paragraph(Run(f"! {finding_text(finding)}", Tone.WARN), hang=2)
        yield Gap()
        view = self.session.trace
        if view is not None and not self.work.busy and (explained := trace_call_report(view, row.number)) is not None:
            yield from call_blocks(explained)
        elif row.path.problem is not None:
            yield Paragraph(Run(f"Nothing is known of it: {row.path.problem}.", Tone.WARN))

    def go_to(self, target: Any) -> None:
        """Go to the table of the operator, at the slot of its first kernel."""
        if not isinstance(target, ShownLine):
            super().go_to(target)
        elif (name := _operator_of(target)) is not None:
            first = target.row.path.kernels[0].key if target.row is not None and target.row.path.kernels else None
            if (spot := spot_in(self.session, name, first)) is not None:
                self.went(spot, "table")
            else:
                self.notify(f"The state has no operator {name}.", severity="warning")

    # keys

    def action_only(self) -> None:
        """Show only calls with something to do about, then those with one fact, then all."""
        self.calls = self.calls._replace(facts=ONLY[(ONLY.index(self.calls.facts) + 1) % len(ONLY)])
        self.again()

    def action_this(self) -> None:
        """Show only calls of the operator under the cursor, or all."""
        name = None
        if self.calls.operator is None:
            name = _operator_of(self.view.target) or (None if self.spot.operator is None else str(self.spot.operator))
        self.calls = self.calls._replace(operator=name)
        self.again()


def _operator_of(line: Any) -> str | None:
    """The operator that a line is about."""
    return line.row.operator if isinstance(line, ShownLine) and line.row is not None else None


def calls_answer(session: Session, asked: AskedCalls, step: Step) -> PaneAnswer | None:
    """The calls that are asked for, the first `MOST_LINES` lines of them; None where the program called no such
    operator. step: gets texts on progress.
    """
    view = session.trace
    assert view is not None, "only a session with a recording shows its calls"
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
    report = replace(report, threads=tuple(_read(report.threads, step)))
    return PaneAnswer(report, ("trace", as_argument(view.recording.file), *words, "--full"))


def _read(threads: Iterable[TraceThread], step: Step) -> Iterator[TraceThread]:
    """The threads with the first of their rows."""
    left = MOST_LINES
    for thread in threads:
        rows: list[TraceRow] = []
        following = iter(thread.rows)
        while some := [*islice(following, min(left, _STEP))]:
            rows += some
            left -= len(some)
            step(f"Reading the calls… {MOST_LINES - left:,} lines")
        yield thread._replace(rows=rows)


def _lines(report: TraceReport) -> int:
    return sum(len([*thread.rows]) for thread in report.threads)


def findings_about(report: TraceReport, row: TraceRow) -> Iterator[TraceFinding]:
    """The findings that concern a row: of its operator, at a key where one of its kernels is, or would have been."""
    keys = {*(kernel.key for kernel in row.path.kernels), *row.path.skipped}
    yield from (finding for finding in report.findings if finding.operator == row.operator and finding.key in keys)


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
