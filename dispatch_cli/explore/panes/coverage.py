"""Coverage of groups of operators on all backends, and of each operator on one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from dispatch_cli.answers.coverage import document as coverage_documents
from dispatch_cli.answers.coverage import overview_document
from dispatch_cli.answers.coverage.overview import CoverageOverviewReport, overview_report
from dispatch_cli.answers.coverage.report import CoverageRow, coverage_report, with_tags
from dispatch_cli.answers.coverage.wording import SERVICE_NAMES
from dispatch_cli.answers.shared.selection import select_names
from dispatch_cli.engine.backend_answers import CoveredBackend, Service, backend_named, backend_of
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.views.blocks import open_cell
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.explore.views.screens import Choose
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import backend_keys
from dispatch_cli.render.document import Block, Column, MatrixCell, Paragraph, TableBlock

_BACKENDS: list[Column[CoveredBackend]] = [
    Column("Backend", lambda row, _: row.key),
    Column("Device", lambda row, _: row.device or ""),
    Column("Autograd", lambda row, _: row.autograd or ""),
]


class CoveragePane(Pane):
    """All backends as a picture, of which each cell opens the list of its operators; or one backend."""

    TITLE = "Coverage"
    BELOW = True
    FILTER = "operator, what serves it, how it trains"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "backend", "Backend", tooltip="Choose another backend"),
        Binding("m,escape,backspace", "overview", "All", tooltip="Show all backends at a glance"),
    ]
    backend: str | None = None
    group: tuple[str, ...] = ()

    def depends(self) -> tuple[Any, ...]:
        return self.backend, self.group, self.served_by

    @property
    def served_by(self) -> tuple[Service, ...]:
        """The service that the words of the filter name, which the command can choose, too; none for other words."""
        return tuple(service for service, name in SERVICE_NAMES.items() if name == self.words.lower())

    def begin(self) -> None:
        """Answer at once: a state or two can be seen in a moment."""
        if self.backend is None:
            self.take(overview_answer(self.session))
        else:
            self.take(coverage_answer(self.session, self.backend, self.group, self.served_by))

    def document(self, answer: PaneAnswer) -> Iterable[Block]:
        if isinstance(answer.report, CoverageOverviewReport):
            return overview_document.document(answer.report, most=None)
        return coverage_documents.document(answer.report)

    def nothing(self) -> str:
        return f"{self.backend} is no backend of this universe; b chooses one."

    def opens(self, item: Any) -> Any:
        return item if isinstance(item, CoverageRow) else open_cell(item)

    def is_here(self, target: Any) -> bool:
        """The cursor follows the operator."""
        return isinstance(target, CoverageRow) and target.operator == str(self.spot.operator)

    def described(self, target: Any) -> Iterable[Block]:
        return [Paragraph(target.title)] if isinstance(target, MatrixCell) else ()

    def go_to(self, target: Any) -> None:
        """From a cell to the list of its operators, from there to the slot at the backend."""
        if isinstance(target, CoverageRow):
            super().go_to(Spot(OperatorName.parse(target.operator), target.covered.slot))
        else:
            self.show_backend(*target.target)

    def show_backend(self, backend: str | None, group: tuple[str, ...] = ()) -> None:
        """Show a backend from its top, or all, which have no filter. group: the options that choose operators."""
        self.backend, self.group = backend, group
        if backend is None:
            self.words = ""
        self.again()
        self.view.action_end(-1)

    def filter(self, words: str | None) -> None:
        """Show only rows with some words, or those with a service."""
        before = self.served_by
        self.words = self.words if words is None else words
        if self.served_by != before:
            self.again()
        else:
            super().filter(words)

    def filters(self) -> str:
        """No words where they name a service: then the answer has no other rows."""
        return "" if self.served_by else self.words

    def action_backend(self) -> None:
        """Choose a backend from a list."""
        universe = self.session.state.dispatcher.universe
        known = [backend_of(universe, key) for key in backend_keys(universe)]
        now = next((backend for backend in known if backend.key == self.backend), None)

        def take(backend: CoveredBackend | None) -> None:
            if backend is not None:
                self.show_backend(backend.key, self.group)

        self.app.push_screen(Choose("Coverage of which backend?", TableBlock(_BACKENDS, known), now), take)

    def action_overview(self) -> None:
        """All backends at a glance."""
        self.show_backend(None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """textual's: of all backends, there is no list."""
        if self.backend is None and action in ("overview", "filter", "edit"):
            return False
        return super().check_action(action, parameters)


def coverage_answer(
    session: Session, key: str, group: tuple[str, ...] = (), served_by: tuple[Service, ...] = ()
) -> PaneAnswer | None:
    """Coverage of the operators at a backend's key; None if the key is no backend's.

    group: the options of the command that choose them; none for all. served_by: list only those that are served so.
    """
    state = session.state
    backend = backend_named(state.dispatcher.universe, key)
    if backend is None:
        return None
    all_names = state.dispatcher.names()
    by_name = select_names(all_names, group[1]) if group[:1] == ("--op",) else all_names
    names, tags = [OperatorName.parse(name) for name in by_name], group[1:] if group[:1] == ("--tag",) else ()
    names = with_tags(state, names, tags) if tags else names
    report = coverage_report(state, backend, names, tags, served_by=served_by)
    ways = [word for service in served_by for word in ("--served-by", service.value)]
    return PaneAnswer(report, session.command("coverage", *group, *ways, before=(key,)))


def overview_answer(session: Session) -> PaneAnswer:
    """Groups of operators on all backends."""
    names = [OperatorName.parse(name) for name in session.state.dispatcher.names()]
    command = session.command("coverage")
    return PaneAnswer(overview_report(session.state, names, arguments=command[1:]), command)
