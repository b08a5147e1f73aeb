"""Choosing the text of one part of a call: it can be typed, or put together from a list of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Label

from dispatch_cli.explore.blocks import Rows
from dispatch_cli.explore.call_choices import CallPart, WordChoice, as_typed, words_of
from dispatch_cli.explore.call_parts import PartLine
from dispatch_cli.explore.contained import Contained
from dispatch_cli.explore.lines_view import LinesView
from dispatch_cli.explore.text_input import TextInput
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import Column, Inline, Narrow, Run, TableBlock, Tone
from dispatch_cli.render.text_lines import TextLine

GIVEN, REFUSED = "x", "-"
"""The marks of words that are given, and of those that do not go together with these."""


class PlainRows(Rows):
    """Rows without a header."""

    def top_lines(self) -> Sequence[TextLine]:
        """No lines."""
        return ()


class _PartInput(TextInput):
    """The line to type in. Short texts all take the whole width: another one would mean a layout of the screen."""

    async def action_submit(self) -> None:
        """textual's. The chooser does it."""
        raise SkipAction

    @property
    def content_width(self) -> int:
        """The width of the text, or of the line."""
        return max(super().content_width, self.scrollable_content_region.width)


class Chooser(Contained, Vertical):
    """A line to type in, and below it the words to choose from. It is empty until it is opened.

    changed: called with the part and its text, once the text is another one whose last word is whole; at once, so that
    one frame shows the words and the answer. It returns why the text cannot be read; empty where it can.
    """

    DEFAULT_CSS = """
    Chooser { height: 1fr; display: none; }
    Chooser.-open { display: block; }
    Chooser > Label { width: 1fr; height: auto; text-style: bold; }
    Chooser > PlainRows { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Cursor up", show=False),
        Binding("down", "move(1)", "Cursor down", show=False),
        Binding("pageup", "page(-1)", "Cursor up by a page", show=False),
        Binding("pagedown", "page(1)", "Cursor down by a page", show=False),
        Binding("enter", "choose", "Choose", tooltip="Take the word under the cursor, or take it away"),
        Binding("escape", "done", "Done", tooltip="End the choice of words"),
    ]

    class Done(Message):
        """Choosing is over."""

    def __init__(
        self,
        universe: Universe,
        changed: Callable[[PartLine, str], str],
        *,
        id: str | None = None,  # noqa: A002  (textual's name)
    ) -> None:
        super().__init__(id=id)
        self.universe = universe
        self.changed = changed
        self.line: PartLine | None = None
        self._devices: Sequence[str] = ()
        self._given = ""
        self._shown = ""
        self._title = Label("", markup=False)
        self._input = _PartInput(select_on_focus=False)
        self._rows = PlainRows()
        self._rows.can_focus = False

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._input
        yield self._rows

    @property
    def is_open(self) -> bool:
        """Whether a part is being chosen."""
        return self.line is not None

    def start(self, line: PartLine, devices: Sequence[str] = ()) -> None:
        """Choose the text of a part. devices: of the call's tensors, whose contexts come first."""
        self.line = line
        self._devices = devices
        self._given = line.text
        self._title.update(f"{line.label.removeprefix('+ ')}: {_HINTS.get(line.part, _HINT)}")
        self.add_class("-open")
        with self.prevent(Input.Changed):
            self._write(line.text)
        self._show(everything=True)
        self.screen.set_focus(self._input)
        if self._is_one_word:
            self._input.action_select_all()  # what is typed or chosen takes its place

    def stop(self) -> None:
        """Choose nothing any more."""
        self.line = None
        self.remove_class("-open")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._follow()

    def _follow(self) -> None:
        """Show what goes with the text that is typed now, if that is not done yet."""
        text = self._input.value
        if self.line is not None and text != self._shown:
            if self.line.part is CallPart.TENSOR and self._input.cursor_position == len(text):
                text = as_typed(self.universe, text)
                if text != self._input.value:
                    with self.prevent(Input.Changed):
                        self._input.value = text
                        self._input.cursor_position = len(text)
            self._given = ""
            self._show()
            if not self._is_begun(text):
                self.changed(self.line, text)

    def on_lines_view_opened(self, event: LinesView.Opened) -> None:
        event.stop()
        self._choose(event.target)

    def on_lines_view_moved(self, event: LinesView.Moved) -> None:
        event.stop()

    def action_move(self, by: int) -> None:
        """The next word."""
        self._rows.action_move(by)

    def action_page(self, by: int) -> None:
        """A page of words on or back."""
        self._rows.action_page(by)

    def action_choose(self) -> None:
        """Take the word under the cursor, or take it away; without one, what is typed, if it can be read."""
        if self.line is None:
            return
        self._follow()
        if isinstance(self._rows.target, WordChoice):
            self._choose(self._rows.target)
        elif why := self.changed(self.line, self._input.value):
            self.notify(why, severity="warning")
        else:
            self.action_done()

    def action_done(self) -> None:
        """Leave it at what is written."""
        self.post_message(self.Done())

    def _choose(self, word: WordChoice) -> None:
        assert self.line is not None, "a part is being chosen"
        with self.prevent(Input.Changed):
            self._write(word.text, word.is_whole)
        self._input.focus()
        is_chosen = self._is_one_word and word.is_whole
        if is_chosen:
            self._given = word.text
            self._input.action_select_all()
        self._show(keep=True, everything=is_chosen)
        self.changed(self.line, self._input.value)

    def _write(self, text: str, is_whole: bool = True) -> None:
        """Write a text, after which further words of a tensor can be typed."""
        is_tensor = self.line is not None and self.line.part is CallPart.TENSOR
        self._input.value = f"{text} " if text and is_whole and is_tensor else text
        self._input.cursor_position = len(self._input.value)

    def _is_begun(self, text: str) -> bool:
        """Whether the last word is only the beginning of one in the list; the call stays as it is for so long."""
        last = text if self.line is not None and self.line.part is CallPart.CONTEXT else text.rpartition(" ")[2]
        words = [one.word for one in self._rows.rows]
        return bool(last) and last not in words and any(word.startswith(last) for word in words)

    @property
    def _is_one_word(self) -> bool:
        """Whether the part has one word, so that another one takes its place."""
        return self.line is not None and self.line.part not in (CallPart.TENSOR, CallPart.KEYSET)

    def _show(self, keep: bool = False, everything: bool = False) -> None:
        """Show the words. keep: the cursor stays on its word. everything: not only what goes on with the text."""
        assert self.line is not None, "a part is being chosen"
        at = self._rows.target.word if keep and isinstance(self._rows.target, WordChoice) else self.line.text
        self._shown = self._input.value
        text = "" if everything and self._is_one_word else self._shown
        words = words_of(self.universe, self.line.part, text, self._devices, self._given)
        self._rows.show(TableBlock(_COLUMNS, words))
        if keep or everything:
            self._rows.move_to(next((number for number, one in enumerate(words) if one.word == at), 0))


def _word(word: WordChoice, _: bool) -> Inline:
    mark = GIVEN if word.is_given else REFUSED if word.why_not else " "
    tone = Tone.KERNEL if word.is_given else Tone.DIM if word.why_not else Tone.PLAIN
    return Run(f"{mark} {word.word}", tone)


def _instead(word: WordChoice) -> str:
    return f"in the place of {word.instead_of}" if word.instead_of else ""


_COLUMNS: list[Column[WordChoice]] = [
    Column("", _word, wraps=False),
    Column("", lambda word, _: Run(word.why_not or _instead(word), Tone.DIM), Narrow.DROP, optional=True),
]
_HINT = f"enter takes the word under the cursor, or removes it where it is marked {GIVEN}; escape ends"
_HINTS = {
    CallPart.TENSOR: f"enter adds a word, or removes one marked {GIVEN}; {REFUSED} does not go with these; escape ends",
    CallPart.KEYSET: "keys with | & -, escape ends",
}
