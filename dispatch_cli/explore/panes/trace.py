"""The calls of a recorded program, and what is worth knowing of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from dispatch_cli.answers.trace.call import trace_call_report
from dispatch_cli.answers.trace.document import findings_blocks
from dispatch_cli.answers.trace.findings.report import TraceFinding
from dispatch_cli.answers.trace.findings.wording import finding_text
from dispatch_cli.answers.trace.report import TraceReport, TraceRow
from dispatch_cli.answers.trace.tree_document import TIMED_COLUMNS, ShownLine
from dispatch_cli.answers.trace.wording import (
    TIMES,
    missing_sentences,
    state_sentence,
    unfinished_sentence,
)
from dispatch_cli.explore.answers.call import CallTarget, call_blocks, target_of
from dispatch_cli.explore.answers.trace import (
    MOST_LINES,
    ONLY,
    AskedCalls,
    ShownCalls,
    calls_answer,
    findings_about,
    spot_in,
    spot_of_call,
    view_of,
)
from dispatch_cli.explore.background import Background, Step
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.views.list_pane import ListPane
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Gap, Paragraph, Run, TableBlock, Tone
from dispatch_cli.render.words import plural
from dispatch_cli.trace.recording import PythonPlace


class TracePane(ListPane):
    """The calls as a tree, one line each, and the call under the cursor explained; or the findings of the trace."""

    TITLE = "Trace"
    WORDS = "operator, key, Python line"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "only", "Only", tooltip="List only calls with something to do about, with the next fact, or all"),
        Binding("t", "this", "Operator", tooltip="List only calls of this operator, or all"),
        Binding("i", "findings", "Findings", tooltip="Show the findings, or the calls"),
    ]
    MARKS = (
        (TIMES + "3", "so many calls in a row that are alike"),
        ("a → b", "the kernels of a call in turn: the first is observed, the others are predicted"),
    )

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(session, id=id)
        self._work = Background(self)
        self._asked = AskedCalls()
        self._read_for: AskedCalls | None = None
        self._shown: ShownCalls | None = None
        self._findings = False

    def open(self, spot: Spot) -> None:
        """Show the calls; where others are asked for, they are read in a thread."""
        moved = spot.operator != self.spot.operator
        self.spot = spot
        if self._asked.operator is not None and moved and spot.operator is not None:
            self._asked = self._asked._replace(operator=str(spot.operator))
        self._read()

    def _read(self) -> None:
        asked = self._asked
        if asked == self._read_for:
            return
        self._read_for = asked
        self.say("Reading the calls…")

        def work(step: Step) -> ShownCalls | None:
            return calls_answer(self.session, asked, step)

        self._work.start(work, self._take, self._failed, self.say)

    def _take(self, shown: ShownCalls | None) -> None:
        self._shown = shown
        self.refill(keep=True)
        self.answered(None if shown is None else shown.answer)

    def _failed(self, error: Exception) -> None:
        self._shown = self._read_for = None
        self.refill()
        self.say(("The calls cannot be shown: ", "bold"), f"{type(error).__name__}: {str(error)[:500]}")
        self.answered(None)

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """Notes on the recording: what it lacks, and where its registrations are from; each with a label."""
        if self._shown is None:
            return ()
        report = self._shown.report
        notes = (
            ("Unfinished", unfinished_sentence(report)),
            ("Not recorded", "; ".join(missing_sentences(report))),
            ("Registrations", "" if report.embedded is None else state_sentence(report)),
        )
        return tuple((label, text) for label, text in notes if text)

    # the list

    def rows(self) -> Sequence[ShownLine]:
        """The lines of the tree."""
        return () if self._shown is None else self._shown.lines

    def table(self, rows: Sequence[Any]) -> TableBlock[Any]:
        """Table of the rows, as the command shows them."""
        return TableBlock(TIMED_COLUMNS, rows)

    def words_of(self, row: Any) -> str:
        """Text that the filter searches."""
        call = row.row
        if call is None or call.operator is None:
            return ""
        keys = () if call.path is None else (kernel.key for kernel in call.path.kernels)
        return " ".join(
            (call.operator, *keys, *(fact.value for fact in call.facts), "" if row.place is None else str(row.place))
        )

    def title(self, shown: int, count: int) -> Iterable[str | tuple[str, str]]:
        """Name of the program, the calls that are asked for, and the gaps in the recording."""
        if self._shown is None:
            if self._read_for is not None and not self._work.busy:
                yield f"The program did not call {self._asked.operator}. t shows all calls."
            return
        report, counts = self._shown.report, self._shown.report.counts
        yield (f"Trace of {' '.join(report.argv) or report.recording}", "bold")
        threads = f" on {plural(counts.threads, 'thread')}" if counts.threads > 1 else ""
        findings = plural(len(report.findings), "finding")
        yield f": {plural(counts.calls, 'call')} of {plural(counts.operators, 'operator')}{threads}, {findings}"
        parts = [f"{plural(counts.shown, 'call')} {', '.join(chosen)}"] if (chosen := [*self.chosen_rows()]) else []
        parts += [f"only the first {MOST_LINES:,} lines are shown; t and v choose calls"] if self._shown.cut else []
        parts += [f"{shown:,} of {count:,} lines"] if shown != count else []
        for text in parts:
            yield "\n"
            yield text
        for label, text in self.notes:
            yield "\n"
            yield (f"{label}: {text}", "$text-muted" if label == "Registrations" else "$text-warning")

    def chosen_rows(self) -> Iterator[str]:
        """Operator and facts of the calls that are asked for, in words."""
        if self._asked.operator is not None:
            yield f"of {self._asked.operator}"
        if self._asked.facts:
            yield f"only {' or '.join(fact.value for fact in self._asked.facts)}"

    @property
    def remark(self) -> str:
        """Remark on the filter, and on lines that are not shown for length; t and v are in the command line."""
        words = self.filter.value.strip()
        if self._shown is None:
            return ""
        if words:
            return f"(prints all lines; here only those with “{words}”)"
        return f"(prints all lines; here the first {MOST_LINES:,})" if self._shown.cut else ""

    # the call under the cursor

    def details(self, row: Any) -> Iterable[Block]:
        """The call, explained, or the findings; without a call, that there is none."""
        shown = self._shown
        if shown is None:
            return ()
        if self._findings:
            return findings_blocks(shown.report)
        if not isinstance(row, ShownLine):
            return () if self._work.busy else (Paragraph("No call matches."),)
        return () if row.row is None else self._call(shown.report, row.row)

    def _call(self, report: TraceReport, row: TraceRow) -> Iterator[Block]:
        if row.operator is None:
            yield Paragraph(f"A group of {plural(row.calls, 'call')}, which comes {row.times:,} times in a row.")
            return
        yield Paragraph(Run(f"Call {row.number:,} of {row.operator}", Tone.HEAD))
        for finding in findings_about(report, row):
            yield Paragraph(Run(f"! {finding_text(finding)}", Tone.WARN), hang=2)
        yield Gap()
        view = view_of(self.session)
        if not self._work.busy and (explained := trace_call_report(view, row.number)) is not None:
            yield from call_blocks(view.happened.of_call(row.number).state, explained)
        elif row.path is not None and row.path.problem is not None:
            yield Paragraph(Run(f"Nothing is known of it: {row.path.problem}.", Tone.WARN))

    def opens(self, item: Any) -> Any:
        """The slot of a step or of a finding."""
        if isinstance(item, TraceFinding):
            return spot_in(self.session, item.operator, item.key)
        target = target_of(item)
        if isinstance(target, CallTarget):
            name = str(target.operator) if target.operator is not None else _operator_of(self.list.target)
            return None if name is None else spot_in(self.session, name, target.key)
        return None

    def place_of(self, row: Any) -> Span | None:
        """The line of Python."""
        return None if row.place is None else _span_of(row.place)

    # keys

    def chosen(self, row: Any) -> None:
        """Go to the table of the operator, at the slot of its first kernel."""
        name = _operator_of(row)
        if row.row is None:
            self.detail.focus()
        elif name is not None and (spot := spot_of_call(self.session, row.row)) is not None:
            self.post_message(self.Went(spot, "table"))
        elif name is not None:
            self.notify(f"The state has no operator {name}.", severity="warning")

    def action_only(self) -> None:
        """Show only calls with something to do about, then those with one fact, then all."""
        at = ONLY.index(self._asked.facts)
        self._asked = self._asked._replace(facts=ONLY[(at + 1) % len(ONLY)])
        self._read()

    def action_this(self) -> None:
        """Show only calls of the operator under the cursor, or all."""
        name = None
        if self._asked.operator is None:
            name = _operator_of(self.list.target) or (None if self.spot.operator is None else str(self.spot.operator))
            if name is None:
                self.notify("There is no operator here.")
        self._asked = self._asked._replace(operator=name)
        self._read()

    def action_findings(self) -> None:
        """The findings in the place of the calls, or the calls again."""
        self._findings = not self._findings
        self.set_class(self._findings, "-no-list")
        self.show_details()
        (self.detail if self._findings else self.list).focus()


def _operator_of(line: ShownLine | None) -> str | None:
    """The operator that a line is about."""
    return None if line is None or line.row is None else line.row.operator


def _span_of(place: PythonPlace) -> Span:
    """A line of Python as a place that an editor opens."""
    return Span(place.file, max(1, place.line), 1)
