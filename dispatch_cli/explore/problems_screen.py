"""Screen of the problems in files that cannot be read again."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from dispatch_cli.explore.blocks import Blocks
from dispatch_cli.explore.session import CannotRead
from dispatch_cli.render.document import Paragraph
from dispatch_cli.render.problems import problems


class ProblemsScreen(ModalScreen[None]):
    """Problems in the files, each with its place."""

    DEFAULT_CSS = """
    ProblemsScreen { align: center middle; background: $background 60%; }
    ProblemsScreen > Vertical { width: 90%; height: 80%; padding: 0 1; border: round $error; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "Close"),
        Binding("f5", "read_again", "Read the files again"),
    ]

    def __init__(self, error: CannotRead, again: Callable[[], object]) -> None:
        """again: reads the files again."""
        super().__init__()
        self.error = error
        self._again = again

    def action_read_again(self) -> None:
        """Read the files again: the box goes, or another one comes."""
        self.dismiss()
        self.app.call_later(self._again)

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "The files cannot be read"
            box.border_subtitle = "f5 reads again, esc closes; what was read before is still shown"
            yield Blocks()

    def on_mount(self) -> None:
        file_problems = self.error.problems
        self.query_one(Blocks).show(problems(file_problems) if file_problems else [Paragraph(str(self.error))])
        self.query_one(Blocks).focus()
