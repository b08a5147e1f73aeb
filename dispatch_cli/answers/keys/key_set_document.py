"""The key set that an expression means: the expression as it is read, its keys and bits, and the notes."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.keys.key_set import KeySetReport
from dispatch_cli.answers.keys.key_wording import expression_note_text, listed
from dispatch_cli.render.document import Block, Fact, Facts, Gap, Paragraph, ParagraphKind, Run, Tone
from dispatch_cli.render.sheet import fact_sheet as sheet

__all__ = ["document", "sheet"]


def document(report: KeySetReport, _: int | None = None) -> Iterator[Block]:
    """The expression as it is read, its keys and bits, and the notes."""
    yield Paragraph(report.reading, kind=ParagraphKind.TITLE)
    yield Paragraph(Run(f"in {report.universe}", Tone.DIM))
    yield Gap()
    count = f"{len(report.keys)}: " if report.keys else ""
    yield Facts(
        [
            Fact("Keys", f"{count}{listed(report.keys, 'none')}"),
            Fact("Highest", report.highest),
            Fact("Functionalities", listed(report.functionalities, "none")),
            Fact("Backends", listed(report.backends, "none")),
            Fact("Raw", report.raw),
        ]
    )
    if report.notes:
        yield Gap()
        yield from (Paragraph(expression_note_text(note)) for note in report.notes)
