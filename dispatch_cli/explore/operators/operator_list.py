"""The list of operators: any number of rows, of which only those on the screen are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import ClassVar

from textual.binding import Binding, BindingType

from dispatch_cli.answers.shared.operator_list import ListedOperator
from dispatch_cli.explore.operators.catalogue import OWN, Catalogue, Marked
from dispatch_cli.explore.operators.fuzzy import matched
from dispatch_cli.explore.session import TRIED
from dispatch_cli.explore.views.lines_view import LinesView
from dispatch_cli.model.names import Severity
from dispatch_cli.render.document import Run, Tone
from dispatch_cli.render.printed import safe
from dispatch_cli.render.text_lines import TextLine, line_width

_MARKS = 3
"""The columns before a name."""
_TONES = {Severity.ERROR: Tone.BAD, Severity.WARNING: Tone.WARN, Severity.INFO: Tone.DIM}


class OperatorList(LinesView):
    """The operators that a query finds, best first; one has the cursor."""

    DEFAULT_CSS = "OperatorList { overflow-x: hidden; scrollbar-gutter: auto; }"
    MARKS = ("", "")
    BLURRED_CURSOR = "reverse"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", tooltip="Open the operator in the view beside"),
        Binding("right,l", "open", "Open", tooltip="Open the operator in the view beside", show=False),
    ]

    def __init__(self, catalogue: Catalogue, marked: Marked, *, id: str | None = None) -> None:  # noqa: A002
        """marked: of the operators that are listed first."""
        super().__init__(id=id)
        self.catalogue = catalogue
        self.query_text = ""
        self.marked = marked
        self.listed: Sequence[int] = catalogue.find("", marked)
        self.near = ""  # what comes first where the query finds nothing good, in a few words

    @property
    def entry(self) -> ListedOperator | None:
        """The operator under the cursor."""
        return self.item(self.cursor) if self.listed else None

    def search(self, query: str, marked: Marked) -> None:
        """Show what a query and a filter find. The cursor goes to the best; without a query it stays where it is."""
        before, asked = self.entry, query != self.query_text
        self.query_text, self.marked = query, marked
        self._show_found(None if asked and query.strip() else before)
        if self.entry is not None and self.entry != before:
            self.post_message(self.Moved(self, self.entry))

    def _show_found(self, entry: ListedOperator | None) -> None:
        """Look for the operators, and show them with the cursor on an entry if it is there, else on the first."""
        self.listed, self.near = self.catalogue.search(self.query_text, self.marked)
        number = None if entry is None else self.catalogue.numbers.get(entry)
        stays = number is not None and number in self.listed
        self._cursor = self.listed.index(number) if stays and number is not None else 0
        with self.prevent(self.Moved):
            self.again(keep=stays)

    def renew(self, catalogue: Catalogue) -> None:
        """Show the operators of another state; the cursor stays on its operator, where that is there."""
        entry, self.catalogue = self.entry, catalogue
        self._show_found(entry)

    def marks_changed(self) -> None:
        """The catalogue's marks are other ones now."""
        if self.marked is not Marked.ALL:
            self.search(self.query_text, self.marked)
        self.refresh()

    def show(self, number: int) -> None:
        """Move the cursor to an operator, without a message; if the search hides it, nothing happens."""
        if number in self.listed:
            with self.prevent(self.Moved):
                self.move_to(self.listed.index(number))

    # the lines

    def line_count(self) -> int:
        return len(self.listed) or 2

    def choices(self) -> int:
        return len(self.listed)

    def item(self, number: int) -> ListedOperator:
        return self.catalogue.entries[self.listed[number]]

    def line_at(self, number: int) -> TextLine:
        if not self.listed:
            return [Run(self._nothing()[number], Tone.DIM)]
        entry = self.item(number)
        own, tried = entry.name in self.catalogue.own, entry.name in self.catalogue.tried
        marks = [Run(OWN if own else " ", Tone.KERNEL), Run(f"{TRIED if tried else ' '} ", Tone.WARN)]
        counts = [
            Run(text, Tone.DIM if severity is None else _TONES[severity])
            for text, severity in self.catalogue.counts(entry)
        ]
        name = [*self._name_runs(entry, max(4, self._width - _MARKS - line_width(counts)))]
        blanks = self._width - _MARKS - line_width(name) - line_width(counts)
        return [*marks, *name, Run(" " * max(0, blanks)), *counts]

    def _nothing(self) -> tuple[str, str]:
        query, so_marked = self.query_text.strip(), self.marked is not Marked.ALL
        text = f"  no operator {'so marked ' * so_marked}matches" if query else "  no operator so marked"
        return text, "  f in the list: other marks" if query and so_marked else ""

    def _name_runs(self, entry: ListedOperator, room: int) -> Iterator[Run]:
        """The name with what the query finds in it; where it is too long, without a part."""
        hits = set(matched(entry.name, self.query_text)) if self.query_text.strip() else set()
        plain = Tone.DIM if entry.higher_order else Tone.PLAIN
        letters = (("…", False) if at is None else (safe(entry.name[at]), at in hits) for at in _cut(entry.name, room))
        for is_hit, piece in groupby(letters, key=lambda letter: letter[1]):
            yield Run("".join(text for text, _ in piece), Tone.HEAD if is_hit else plain)


def _cut(name: str, room: int) -> list[int | None]:
    """Letters of a name, by number; None for what is left out: the namespace, then a part before the end."""
    count, start = len(name), name.rfind("::") + 2 if "::" in name else 0
    if count <= room:
        return [*range(count)]
    if count - start < room:
        return [None, *range(start, count)]
    end = (room - 2) * 3 // 5  # names differ more at their end
    return [None, *range(start, start + room - 2 - end), None, *range(count - end, count)]
