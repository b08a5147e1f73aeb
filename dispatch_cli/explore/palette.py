"""Entries of the command palette: views, actions, operators, and slots of the operator in front."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, Protocol, cast

from textual.binding import Binding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.dom import DOMNode

from dispatch_cli.engine.coverage.backend import CoveredBackend
from dispatch_cli.explore.catalogue import Catalogue, spot_of
from dispatch_cli.explore.fuzzy import matched
from dispatch_cli.explore.panes.coverage import CoveragePane
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.stage import PaneStage
from dispatch_cli.render.text_safety import safe

MOST = 20
"""Operators that are shown at most; the list of operators has all."""

_NOT_COMMANDS = ("choose", "open", "submit", "move", "page", "end", "across", "list", "pane", "command_palette")
"""Actions that are for the hand at a cursor, that are listed as views, or that open this."""


class PaletteEntry(NamedTuple):
    """A command. run: what it does."""

    title: str
    help: str
    run: Callable[[], Any]


class Explorer(Protocol):
    """Parts of the application that the commands need."""

    session: Session
    catalogue: Catalogue
    stage: PaneStage
    front: str

    @property
    def spot(self) -> Spot:
        """Current spot of the user."""

    async def go(self, spot: Spot, pane: str | None = None) -> None:
        """Go to a place."""

    async def action_pane(self, pane: str) -> None:
        """Bring a view to the front."""


class ExploreCommands(Provider):
    """The commands of the explorer."""

    @property
    def explorer(self) -> Explorer:
        """The application."""
        return cast(Explorer, self.app)

    async def discover(self) -> Hits:
        for command in self._commands():
            yield DiscoveryHit(Content(command.title), command.run, command.title, command.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command in (*self._commands(), *self._slots(), *self._backends()):
            whole = all(word in command.title.lower() for word in query.lower().split())
            letters = 0 if whole else matcher.match(command.title)
            score = 1.0 if whole else 0.3 * letters / (1 + letters)  # operators are between the two
            if score > 0:
                yield Hit(score, marked_text(command.title, query), command.run, command.title, command.help)
        async for hit in self._operators(query):
            yield hit

    def _commands(self) -> Iterator[PaletteEntry]:
        app = self.explorer
        for entry in app.stage.entries.values():
            yield PaletteEntry(f"View: {entry.title}", f"Key {entry.key}", partial(app.action_pane, entry.id))
        actions = {active.binding.action: active for active in reversed(self.screen.active_bindings.values())}
        for active in reversed(actions.values()):
            binding = active.binding
            if active.enabled and binding.description and _is_own(active.node, binding):
                run = partial(self.app.run_action, binding.action, active.node)
                title = binding.tooltip or binding.description
                yield PaletteEntry(title, f"Key {self.app.get_key_display(binding)}", run)

    def _slots(self) -> Iterator[PaletteEntry]:
        app, spot = self.explorer, self.explorer.spot
        if (spot.operator is None and spot.higher_order is None) or "slot" not in app.stage.entries:
            return
        for key in app.session.state.dispatcher.universe.slots:
            title = f"Slot: {key}"
            yield PaletteEntry(title, "Of the operator in front", partial(app.go, spot._replace(key=key), "slot"))

    def _backends(self) -> Iterator[PaletteEntry]:
        from dispatch_cli.explore.answers.coverage import backends

        for backend in backends(self.explorer.session):
            yield PaletteEntry(f"Coverage: {backend.key}", "What serves each operator", partial(self._cover, backend))

    async def _cover(self, backend: CoveredBackend) -> None:
        await self.explorer.action_pane("coverage")
        view = self.explorer.stage.views["coverage"]
        if isinstance(view, CoveragePane):  # it failed otherwise, and says so
            view.take(backend)

    async def _operators(self, query: str) -> AsyncIterator[Hit]:
        app = self.explorer
        best = app.catalogue.find(query)[:MOST] if query.strip() else []
        for number, which in enumerate(best):
            entry = app.catalogue.entries[which]
            run = partial(app.go, spot_of(entry), app.front)
            score = 0.9 - number / 100
            yield Hit(score, marked_text(entry.name, query), run, safe(entry.name), "Operator")


def _is_own(node: DOMNode, binding: Binding) -> bool:
    """True if a key is worth a command: not one that textual gives its widgets, and none that moves a cursor."""
    own = (kind for kind in type(node).__mro__ if kind.__module__.startswith("dispatch_cli."))
    keys = {binding.key for kind in own for binding in Binding.make_bindings(kind.__dict__.get("BINDINGS", ()))}
    return binding.key in keys and binding.action.partition("(")[0] not in _NOT_COMMANDS


def marked_text(text: str, query: str) -> Content:
    """A text whose letters that were found are marked."""
    places = set(matched(text, query))
    return Content.assemble(*((safe(sign), "bold underline" if at in places else "") for at, sign in enumerate(text)))
