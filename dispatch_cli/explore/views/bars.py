"""The lines above and below: the views, the command line, the keys."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.events import Resize
from textual.style import Style
from textual.widgets import Input, Static

from dispatch_cli.explore.panes import PaneEntry
from dispatch_cli.explore.session import PaneAnswer
from dispatch_cli.render.printed import safe

PROGRAM = "dispatch-cli"
_BETWEEN = " > "
_SHORT = 5
"""Letters of a cut name."""


class LinkLine(Static):
    """Texts, each of which a click acts on."""

    DEFAULT_CSS = "LinkLine { height: 1; }"
    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.auto_links = False  # they look as other texts

    def show_links(self, links: Iterable[tuple[str, str, str]], layout: bool = False) -> None:
        """Show texts, each with its style and the action of a click. layout: there can be other lines than before."""
        parts = ((text, Style.parse(style) + Style.from_meta({"@click": action})) for text, style, action in links)
        self.update(Content.assemble(*parts), layout=layout)


class Tabs(LinkLine):
    """The views with their keys; those in front are marked, and of these the one that the command line is of."""

    DEFAULT_CSS = "Tabs { background: $panel; color: $foreground; }"

    def __init__(self, entries: Sequence[PaneEntry]) -> None:
        super().__init__()
        self.entries = entries
        self.fronts: tuple[str, ...] = ()
        self.front = ""

    def show(self, fronts: tuple[str, ...], front: str) -> None:
        """Mark the views on the screen, and of these the one that has the command line."""
        if (fronts, front) != (self.fronts, self.front):
            self.fronts, self.front = fronts, front
            self._show_all()

    def _show_all(self) -> None:
        styles = dict.fromkeys(self.fronts, "bold underline") | {self.front: "bold reverse"}
        self.show_links(
            (label, styles[entry.id] if entry.id in self.fronts else "", f"app.pane('{entry.id}')")
            for entry, label in zip(self.entries, self._labels(), strict=True)
        )

    def _labels(self) -> list[str]:
        """Labels: keys and names; where there is no room for all, names of views that are not in front are cut."""
        whole = [f" {entry.key} {entry.title} " for entry in self.entries]
        if sum(map(len, whole)) <= self.size.width:
            return whole
        names = (entry.title if entry.id in self.fronts else _cut(entry.title) for entry in self.entries)
        return [f"{entry.key} {name} " for entry, name in zip(self.entries, names, strict=True)]

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002
        self._show_all()


def _cut(title: str) -> str:
    return title if len(title) <= _SHORT else f"{title[: _SHORT - 1]}…"


class Crumb(Static):
    """Crumbs: the view, the operator, the slot, and the state, which is cut where there is no room for it."""

    DEFAULT_CSS = """
    Crumb { height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def show(self, *parts: str | None) -> None:
        """Show where the user is; None for parts that do not apply."""
        text = Content(_BETWEEN.join(safe(part) for part in parts if part))
        if text != self.content:
            self.update(text, layout=False)


def command_line(answer: PaneAnswer) -> str:
    """The command line that prints an answer, as a shell takes it."""
    return shlex.join((PROGRAM, *answer.command))


class CommandBar(Static):
    """The command line of what is shown, or why there is none. It can be selected with the mouse."""

    DEFAULT_CSS = """
    CommandBar {
        height: auto; min-height: 2; max-height: 50vh; padding: 0 1; background: $surface; color: $foreground;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.line = ""
        self.note = ""

    def show(self, line: str, note: str = "") -> None:
        """line: empty where there is none. note: what has to be done before it can be used, or why there is none."""
        if (line, note) != (self.line, self.note):
            self.line, self.note = line, note
            self.update(self._whole())

    def _whole(self) -> Content:
        if not self.line:
            return Content.styled(self.note or "no command line: nothing is shown", "$text-muted")
        parts = [("$ ", "$text-muted"), (safe(self.line), "bold")]
        if self.note:
            parts.append((f"  {safe(self.note)}", "$text-warning"))
        return Content.assemble(*parts)


class KeyBar(LinkLine):
    """The keys that do something here: help, those of the view, then the others. A click presses one."""

    DEFAULT_CSS = "KeyBar { height: auto; padding: 0 1; background: $panel; color: $foreground; }"

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[tuple[str, str, str]] = []

    def on_mount(self) -> None:
        self._look_again()
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self._look_again())

    def on_resize(self) -> None:
        """Another width has room for other keys in a line."""
        self.show_links(self._links(), layout=True)

    def _look_again(self) -> None:
        """Take the keys that do something now; not those of a screen in front of this one."""
        keys = self._keys() if self.screen is self.app.screen else self.keys
        if keys != self.keys:
            self.keys = keys
            self.show_links(self._links(), layout=True)

    def _links(self) -> Iterator[tuple[str, str, str]]:
        """The keys with what they do, which are in one line."""
        left = room = self.content_size.width or self.app.size.width - 2
        for key, shown, text in self.keys:
            width = cell_len(f"{shown} {text}")
            if width > left < room:
                left = room
                yield "\n", "", ""
            left -= width + 2
            press = f"app.simulate_key('{key}')"
            yield shown, "bold", press
            yield f" {text}{'  ' * (left > 0)}", "", press

    def _keys(self) -> list[tuple[str, str, str]]:
        """Keys, their display and description; those of several views last, but for help."""
        keys: dict[str, tuple[str, str, str]] = {}
        common: dict[str, bool] = {}
        typing = isinstance(self.app.focused, Input)
        for active in self.screen.active_bindings.values():
            binding = active.binding
            shown = self.app.get_key_display(binding)
            if typing and len(shown) == 1 and shown.isascii():  # it is typed
                continue
            if binding.show and active.enabled and binding.action not in keys:
                keys[binding.action] = (binding.key, shown, binding.description)
                common[binding.action] = active.node is self.app and binding.action != "help"
        return [
            keys[action]
            for action in sorted(
                keys, key=lambda action: (common[action], action != "help", action in ("filter", "edit"))
            )
        ]
