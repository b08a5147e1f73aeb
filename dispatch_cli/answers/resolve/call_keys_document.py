"""The key set with which an operator would be called: each tensor's keys, the thread's, and what they come to."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.keys.key_document import listed
from dispatch_cli.answers.resolve.call_keys import CallKeysReport, CarriedKey
from dispatch_cli.answers.resolve.wording import from_label, thread_lines
from dispatch_cli.render.document import (
    Block,
    Column,
    Fact,
    Facts,
    Gap,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    Under,
    lines,
)
from dispatch_cli.render.sheet import fact_sheet as sheet

__all__ = ["document", "sheet"]
_COMBINED = "combined"


def document(report: CallKeysReport, _: int | None = None) -> Iterator[Block]:
    """The tensors with their keys, the thread, and the set of the call."""
    called = ", ".join(tensor.tensor for tensor in report.tensors) or "no tensors"
    within = f" in {', '.join(report.contexts)}" if report.contexts else ""
    yield Paragraph(f"Keys of a call with {called}{within}", kind=ParagraphKind.TITLE)
    yield Paragraph(Run(f"in {report.universe}", Tone.DIM))
    yield Gap()
    yield Facts(
        [
            *(Fact(f"Tensor {tensor.tensor}", listed(tensor.keys, "none")) for tensor in report.tensors),
            Fact("Thread", lines(*thread_lines(report.included, report.excluded))),
            Fact("Keys", f"{len(report.keys)}: {listed(report.keys, 'none')}"),
            Fact("Highest", report.highest),
            Fact("Functionalities", listed(report.functionalities, "none")),
            Fact("Backends", listed(report.backends, "none")),
            Fact("Raw", report.raw),
        ]
    )
    yield Gap()
    if report.carried:
        yield TableBlock(_columns(len(report.tensors)), report.carried)
        yield Gap()
    if any(not key.tensors and not key.included for key in report.carried):
        yield Paragraph(f"{_COMBINED}: the functionality is of one tensor and the backend of another.")
    yield Paragraph(
        "The keys at which an operator falls through are removed too; `dispatch-cli resolve OP` shows them."
    )


def _columns(count: int) -> list[Column[CarriedKey]]:
    """count: of tensors."""

    def tone(row: CarriedKey) -> Tone:
        return Tone.DIM if row.excluded else Tone.PLAIN

    return [
        Column("Key", lambda row, _: Run(row.key, Tone.DIM if row.excluded else Tone.HEAD), wraps=False),
        Column("Functionality", lambda row, _: Run(row.functionality, tone(row)), Under("Key"), wraps=False),
        Column("From", lambda row, _: Run(from_label(row, count) or _COMBINED, tone(row)), wraps=False),
        Column("Thread", lambda row, _: Run("excludes it", Tone.WARN) if row.excluded else "", optional=True),
    ]
