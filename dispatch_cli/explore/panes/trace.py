"""The calls of a recorded program, and what is worth knowing of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from dispatch_cli.answers.trace.findings.report import TraceFinding
from dispatch_cli.answers.trace.tree_document import ShownLine
from dispatch_cli.answers.trace.wording import TIMES
from dispatch_cli.explore import trace_blocks
from dispatch_cli.explore.answers.trace import (
    MOST_LINES,
    ONLY,
    AskedCalls,
    ShownCalls,
    calls_answer,
    explained_answer,
    spot_in,
    spot_of_call,
    view_of,
)
from dispatch_cli.explore.background import Background, Step
from dispatch_cli.explore.bars import copy_command
from dispatch_cli.explore.call_blocks import CallTarget, target_of
from dispatch_cli.explore.list_pane import ListPane
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.trace_blocks import FINDINGS, TraceDetail, operator_of, span_of
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Fact, Paragraph, TableBlock

WIDE = 100  # columns of the view from which there is room for all that has to be known of the recording


class TracePane(ListPane):
    """The calls as a tree, one line each, and the call under the cursor explained; or the findings of the trace."""

    TITLE = "Trace"
    WORDS = "operator, key, Python line"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "only", "Only", tooltip="List only calls with something to do about, with the next fact, or all"),
        Binding("t", "this", "Operator", tooltip="List only calls of this operator, or all"),
        Binding("i", "findings", "Findings", tooltip="Show the findings, or the calls"),
        Binding("x", "explain", "Explain", tooltip="Show the call alone, explained, or the calls"),
        Binding("Y", "copy_explained", "Copy the command that explains the call", show=False),
    ]
    MARKS = (
        (TIMES + "3", "so many calls in a row that are alike"),
        ("a → b", "the kernels of a call in turn: the first is observed, the others are predicted"),
    )

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(session, id=id)
        self._work = Background(self)
        self._asked = AskedCalls()
        self._made: AskedCalls | None = None
        self._shown: ShownCalls | None = None
        self._findings = False
        self._explains = False
        self._explained: PaneAnswer | None = None
        self._part: TraceDetail | None = None

    def open(self, spot: Spot) -> None:
        """Show the calls; where others are asked for, they are read in a thread."""
        moved = spot.operator != self.spot.operator
        self.spot = spot
        if self._asked.operator is not None and moved and spot.operator is not None:
            self._asked = self._asked._replace(operator=str(spot.operator))
        self._read()

    def _read(self) -> None:
        asked = self._asked
        if asked == self._made:
            return
        self._made = asked
        self.say("Reading the calls…")

        def work(step: Step) -> ShownCalls | None:
            return calls_answer(self.session, asked, step)

        self._work.start(work, self._found, self._failed, lambda text: self.say(text))

    def _found(self, shown: ShownCalls | None) -> None:
        self._shown = shown
        self.refill(keep=True)
        self._answer()

    def _failed(self, error: Exception) -> None:
        self._shown = self._made = None
        self.refill()
        self.say(("The calls cannot be shown: ", "bold"), f"{type(error).__name__}: {str(error)[:500]}")
        self._answer()

    def _answer(self) -> None:
        """The command line of what is shown: of the list, or of the call that is explained."""
        if self._explains:
            self.answered(self._explained)
        else:
            self.answered(None if self._shown is None else self._shown.answer)

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """Notes on the recording that have to be known."""
        return () if self._shown is None else trace_blocks.notes_of(self._shown.report)

    # the list

    def rows(self) -> Sequence[ShownLine | TraceFinding]:
        """The lines of the tree, or the findings."""
        if self._shown is None:
            return ()
        return self._shown.report.findings if self._findings else self._shown.lines

    def table(self, rows: Sequence[Any]) -> TableBlock[Any]:
        """Table of the rows, as the command shows them."""
        return TableBlock(FINDINGS, rows) if self._findings else TableBlock(trace_blocks.with_bars(rows), rows)

    def words_of(self, row: Any) -> str:
        """Text that the filter searches."""
        return trace_blocks.words_of(row)

    def title(self, shown: int, count: int) -> Iterable[str | tuple[str, str]]:
        """Name of the program, the calls that are asked for, and the gaps in the recording."""
        if self._shown is None:
            if self._made is not None and not self._work.busy:
                yield f"The program did not call {self._asked.operator}. t shows all calls."
            return
        yield from trace_blocks.title_of(self._shown, [*self.chosen_rows()], self.size.width >= WIDE)
        if shown != count:
            yield "\n"
            yield f"{shown:,} of {count:,} lines"

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
        if self._explains or self._shown is None:
            return ""
        if self._findings:
            return "(prints the calls, too)"
        if words:
            return f"(prints all lines; here only those with “{words}”)"
        return f"(prints all lines; here the first {MOST_LINES:,})" if self._shown.cut else ""

    # the call under the cursor

    def details(self, row: Any, width: int) -> Iterable[Block]:  # noqa: ARG002
        """The call, explained; a finding; without one, that there is none."""
        self._explained = None
        self._part = None if self._shown is None else TraceDetail(self._shown.report.directory)
        if isinstance(row, TraceFinding) and self._part is not None:
            return self._part.of_finding(row)
        if not isinstance(row, ShownLine) or self._shown is None or self._part is None:
            nothing = self._shown is not None and not self._work.busy
            return (Paragraph("No finding." if self._findings else "No call matches."),) if nothing else ()
        if row.row is None:
            return ()
        if not self._work.busy and row.row.operator is not None:
            self._explained = explained_answer(self.session, row.row.number)
        return self._part.of_call(view_of(self.session), self._shown.report, row.row, self._explained)

    def show_details(self) -> None:
        """The same, and its command line where it is explained alone."""
        super().show_details()
        if self._explains:
            self._answer()

    def opens(self, item: Any) -> Any:
        """The slot of a step, or a line of Python."""
        if isinstance(item, Fact) and isinstance(item.link, Span):
            return item.link
        target = target_of(item)
        if isinstance(target, CallTarget):
            row = self.list.target
            name = str(target.operator) if target.operator is not None else operator_of(row)
            return None if name is None else spot_in(self.session, name, target.key)
        return None

    def place_of(self, row: Any) -> Span | None:
        """The line of Python."""
        places = row.places if isinstance(row, TraceFinding) else (row.place,)
        return span_of(places[0]) if places and places[0] is not None else None

    # keys

    def chosen(self, row: Any) -> None:
        """Go to the table of the operator, at the slot of its first kernel; of a finding, to the slot."""
        if isinstance(row, ShownLine) and row.row is None:
            self.detail.focus()
            return
        name = operator_of(row)
        if name is None:
            return
        if isinstance(row, TraceFinding):
            spot = spot_in(self.session, name, row.key)
        else:
            spot = spot_of_call(self.session, row.row)
        if spot is None:
            self.notify(f"The state has no operator {name}.", severity="warning")
        else:
            self.post_message(self.Went(spot, "slot" if isinstance(row, TraceFinding) and spot.key else "table"))

    def action_only(self) -> None:
        """Show only calls with something to do about, then those with one fact, then all."""
        at = ONLY.index(self._asked.facts)
        self._asked = self._asked._replace(facts=ONLY[(at + 1) % len(ONLY)])
        self._read()

    def action_this(self) -> None:
        """Show only calls of the operator under the cursor, or all."""
        name = None
        if self._asked.operator is None:
            name = operator_of(self.list.target) or (None if self.spot.operator is None else str(self.spot.operator))
            if name is None:
                self.notify("There is no operator here.")
        self._asked = self._asked._replace(operator=name)
        self._read()

    def action_findings(self) -> None:
        """The findings in the place of the calls, or the calls again."""
        self._findings = not self._findings
        if self._explains:
            self.action_explain()
        self.refill()
        self._answer()

    def action_explain(self) -> None:
        """The call under the cursor alone, or the calls again."""
        row = self.list.target
        if not self._explains and (not isinstance(row, ShownLine) or self._explained is None):
            self.notify("There is no call to explain here.")
            return
        self._explains = not self._explains
        self.set_class(self._explains, "-no-list")
        (self.detail if self._explains else self.list).focus()
        self._answer()

    def action_copy_explained(self) -> None:
        """Copy the command line that explains the call."""
        copy_command(self.app, self._explained)
