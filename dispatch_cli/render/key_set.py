"""What a key-set expression comes to, for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from dispatch_cli.render import console
from dispatch_cli.render.console import plain, to_text
from dispatch_cli.render.facts import Fact, facts
from dispatch_cli.render.key_wording import expression_note_text, hexadecimal
from dispatch_cli.render.style import Style
from dispatch_cli.report.key_set import KeySetReport


def key_set_text(report: KeySetReport, style: Style) -> Iterator[str]:
    """The expression as it is read, its keys and bits, and the notes."""
    yield to_text(_parts(report, style), style)


def _parts(report: KeySetReport, style: Style) -> Iterator[RenderableType]:
    yield plain(report.reading, console.HEAD)
    yield plain(f"in {report.universe}", console.DIM)
    yield Text()
    count = len(report.keys.keys)
    rows = [
        Fact("Keys", plain(f"{count}: {', '.join(report.keys.keys)}" if count else "none")),
        Fact("Highest", plain(report.highest)),
        Fact("Functionalities", plain(", ".join(report.functionalities) or "none")),
        Fact("Backends", plain(", ".join(report.backends) or "none")),
        Fact("Raw", plain(hexadecimal(report.raw))),
    ]
    yield from facts(rows, style)
    if report.notes:
        yield Text()
        for note in report.notes:
            yield plain(expression_note_text(note))
