"""Coverage of groups of operators on all backends, and of each operator on one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from dispatch_cli.answers.coverage.document import (
    about,
    columns,
    overlay_blocks,
    row_text,
    served_blocks,
)
from dispatch_cli.answers.coverage.overview import overview_report
from dispatch_cli.answers.coverage.overview_document import matrices, meaning
from dispatch_cli.answers.coverage.overview_document import title as overview_title
from dispatch_cli.answers.coverage.report import CoverageReport, CoverageRow, coverage_report, with_tags
from dispatch_cli.answers.coverage.wording import served_by, served_share
from dispatch_cli.answers.shared.selection import select_names
from dispatch_cli.engine.coverage.answers import CoveredBackend, backend_named, backend_of
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.keys.autograd import backend_keys
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.views.blocks import Blocks, open_cell
from dispatch_cli.explore.views.lines_view import LinesView
from dispatch_cli.explore.views.list_pane import ListPane
from dispatch_cli.explore.views.screens import Choose
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Column, Paragraph, ParagraphKind, TableBlock
from dispatch_cli.render.words import plural

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
    CoveragePane.-all > #detail { height: 4; }
    CoveragePane.-all > Rows, CoveragePane.-all > .top { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "backend", "Backend", tooltip="Choose another backend"),
        Binding("m", "overview", "All", tooltip="Show all backends at a glance"),
        Binding("escape,backspace", "back", "Back from a backend to all", show=False),
    ]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(session, id=id)
        self.backend: str | None = None
        self._group: tuple[str, ...] = ()
        self._state: State | None = None
        self._report: CoverageReport | None = None
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
            names = [row.operator for row in self.list.rows]
            if str(spot.operator) in names:
                self.list.move_to(names.index(str(spot.operator)))

    def _answer(self) -> None:
        """Answer for the backend that is chosen; a state or two can be seen in a moment, so not in a thread."""
        self._state = self.session.state
        self.set_class(self.backend is None, "-all")
        if self.backend is None:
            overview = overview_answer(self.session)
            title = Paragraph(overview_title(overview.report), kind=ParagraphKind.TITLE)
            pictures = matrices(overview.report, most=None)
            self.overview.show([title, Paragraph(meaning(overview.report)), *pictures], open_cell)
            self.answered(overview)
            self.show_details()
            return
        answer: PaneAnswer | None = coverage_answer(self.session, self.backend, self._group)
        self._report = None if answer is None else answer.report
        self.refill()
        self.answered(answer)

    # the list

    def rows(self) -> Sequence[CoverageRow]:
        """The operators."""
        return () if self._report is None else self._report.operators

    def table(self, rows: Sequence[Any]) -> TableBlock[Any]:
        """The operators."""
        if self._report is None:
            return TableBlock((), ())
        return TableBlock(columns(self._report), rows)

    def words_of(self, row: Any) -> str:
        """Text that the filter searches."""
        return row_text(row)

    def title(self, shown: int, count: int) -> Iterable[str | tuple[str, str]]:
        """Number of operators that are served."""
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
        if shown != count:
            yield f"; {shown:,} listed"

    def details(self, row: Any) -> Iterable[Block]:  # noqa: ARG002
        """The counts; of all backends, a cell."""
        if self.backend is None:
            return [Paragraph("" if self.overview.target is None else self.overview.target.title)]
        if self._report is None:
            return ()
        return [*overlay_blocks(self._report), *served_blocks(self._report, self._report.backend.key)]

    def place_of(self, row: Any) -> Span | None:
        """Place of the kernel's declaration."""
        return row.span if isinstance(row, CoverageRow) else None

    @on(LinesView.Moved, "#overview")
    @on(Blocks.LaidOut, "#overview")
    def _at_cell(self) -> None:
        self.show_details()

    @on(LinesView.Opened, "#overview")
    def _cell_opened(self, event: LinesView.Opened) -> None:
        event.stop()
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

        def take(backend: CoveredBackend | None) -> None:
            if backend is not None:
                self._show(backend.key, self._group)

        self.app.push_screen(Choose("Coverage of which backend?", TableBlock(_BACKENDS, known), now), take)

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
        if self.backend is None or not self.list.has_focus:
            super().action_back()
        else:
            self._show(None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """textual's: of all backends, there is no list."""
        if self.backend is None and action in ("overview", "edit_place"):
            return False
        return super().check_action(action, parameters)


def coverage_answer(session: Session, key: str, group: tuple[str, ...] = ()) -> PaneAnswer | None:
    """Coverage of the operators at a backend's key; None if the key is no backend's.

    group: the options of the command that choose them; none for all.
    """
    state = session.state
    backend = backend_named(state.dispatcher.universe, key)
    if backend is None:
        return None
    all_names = state.dispatcher.names()
    by_name = select_names(all_names, group[1]) if group[:1] == ("--op",) else all_names
    names, tags = [OperatorName.parse(name) for name in by_name], group[1:] if group[:1] == ("--tag",) else ()
    names = with_tags(state, names, tags) if tags else names
    report = coverage_report(state, backend, names, tags)
    return PaneAnswer(report, session.command("coverage", *group, before=(key,)))


def overview_answer(session: Session) -> PaneAnswer:
    """Groups of operators on all backends."""
    names = [OperatorName.parse(name) for name in session.state.dispatcher.names()]
    return PaneAnswer(overview_report(session.state, names), session.command("coverage"))


def backends(session: Session) -> list[CoveredBackend]:
    """The backends that can be asked for."""
    universe = session.state.dispatcher.universe
    return [backend_of(universe, key) for key in backend_keys(universe)]
