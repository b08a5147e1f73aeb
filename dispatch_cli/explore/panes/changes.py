"""View “What if”: changes that are tried out, and what they lead to."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from dispatch_cli.engine.state import State
from dispatch_cli.explore.answers.changes import (
    KernelChoice,
    MadeChange,
    changes_document,
    kernel_choices,
    opened_by,
    possible_keys,
    registrations_answer,
    wanted_diff,
)
from dispatch_cli.explore.answers.table import DEFAULT_KEY
from dispatch_cli.explore.background import Background
from dispatch_cli.explore.session import PaneAnswer, Session
from dispatch_cli.explore.switch import registration_beside
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.explore.views.screens import Choose
from dispatch_cli.model.changes.change import Addition, Removal, Reordering
from dispatch_cli.model.changes.registration_names import NamedRegistration
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.document import Column, TableBlock
from dispatch_cli.whatif.findings import FindingsEffect

_KEYS: tuple[Column[str], ...] = (Column("key", lambda row, _: row),)


class ChangesPane(Pane):
    """View “What if”: changes that are tried out."""

    TITLE = "What if"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "switch", "Off/on", tooltip="Switch the registration off; on a change, take it back"),
        Binding("a", "add", "Add", tooltip="Add a registration: choose its key and kernel"),
        Binding(
            "left_square_bracket",
            "move(-1)",
            "Earlier",
            key_display="[",
            tooltip="Make the registration one earlier",
        ),
        Binding("right_square_bracket", "move(1)", "Later", key_display="]", tooltip="Make the registration one later"),
        Binding("b", "fallbacks", "Fallbacks", tooltip="List the backend fallbacks, or the operator's registrations"),
    ]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002  (textual's name)
        super().__init__(session, id=id)
        self._searching = Background(self)
        self._diff: PaneAnswer | None = None
        self._compared: State | None = None
        self._of_fallbacks = False
        self._listed: list[NamedRegistration] = []

    @property
    def owner(self) -> OperatorName | None:
        """The operator whose registrations are listed; None for the backend fallbacks."""
        return None if self._of_fallbacks else self.spot.operator

    @property
    def there(self) -> list[NamedRegistration]:
        """Registrations that can be switched off or moved."""
        tried, owner = self.session.whatif, self.owner
        return [*tried.registrations(owner), *(() if owner is None else tried.registrations(owner, python=True))]

    def depends(self) -> tuple[Any, ...]:
        return self.spot.operator, self._of_fallbacks

    def begin(self) -> None:
        """Show the changes, and the registrations of the operator at the spot."""
        self._listed = self.there
        if self._compared is not self.session.state:
            self._compared = self.session.state
            self._searching.stop()
            self._compare()
        self.show()
        if not self.work.busy:
            self._search()

    def show(self) -> None:
        """Show the view, and the command line of what the changes lead to; without changes, of what is registered."""
        effect, diff = self.session.whatif.findings, self._diff
        registered = registrations_answer(self.session, self.owner, self._listed)
        report = None if diff is None else diff.report
        self.view.show(changes_document(self.session, registered, report, effect), self.opens, self._keeps)
        self._keeps = True
        self.answered(diff if self.session.whatif.changes else registered)

    def _compare(self) -> None:
        """Compare the states without and with the changes: in a thread where that is about all operators."""
        self._diff, self._doing = None, "Looking for what changes…"
        self.work.stop()
        tried = self.session.whatif
        wanted = wanted_diff(self.session) if tried.changes else None
        if wanted is not None and wanted.operators:
            self._diff = wanted.answer(self.session.original, self.session.state)
        elif wanted is not None:
            copies = tried.copies()
            self.work.start(lambda _: wanted.answer(*copies()), self.take, self.failed)

    def take(self, answer: PaneAnswer | None) -> None:
        """Show the differences."""
        self._diff = answer
        self.show()
        self._search()

    def _search(self) -> None:
        """Look for findings in a thread, where many operators have to be checked."""
        tried = self.session.whatif
        if tried.findings is not None or self._searching.busy:
            return
        changes, search = tried.changes, tried.search()

        def done(effect: FindingsEffect) -> None:
            if self.session.whatif.take(changes, effect):
                self.show()

        self._searching.start(lambda _: search(), done, self.failed)

    # the part under the cursor

    def opens(self, item: Any) -> Any:
        return opened_by(item, self._listed)

    # changes

    def action_switch(self) -> None:
        """Switch the registration under the cursor off; on a change, take it back."""
        item, tried = self.view.target, self.session.whatif
        if isinstance(item, MadeChange):
            self.try_out(lambda: tried.take_back(item.number))
        elif isinstance(item, NamedRegistration):
            self.try_out(lambda: tried.apply(Removal(item.name)))
        else:
            self.notify("x is for registrations, and for changes.")

    def action_move(self, by: int) -> None:
        """Make the registration under the cursor earlier or later than the one beside it."""
        item = self.view.target
        if not isinstance(item, NamedRegistration):
            self.notify("[ and ] are for registrations.")
            return
        beside = registration_beside(self.there, item, by)
        if beside is None:
            which = "first" if by < 0 else "last"
            self.notify(f"It is the {which} already of the registrations in your files that can change places.")
            return
        if self.try_out(lambda: self.session.whatif.apply(Reordering(item.name, beside.name, by > 0))):
            self.again()
            self.view.move_to(max(0, self.view.cursor + by + 1))

    def action_fallbacks(self) -> None:
        """List the backend fallbacks, or the operator's registrations again."""
        self._of_fallbacks = not self._of_fallbacks
        self.again()

    def action_add(self) -> None:
        """Choose a key, then what is registered there."""
        owner = self.owner
        if owner is None and not self._of_fallbacks:
            self.notify("Choose an operator.")
            return
        keys = possible_keys(self.session.original, aliases=owner is not None)
        whose = "the backend fallback" if owner is None else str(owner)
        self.app.push_screen(
            Choose(f"The dispatch key of {whose}", TableBlock(_KEYS, keys), self.spot.key or DEFAULT_KEY),
            lambda key: None if key is None else self._choose_kernel(owner, key),
        )

    def _choose_kernel(self, owner: OperatorName | None, key: str) -> None:
        choices = kernel_choices(owner, key, self.session.whatif.registrations(owner))
        table = TableBlock((Column("kernel", lambda row, _: row.words),), choices)

        def take(choice: KernelChoice | None) -> None:
            if choice is not None:
                self.try_out(lambda: self.session.whatif.apply(Addition(owner, key, choice.kernel)))

        self.app.push_screen(Choose(f"What is registered at {key}", table), take)
