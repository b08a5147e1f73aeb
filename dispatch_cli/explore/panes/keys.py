"""The dispatch keys: all of them, one in detail, and the operators that have a kernel there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from dispatch_cli.answers.keys import document as keys_documents
from dispatch_cli.answers.keys import key_document as key_documents
from dispatch_cli.answers.keys import registrations_document
from dispatch_cli.answers.keys.key import key_report, kind_of
from dispatch_cli.answers.keys.registrations import KeyRegistrationsReport, RegisteredKernel, key_registrations_report
from dispatch_cli.answers.keys.report import UniverseReport, universe_report
from dispatch_cli.explore.answers.call import answer_of_keys
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.explore.views.screens import Choose
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.document import Block, Column, MatrixCell, Paragraph, TableBlock

_KEYS: list[Column[str]] = [Column("Key", lambda row, _: row)]


class KeysPane(Pane):
    """All keys, one in detail, or the operators that have a kernel there."""

    TITLE = "Keys"
    BELOW = True
    FILTER = "operator, kernel, place"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "key", "Key", tooltip="Choose a key by its name"),
        Binding(
            "r", "registered", "Operators there", tooltip="List the operators with a kernel at the key, or the key"
        ),
        Binding("escape,backspace", "back", "Back to all keys", show=False),
    ]
    key: str | None = None
    lists_operators = False

    def depends(self) -> tuple[Any, ...]:
        return self.key, self.lists_operators

    def begin(self) -> None:
        if self.key is None:
            self.take(keys_answer(self.session))
        else:
            self.take((registered_answer if self.lists_operators else key_answer)(self.session, self.key))

    def document(self, answer: PaneAnswer) -> Iterable[Block]:
        report, universe = answer.report, self.session.state.dispatcher.universe
        if isinstance(report, UniverseReport):
            return keys_documents.document(report, universe=universe)
        if isinstance(report, KeyRegistrationsReport):
            return registrations_document.document(report, full=True)
        return key_documents.document(report, universe=universe)

    def nothing(self) -> str:
        return f"Nothing can be registered at {self.key}."

    def opens(self, item: Any) -> Any:
        """A cell is a key; a row is a kernel."""
        if isinstance(item, MatrixCell | RegisteredKernel):
            return item
        return super().opens(item)

    def is_here(self, target: Any) -> bool:
        """The cursor follows the slot."""
        return isinstance(target, MatrixCell) and target.target == self.spot.key

    def described(self, target: Any) -> Iterable[Block]:
        return [Paragraph(target.title)] if isinstance(target, MatrixCell) else ()

    def go_to(self, target: Any) -> None:
        """A key in detail; of a kernel, to its slot."""
        if isinstance(target, RegisteredKernel):
            slots = self.session.state.dispatcher.universe.slot
            super().go_to(Spot(OperatorName.parse(target.operator), self.key if self.key in slots else None))
        else:
            self.show_key(_key_of(target))

    def show_key(self, key: str | None, lists_operators: bool = False) -> None:
        """Show a key, or all where it is None."""
        self.key, self.lists_operators = key, lists_operators
        self.again()

    def action_key(self) -> None:
        """Choose a key from a list."""
        keys = [*self.session.state.dispatcher.universe.ids]
        table = TableBlock(_KEYS, keys)
        self.app.push_screen(
            Choose("Which key?", table, self.spot.key), lambda key: None if key is None else self.show_key(key)
        )

    def action_registered(self) -> None:
        """The operators with a kernel at the key, or the key again; of all keys, that under the cursor."""
        self.show_key(self.key or _key_of(self.view.target), lists_operators=not self.lists_operators)

    def action_back(self) -> None:
        """Go back to all keys."""
        self.show_key(None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """textual's: from all keys, the key for back is the application's; only operators are filtered."""
        if action == "back" and self.key is None:
            return False
        return self.lists_operators if action == "filter" else super().check_action(action, parameters)


def _key_of(target: Any) -> Any:
    return target.target if isinstance(target, MatrixCell) else target


def keys_answer(session: Session) -> PaneAnswer:
    """All keys of the universe."""
    return answer_of_keys(session, universe_report(session.state.dispatcher.universe))


def key_answer(session: Session, key: str) -> PaneAnswer | None:
    """One key in detail; None where there is none of that name."""
    universe = session.state.dispatcher.universe
    return answer_of_keys(session, key_report(universe, key), (key,)) if kind_of(universe, key) else None


def registered_answer(session: Session, key: str) -> PaneAnswer | None:
    """The operators with a kernel at exactly that key; None where nothing can be registered there."""
    state = session.state
    universe = state.dispatcher.universe
    if key not in (*universe.slots[:1], *universe.keys_by_id):
        return None
    names = [OperatorName.parse(name) for name in state.dispatcher.names()]
    return PaneAnswer(key_registrations_report(state, (key,), names), session.command("register", "--key", key))
