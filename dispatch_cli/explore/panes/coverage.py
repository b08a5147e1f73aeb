"""Coverage of groups of operators on all backends, and of each operator on one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from dispatch_cli.answers.coverage.document import (
    OperatorFamily,
    about,
    columns,
    counted_blocks,
    overlay_blocks,
    row_text,
    trains,
    words,
)
from dispatch_cli.answers.coverage.overview import CoverageOverviewReport
from dispatch_cli.answers.coverage.overview_document import matrices, meaning
from dispatch_cli.answers.coverage.overview_document import title as overview_title
from dispatch_cli.answers.coverage.report import CoverageReport, CoverageRow
from dispatch_cli.answers.coverage.wording import SERVICE_NAMES, served_by, served_share
from dispatch_cli.engine.coverage.answers import CoveredBackend, Service
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.answers.coverage import backends, coverage_answer, overview_answer, served_so
from dispatch_cli.explore.blocks import Blocks, open_cell
from dispatch_cli.explore.lines_view import LinesView
from dispatch_cli.explore.list_pane import ListPane
from dispatch_cli.explore.screens import Choose
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import (
    Block,
    Column,
    Fact,
    Facts,
    Gap,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
)
from dispatch_cli.render.words import place_cell, plural

_BACKENDS: list[Column[CoveredBackend]] = [
    Column("Backend", lambda row, _: row.key),
    Column("Device", lambda row, _: row.device or ""),
    Column("Autograd", lambda row, _: row.autograd or ""),
]


class CoveragePane(ListPane):
    """All backends as a picture, of which each cell opens the list of its operators; or one backend."""

    TITLE = "Coverage"
    WORDS = "operator, what serves it, how it trains"
    DEFAULT_CSS = """
    CoveragePane > #overview { display: none; }
    CoveragePane.-all > #overview { display: block; }
    CoveragePane.-all > RowDetail { height: 4; }
    CoveragePane.-all > Rows, CoveragePane.-all > .top { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "backend", "Backend", tooltip="Choose another backend"),
        Binding("m", "overview", "All", tooltip="Show all backends at a glance"),
        Binding("escape,backspace", "back", "Back from a backend to all", show=False),
        Binding("v", "service", "Served by", tooltip="List the operators that are served in the next way"),
        Binding("n", "missing", "Missing", tooltip="List only the operators that are not served, or all"),
        Binding("i", "summary", "Counts", tooltip="Show the counts"),
    ]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(session, id=id)
        self.backend: str | None = None
        self._group: tuple[str, ...] = ()
        self._service: Service | None = None
        self._missing = False
        self._whole: PaneAnswer | None = None
        self._state: State | None = None
        self._rows: Sequence[CoverageRow] = ()
        self._facts: dict[Fact, Any] = {}
        self._counts = True
        self.overview = Blocks(id="overview")

    def compose(self) -> ComposeResult:
        yield self.overview
        yield from super().compose()

    def open(self, spot: Spot) -> None:
        """Show the coverage; the cursor follows the operator."""
        moved = spot.operator is not None and spot.operator != self.spot.operator
        self.spot = spot
        if self.session.state is not self._state:
            self._answer()
        elif moved:
            self._point()

    def _answer(self) -> None:
        """Answer for the backend that is chosen; a state or two can be seen in a moment, so not in a thread."""
        self._state = self.session.state
        self._counts = True
        self.set_class(self.backend is None, "-all")
        if self.backend is None:
            answer = overview_answer(self.session)
            self.overview.show(_overview(answer.report), open_cell)
            self.answered(answer)
            self.show_details()
            return
        self._whole = coverage_answer(self.session, self.backend, self._group)
        self.refill()

    @property
    def _report(self) -> CoverageReport | None:
        """Coverage of all operators."""
        return None if self._whole is None else self._whole.report

    def refill(self, keep: bool = False) -> None:
        """Show the rows anew, and the command that lists them."""
        answer = None if self._whole is None else served_so(self._whole, self._service)
        rows: Sequence[CoverageRow] = () if answer is None else answer.report.operators
        self._rows = [row for row in rows if row.served is False] if self._missing else rows
        super().refill(keep)
        self.answered(answer)

    def chosen_rows(self) -> Iterable[str]:
        """The choice of operators that are not served, in words."""
        return ("that are not served",) if self._missing else ()

    def _point(self) -> None:
        """Put the cursor on the operator that the user is at."""
        for number, row in enumerate(self.list.rows):
            if row.operator == str(self.spot.operator):
                self.list.move_to(number)
                return

    # the list

    def rows(self) -> Sequence[CoverageRow]:
        """Rows that the keys and the filter choose."""
        return self._rows

    def table(self, rows: Sequence[Any]) -> TableBlock[Any]:
        """The operators."""
        if self._report is None:
            return TableBlock((), ())
        return TableBlock([_of_family(column) for column in columns(self._report) if column.header != "Variants"], rows)

    def words_of(self, row: Any) -> str:
        """Text that the filter searches."""
        return row_text(row)

    def title(self, shown: int, count: int) -> Iterable[str | tuple[str, str]]:  # noqa: ARG002
        """Number of operators that are served, and the choice of rows."""
        report = self._report
        if report is None:
            yield (f"{self.backend} is no backend of this universe; b chooses one", "bold")
            return
        yield (f"{report.backend.key}: {served_share(report)}", "bold")
        if how := served_by(report):
            yield f": {how}"
        yield "\n"
        yield about(report)
        if (names := self.session.state.higher_order_names) and not self._group:
            yield f"; without {plural(len(names), 'higher-order operator')}, which no backend has kernels for"
        service = self._service
        chosen = [f"served by: {SERVICE_NAMES[service]}"] if service is not None else []
        chosen += ["not served"] if self._missing else []
        if chosen or shown != report.chosen:
            yield f"; {shown:,} listed{': ' if chosen else ''}{', '.join(chosen)}"

    def details(self, row: Any, width: int) -> Iterable[Block]:  # noqa: ARG002
        """The counts, until the cursor was moved; then an operator. Of all backends, a cell."""
        if self.backend is None:
            yield Paragraph("" if self.overview.target is None else self.overview.target.title)
            return
        report = self._report
        if report is None:
            return
        if self._counts or row is None:
            yield from overlay_blocks(report)
            yield from counted_blocks(report)
            return
        name, autograd, covered = OperatorName.parse(row.operator), report.backend.autograd, row.covered
        facts = [(Fact("operator", Run(row.operator, Tone.HEAD)), Spot(name))]
        facts.append(
            (Fact("served by", (Run(words(row)), Run(f"  {row.kernel or ''}", Tone.DIM))), Spot(name, covered.slot))
        )
        facts.append((Fact("slot", f"{covered.slot} [{covered.rule.dump_text}]"), Spot(name, covered.slot)))
        if autograd is not None:
            rule = "" if covered.autograd_rule is None else f" [{covered.autograd_rule.dump_text}]"
            facts.append((Fact("trains by", trains(row)), Spot(name, autograd)))
            facts.append((Fact("autograd slot", f"{autograd}{rule}"), Spot(name, autograd)))
        else:
            facts.append((Fact("trains by", trains(row)), Spot(name)))
        if covered.blockers:
            facts.append((Fact("because of", ", ".join(covered.blockers)), Spot(name, covered.slot)))
        place: list[tuple[Fact, Any]] = []
        if row.span is not None or row.origin.state is not None:
            place.append((Fact("declared at", place_cell(row.span, row.origin)), row.span))
        self._facts = {**dict(facts), **dict(place)}
        yield Facts([*self._facts], tone=Tone.DIM)
        yield Gap()

    def opens(self, item: Any) -> Any:
        """The slots of an operator, and the place of its kernel."""
        return self._facts.get(item) if isinstance(item, Fact) else None

    def place_of(self, row: Any) -> Span | None:
        """Place of the kernel's declaration."""
        return row.span if isinstance(row, CoverageRow) else None

    def show_details(self) -> None:
        """Show the details as for every list; the counts are there until the cursor was moved."""
        self._facts = {}
        super().show_details()

    def on_lines_view_moved(self) -> None:
        """An operator takes the place of the counts."""
        self._counts = False

    @on(LinesView.Moved, "#overview")
    @on(Blocks.LaidOut, "#overview")
    def _at_cell(self) -> None:
        self.show_details()

    @on(LinesView.Opened, "#overview")
    def _cell_opened(self, event: LinesView.Opened) -> None:
        event.stop()
        self._service, self._missing = None, False
        self._show(*event.target.target)

    def _show(self, backend: str | None, group: tuple[str, ...] = ()) -> None:
        """Show a backend, or all. group: the options that choose operators."""
        self.backend, self._group = backend, group
        self._answer()
        if backend is None:
            self.overview.focus()
        elif self.overview.has_focus:
            self.list.focus()

    def spot_at(self, row: Any) -> Spot | None:
        """The operator's slot at the backend."""
        return Spot(OperatorName.parse(row.operator), row.covered.slot)

    # keys

    def action_backend(self) -> None:
        """Choose a backend from a list."""
        known = backends(self.session)
        now = next((backend for backend in known if backend.key == self.backend), None)
        self.app.push_screen(Choose("Coverage of which backend?", TableBlock(_BACKENDS, known), now), self.take)

    def take(self, backend: CoveredBackend | None) -> None:
        """Show another backend; None for the one that is shown."""
        if backend is not None:
            self._show(backend.key, self._group)

    def action_filter(self) -> None:
        """The keys go to the filter; of all backends, over the list of the cell under the cursor."""
        if self.backend is None:
            cell = self.overview.target
            self._show(*((backends(self.session)[0].key,) if cell is None else cell.target))
        super().action_filter()

    def action_overview(self) -> None:
        """All backends at a glance."""
        self._show(None)

    def action_back(self) -> None:
        """Go from a backend to all."""
        if self.backend is None:
            raise SkipAction
        self._show(None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """textual's: of all backends, there is no list."""
        if self.backend is None and action in ("overview", "service", "missing", "summary", "edit_place"):
            return False
        return super().check_action(action, parameters)

    def action_service(self) -> None:
        """Show only what is served in the next way."""
        services = [] if self._report is None else [*dict.fromkeys(row.service for row in self._report.services)]
        values = [None, *services]
        at = values.index(self._service) if self._service in values else -1
        self._service = values[(at + 1) % len(values)]
        self.refill()

    def action_missing(self) -> None:
        """Show only what nothing serves, or all."""
        self._missing, self._service = not self._missing, None
        self.refill()

    def action_summary(self) -> None:
        """The counts, in the place of the details."""
        self._counts = True
        self.show_details()


def _overview(report: CoverageOverviewReport) -> list[Block]:
    title = Paragraph(overview_title(report), kind=ParagraphKind.TITLE)
    return [title, Paragraph(meaning(report)), *matrices(report, in_viewer=True)]


def _of_family(column: Column[OperatorFamily]) -> Column[CoverageRow]:
    """A column over families of operators, for one operator alone."""
    return Column(
        column.header,
        lambda row, short: column.cell(OperatorFamily(row.operator, (), row), short),
        column.narrow,
        column.optional,
        column.wraps,
        column.right,
        column.short_header,
    )
