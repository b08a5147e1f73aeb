"""The meaning of an error or a warning of PyTorch, and advice."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.table.registrations.document import KERNELS
from dispatch_cli.render.document import Block, Fact, Facts, Gap, Paragraph, ParagraphKind, TableBlock
from dispatch_cli.render.explain_error import other_sentences, sentence_list
from dispatch_cli.report.explain_error import ANSWERS
from dispatch_cli.report.message import MessageReport

DETAILS = {"previous": "registered before", "new": "registered now"}
"""The labels of the details that are shown on their own."""


def document(report: MessageReport, _: int | None = None) -> Iterator[Block]:
    """The kind of the text, its meaning, advice for the user and for the author, and the operator's kernels."""
    source = "standard input" if report.file == "-" else report.file
    yield Paragraph(f"{source}, line {report.line}: {report.says}", kind=ParagraphKind.TITLE)
    if report.means:
        yield Gap()
        yield Paragraph(report.means)
    if report.operator is None and report.kind in ANSWERS:
        yield Paragraph(
            f"The text does not name the operator; `dispatch-cli explain OP {report.key}` explains one operator."
        )
    facts = [Fact(DETAILS[name], value) for name, value in report.details if name in DETAILS]
    if facts:
        yield Gap()
        yield Facts(facts)
    yield from sentence_list("What you can do", report.user)
    yield from sentence_list("What the author of the operator can do", report.author)
    yield from _kernels(report)
    others = [*other_sentences(report.others)]
    if others:
        yield Gap()
        yield from map(Paragraph, others)


def _kernels(report: MessageReport) -> Iterator[Block]:
    """The operator's kernels, if files declare some: those of PyTorch's own operators do not explain the error."""
    found = report.registrations
    if found is None or (report.over and all(row.span is None for row in found.kernels)):
        return
    here = ", ".join(report.over) or "these files"
    yield Gap()
    if not found.kernels:
        yield Paragraph(f"{report.operator} has no kernels in {here}.")
    else:
        yield Paragraph(f"The kernels of {report.operator} in {here}:")
        yield Gap()
        placed = any(row.span is not None for row in found.kernels)
        yield TableBlock(KERNELS if placed else KERNELS[:-1], found.kernels)
