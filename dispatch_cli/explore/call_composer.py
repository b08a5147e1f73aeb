"""A call that is put together: its parts, or the one of them that is being chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from dispatch_cli.explore.call_chooser import Chooser, PlainRows
from dispatch_cli.explore.call_parts import PartLine, parts_table
from dispatch_cli.explore.contained import Contained
from dispatch_cli.model.universe import Universe


class CallComposer(Contained, Vertical):
    """The parts of a call, one in each line; while one is chosen, the words for it in their place."""

    DEFAULT_CSS = """
    CallComposer { height: auto; max-height: 45%; border-bottom: hkey $panel; }
    CallComposer.-choosing { height: 45%; }
    CallComposer #call-parts { max-height: 100%; }
    """

    def __init__(self, universe: Universe, changed: Callable[[PartLine, str], str]) -> None:
        """changed: as for the `Chooser`."""
        super().__init__(id="call-request")
        self.parts = PlainRows(id="call-parts")
        self.chooser = Chooser(universe, changed, id="call-chooser")

    def compose(self) -> ComposeResult:
        yield self.parts
        yield self.chooser

    def show(self, lines: tuple[PartLine, ...]) -> None:
        """Show these parts; the cursor stays where it is."""
        self.parts.styles.height = len(lines)
        self.parts.show(parts_table(lines), keep=True)

    def choose(self, line: PartLine, devices: Sequence[str]) -> None:
        """Choose the text of a part. devices: of the call's tensors."""
        self.add_class("-choosing")
        self.parts.display = False
        self.chooser.start(line, devices)

    def stop(self) -> None:
        """Choose nothing any more."""
        self.chooser.stop()
        self.remove_class("-choosing")
        self.parts.display = True
