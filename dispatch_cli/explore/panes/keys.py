"""The dispatch keys: how they are made of functionalities and backends, aliases, and one key in detail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

from textual.binding import Binding, BindingType
from textual.widgets import Input

from dispatch_cli.answers.keys import document as keys_documents
from dispatch_cli.answers.keys import key_document as key_documents
from dispatch_cli.answers.keys.key import KeyKind
from dispatch_cli.answers.keys.registrations import KeyRegistrationsReport, RegisteredKernel
from dispatch_cli.answers.keys.registrations_document import KERNELS
from dispatch_cli.answers.keys.report import UniverseReport
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.answers.keys import key_answer, keys_answer, registered_answer
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.views.list_pane import ListPane
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import Block, Column, Narrow, Run, TableBlock, Tone
from dispatch_cli.render.words import plural


class KeyLine(NamedTuple):
    """A key in the list. slots: of a functionality, or those that an alias key covers; 0 for a key that is one."""

    key: str
    kind: KeyKind
    functionality: str
    backend: str
    slots: int


_KINDS = {
    KeyKind.RUNTIME: Run("runtime"),
    KeyKind.ALIAS: Run("alias", Tone.ALIAS),
    KeyKind.FUNCTIONALITY: Run("functionality", Tone.FALLBACK),
    KeyKind.UNDEFINED: Run("undefined", Tone.DIM),
}
_COLUMNS: list[Column[KeyLine]] = [
    Column("Key", lambda row, _: row.key),
    Column("Kind", lambda row, _: _KINDS[row.kind]),
    Column("Functionality", lambda row, _: row.functionality, Narrow.DROP, optional=True),
    Column("Backend", lambda row, _: row.backend, Narrow.DROP, optional=True),
    Column("Slots", lambda row, _: str(row.slots) if row.slots else "", optional=True, right=True),
]


class KeysPane(ListPane):
    """All keys, one in detail, and the operators that have a kernel there."""

    TITLE = "Keys"
    MARKS = (
        ("f > . '", "what PyTorch itself registers at a key as its fallback: explained below the keys"),
        ("Slots", "of a functionality, or covered by an alias key; Undefined counts where the key fills it"),
    )
    WORDS = "name, kind, functionality, backend"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "r",
            "registered",
            "Operators there",
            tooltip="List the operators with a kernel there, or the keys",
        ),
        Binding("escape,backspace", "back", "Back from the operators to the keys", show=False),
    ]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(session, id=id)
        self._state: State | None = None
        self._all: PaneAnswer | None = None
        self._registered: PaneAnswer | None = None
        self._shown: PaneAnswer | None = None
        self._matrix = True

    def open(self, spot: Spot) -> None:
        """Show the keys of the universe; the cursor follows the slot."""
        followed = spot.key is not None and spot.key != self.spot.key
        self.spot = spot
        if self.session.state is not self._state:
            self._state = self.session.state
            self._all = keys_answer(self.session)
            at = self._key
            self._registered = None if at is None else registered_answer(self.session, at)
            self.refill(keep=True)
        if followed and self._registered is None:
            self._point()

    @property
    def _key(self) -> str | None:
        """The key whose operators are listed."""
        return None if self._registered is None else self._registered.report.keys[0].key

    @property
    def _universe(self) -> Universe:
        return self.session.state.dispatcher.universe

    def _point(self, key: str | None = None) -> None:
        """Put the cursor on a key; None for that of the slot where the user is."""
        for number, row in enumerate(self.list.rows):
            if row.key == (key or self.spot.key):
                self.list.move_to(number)

    @property
    def remark(self) -> str:
        """The command of one key has nothing of the others."""
        return super().remark if self._registered is not None or self._shown is self._all else ""

    # the list

    def rows(self) -> Sequence[Any]:
        """Alias keys in the order of the rules, functionalities by priority, Undefined and runtime keys by slot."""
        if self._registered is not None:
            registered: KeyRegistrationsReport = self._registered.report
            return registered.keys[0].kernels
        if self._all is None:
            return ()
        report: UniverseReport = self._all.report
        runtime = [KeyLine(row.key, KeyKind.RUNTIME, row.functionality, row.backend or "", 0) for row in report.keys]
        aliases = (KeyLine(row.alias, KeyKind.ALIAS, "", "", row.slots) for row in report.aliases)
        blocks = (
            KeyLine(row.functionality, KeyKind.FUNCTIONALITY, "", "", len(row.keys))
            for row in report.functionalities
            if row.per_backend
        )
        undefined = KeyLine(self._universe.slots[0], KeyKind.UNDEFINED, "", "", 0)
        return [*aliases, *blocks, undefined, *runtime]

    def table(self, rows: Sequence[Any]) -> TableBlock[Any]:
        """The keys, or the operators with a kernel at one."""
        return TableBlock(_COLUMNS if self._registered is None else KERNELS, rows)

    def words_of(self, row: Any) -> str:
        """Text that the filter searches."""
        if isinstance(row, RegisteredKernel):
            return f"{row.operator} {row.kernel} {row.span or ''}"
        return f"{row.key} {_KINDS[row.kind].text} {row.functionality} {row.backend}"

    def title(self, shown: int, count: int) -> Iterable[str | tuple[str, str]]:
        """Name of this universe, or of the chosen key."""
        if self._registered is not None:
            yield (f"{plural(count, 'operator')} with a kernel at {self._key}", "bold")
            yield "; r: back to the keys"
        elif self._all is not None:
            report: UniverseReport = self._all.report
            yield (f"{report.universe}: {plural(len(report.keys), 'runtime key')}", "bold")
            slots = f", {keys_documents.slot_count(report)} slots with Undefined"
            yield f"{slots}; {plural(len(report.aliases), 'alias key')}"
        if shown != count:
            yield f"; {shown:,} listed"
        if self._registered is None and self._all is not None:
            yield "\n"
            yield "Calls (3), then s: the keys of a tensor"

    def show_details(self) -> None:
        """All keys as a matrix, until the cursor was moved; then a key."""
        row = self.list.target
        if self._registered is not None:
            self._shown = key_answer(self.session, self._key or "")
            self.answered(self._registered)
        else:
            self._shown = self._all if self._matrix or row is None else key_answer(self.session, row.key)
            self.answered(self._shown)
        super().show_details()

    def details(self, row: Any) -> Iterable[Block]:  # noqa: ARG002
        """Blocks of the report, in the words of its command."""
        if self._shown is None:
            return ()
        report = self._shown.report
        if isinstance(report, UniverseReport):
            return keys_documents.document(report, universe=self._universe)
        return key_documents.document(report, universe=self._universe)

    def place_of(self, row: Any) -> Span | None:
        """Place of a kernel's declaration."""
        return row.span if isinstance(row, RegisteredKernel) else None

    def on_lines_view_moved(self) -> None:
        """A key takes the place of the matrix."""
        self._matrix = False

    def chosen(self, row: Any) -> None:
        """A key in detail, then the operators there; of these, to the operator."""
        if isinstance(row, RegisteredKernel):
            key = self._key if self._key in self._universe.slot else None
            self.go_to(Spot(OperatorName.parse(row.operator), key))
        elif self._matrix:
            self._matrix = False
            self.show_details()
        else:
            self.action_registered()

    def action_registered(self) -> None:
        """The operators with a kernel at the key under the cursor, or the keys again."""
        key, row = self._key, self.list.target
        if key is not None:
            self._registered = None
        elif isinstance(row, KeyLine):
            self._registered = registered_answer(self.session, row.key)
        else:
            self.notify("There is no key here.")
            return
        with self.prevent(Input.Changed):
            self.filter.value = ""
        self.refill()
        if key is not None:
            self._point(key)

    def action_back(self) -> None:
        """Go from the operators to the keys."""
        if self._registered is None or not self.list.has_focus:
            super().action_back()
        else:
            self.action_registered()
