"""What an error or a warning of PyTorch means, and what helps, in words."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.render.document import Block, Fact, Facts, Gap, Paragraph, ParagraphKind, TableBlock
from dispatch_cli.render.explain_error import others_label, sentence_list
from dispatch_cli.render.registrations import KERNELS
from dispatch_cli.report.message import MessageReport

DETAILS = {"previous": "registered before", "new": "registered now"}
"""Details of a text that are shown apart, and how they are called."""


def document(report: MessageReport, _: int | None = None) -> Iterator[Block]:
    """What it says, what that means, what helps the user and then the author, and the operator's kernels."""
    source = "standard input" if report.file == "-" else report.file
    yield Paragraph(f"{source}, line {report.line}: {report.says}", kind=ParagraphKind.TITLE)
    if report.means:
        yield Gap()
        yield Paragraph(report.means)
    facts = [Fact(DETAILS[name], value) for name, value in report.details if name in DETAILS]
    if facts:
        yield Gap()
        yield Facts(facts)
    yield from sentence_list("What you can do", report.user)
    yield from sentence_list("What the author of the operator can do", report.author)
    yield from _kernels(report)
    if report.others:
        yield Gap()
        yield Paragraph(f"The text has other errors too: {others_label(report.others)}.")


def _kernels(report: MessageReport) -> Iterator[Block]:
    if report.operator is None:
        return
    yield Gap()
    here = ", ".join(report.over) or "these files"
    found = report.registrations
    if found is None:
        yield Paragraph(f"{report.operator} is not in {here}. Files that declare it would show its kernels.")
    elif not found.kernels:
        yield Paragraph(f"{report.operator} has no kernels in {here}.")
    else:
        yield Paragraph(f"The kernels of {report.operator} in {here}:")
        yield Gap()
        placed = any(row.span is not None for row in found.kernels)
        yield TableBlock(KERNELS if placed else KERNELS[:-1], found.kernels)
