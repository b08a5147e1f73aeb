"""Two states held against each other: what is different, grouped so that a person can read it."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.diff.cells.document import cells
from dispatch_cli.answers.diff.registrations_document import others, refused, registrations
from dispatch_cli.answers.diff.report import DiffReport
from dispatch_cli.answers.diff.schemas_document import definitions
from dispatch_cli.answers.diff.sections_document import Fold
from dispatch_cli.answers.diff.sheet_document import sheet
from dispatch_cli.answers.diff.slots_document import slots
from dispatch_cli.answers.diff.wording import outcome, sides_label
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import Block, Gap, Paragraph, Run, Tone

__all__ = ["document", "sheet"]


WAYS = "--op GLOB, --key KEY and --only show parts, --format json or csv has all."


def document(
    report: DiffReport,
    _: int | None = None,
    *,
    universes: tuple[Universe, Universe],
    each: bool = False,
    ways: str = WAYS,
) -> Iterator[Block]:
    """The counts, then a section for each kind of difference.

    universes: of both sides. each: nothing is grouped or left out. ways: to see what is left out.
    """
    sides = sides_label(report.old, report.new)
    yield Paragraph((Run(sides, Tone.HEAD), Run(f": {outcome(report)}.")))
    fold = Fold(each)
    yield from definitions(report, fold)
    yield from registrations(report, fold)
    yield from refused(report, fold)
    yield from slots(report, fold, universes)
    yield from cells(report, fold)
    yield from others(report, fold)
    if fold.left_out:
        yield Gap()
        yield Paragraph(Run(f"Not all is listed: {ways}", Tone.DIM))
