"""The operators with a kernel at a key, a row for each."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from dispatch_cli.answers.keys.registrations import KeyRegistrations, KeyRegistrationsReport
from dispatch_cli.answers.table.registrations.document import kernel_columns
from dispatch_cli.answers.table.registrations.report import BackendFallback
from dispatch_cli.render.document import Block, Gap, Paragraph, ParagraphKind, Run, TableBlock, Tone
from dispatch_cli.render.raw import parted
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import inherited, kernel_runs, origins_of, over_label, plural

MANY = 24
"""Operators at one key that are listed, unless all are asked for; the others are counted."""


def document(report: KeyRegistrationsReport, full: bool = False) -> Iterator[Block]:
    """Each key with the operators that have a kernel there; then the keys at which none has one."""
    for key in report.keys:
        if key.kernels:
            yield from _key(key, full)
    yield from _empty([key for key in report.keys if not key.kernels])
    origins = dict.fromkeys(origins_of(*(row for key in report.keys for row in key.kernels)))
    if lines := inherited(origins):
        yield from lines
        yield Gap()
    keys = "this key" if len(report.keys) == 1 else "these keys"
    over = over_label(report)
    yield Paragraph(Run(f"Kernels at exactly {keys}, {over}. `table --key` shows what runs there.", Tone.DIM))


def _key(key: KeyRegistrations, full: bool) -> Iterator[Block]:
    """A row for each operator; of many, the user's own come first."""
    title = (_name(key), Run(f": {plural(len(key.kernels), 'operator')}", Tone.HEAD))
    yield Paragraph(title, kind=ParagraphKind.TITLE)
    yield Gap()
    more = 0 if full else len(key.kernels) - MANY
    own_first = sorted(key.kernels, key=lambda row: row.span is None) if more > 0 else key.kernels
    yield TableBlock(KERNELS, own_first[:MANY] if more > 0 else own_first)
    if more > 0:
        yield Paragraph(Run(f"and {more:,} more; --full lists them, and so do --format json, csv and raw", Tone.DIM))
    if key.fallback is not None:
        yield Gap()
        yield _fallback(key.fallback)
    yield Gap()


def _empty(keys: list[KeyRegistrations]) -> Iterator[Block]:
    if not keys:
        return
    names = ", ".join(key.key for key in keys)
    yield Paragraph((Run("No operator has a kernel at "), Run(names, Tone.HEAD), Run(".")))
    for key in keys:
        if key.fallback is not None:
            yield _fallback(key.fallback)
    yield Gap()


def _name(key: KeyRegistrations) -> Run:
    return Run(f"{key.key} [alias]" if key.alias else key.key, Tone.ALIAS if key.alias else Tone.HEAD)


def _fallback(row: BackendFallback) -> Paragraph:
    """The backend fallback, which serves the operators without a kernel."""
    kernel = kernel_runs(row.kernel, row.fallthrough, row.span, tone=Tone.FALLBACK)
    place = () if row.span is None else (Run(f" {row.span}", Tone.PLACE),)
    return Paragraph((Run(f"Backend fallback at {row.key}: "), *kernel, *place))


KERNELS = kernel_columns("Operator", attrgetter("operator"), Tone.KERNEL)


def sheet(report: KeyRegistrationsReport) -> Sheet:
    """One row for each kernel."""
    rows = (
        (key.key, key.alias, row.operator, row.kernel, row.fallthrough, row.span, row.when)
        for key in report.keys
        for row in key.kernels
    )
    return Sheet(("key", "alias", "operator", "kernel", "fallthrough", "declared_at", "when"), rows)


def raw_key_registrations(report: KeyRegistrationsReport) -> Iterator[str]:
    """Output of ``torch._C._dispatch_print_registrations_for_dispatch_key`` for each key; here sorted."""
    return parted("".join(f"{row.operator}\n" for row in key.kernels) for key in report.keys)
