"""The operators with a kernel at a key: one row each, or of many one row for each file that registers them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.answers.keys.registrations import KeyRegistrations, KeyRegistrationsReport, RegisteredKernel
from dispatch_cli.answers.shared.selection import some_of
from dispatch_cli.answers.table.registrations.report import FallbackRow
from dispatch_cli.model.debug_text import source_file
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import (
    Block,
    Column,
    Gap,
    Inline,
    Narrow,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    Under,
)
from dispatch_cli.render.raw import parted
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import (
    inherited_lines,
    is_of_pytorch,
    kernel_runs,
    origins_of,
    over_label,
    place_cell,
    plural,
)

MANY = 24
"""More operators than this are folded, unless all are asked for."""
NAMED = 4
"""Operators that a folded row names."""
_REGISTERED_AT = "registered at "


class _FileGroup(NamedTuple):
    """Kernels that one file registers. source: the file, or what a dump shows where it names none."""

    source: str
    span: Span | None
    fallthrough: bool
    kernels: list[RegisteredKernel]


def document(report: KeyRegistrationsReport, full: bool = False) -> Iterator[Block]:
    """Each key with the operators that have a kernel there; then the keys at which none has one."""
    folded = False
    for key in report.keys:
        if key.kernels:
            many = len(key.kernels) > MANY and not full
            yield from _key(key, many)
            folded |= many
    yield from _empty([key for key in report.keys if not key.kernels])
    origins = dict.fromkeys(origins_of(*(row for key in report.keys for row in key.kernels)))
    if lines := inherited_lines(origins):
        yield from (Paragraph(Run(line, Tone.DIM)) for line in lines)
        yield Gap()
    if folded:
        yield Paragraph(Run("--full lists every operator; so do --format json, csv and raw.", Tone.DIM))
    keys = "this key" if len(report.keys) == 1 else "these keys"
    over = over_label(report)
    yield Paragraph(Run(f"Kernels at exactly {keys}, {over}. `table --key` shows what runs there.", Tone.DIM))


def _key(key: KeyRegistrations, many: bool) -> Iterator[Block]:
    title = (_name(key), Run(f": {plural(len(key.kernels), 'operator')}", Tone.HEAD))
    yield Paragraph(title, kind=ParagraphKind.TITLE)
    yield Gap()
    if many:
        yield TableBlock(GROUPS, _groups(key.kernels))
    else:
        yield TableBlock(KERNELS, key.kernels)
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


def _fallback(row: FallbackRow) -> Paragraph:
    """The backend fallback, which serves the operators without a kernel."""
    kernel = kernel_runs(row.kernel, row.fallthrough, row.span, tone=Tone.FALLBACK)
    place = () if row.span is None else (Run(f" {row.span}", Tone.PLACE),)
    return Paragraph((Run(f"Backend fallback at {row.key}: "), *kernel, *place))


def _groups(kernels: tuple[RegisteredKernel, ...]) -> list[_FileGroup]:
    """The kernels by the file that registers them: those with a place first, then the largest groups."""
    groups: dict[tuple[str, bool, bool], _FileGroup] = {}
    for kernel in kernels:
        source, placed = _source(kernel), kernel.span is not None
        known = (source_file(kernel.debug) or source) if kernel.span is None else source
        group = groups.setdefault(
            (known, placed, kernel.fallthrough), _FileGroup(source, kernel.span, kernel.fallthrough, [])
        )
        group.kernels.append(kernel)
    return sorted(groups.values(), key=lambda group: (group.span is None, -len(group.kernels)))


def _source(row: RegisteredKernel) -> str:
    """The file that registers a kernel; what a dump shows where it names none. Of generated files, without a number."""
    if row.span is not None:
        return row.span.file
    file = source_file(row.debug)
    if file is None:
        return row.debug
    path = row.debug.removeprefix(_REGISTERED_AT)
    return path[: max(path.rfind("/"), path.rfind("\\")) + 1] + file


def _group_source(group: _FileGroup, short: bool) -> Inline:
    source = group.source
    if short and is_of_pytorch(source):
        source = source[max(source.rfind("/"), source.rfind("\\")) + 1 :]
    return (Run("fallthrough ", Tone.WARN), Run(source)) if group.fallthrough else Run(source)


def _kernel(row: RegisteredKernel, short: bool) -> Inline:
    return kernel_runs(row.kernel, row.fallthrough, row.span, short, Tone.KERNEL)


GROUPS: list[Column[_FileGroup]] = [
    Column("Operators", lambda row, _: f"{len(row.kernels):,}", right=True),
    Column("Registered in", _group_source),
    Column(
        "Which",
        lambda row, _: Run(some_of([kernel.operator for kernel in row.kernels], NAMED), Tone.DIM),
        Under("Registered in"),
    ),
]
KERNELS: list[Column[RegisteredKernel]] = [
    Column("Operator", lambda row, _: row.operator),
    Column("Kernel", _kernel, Under("Operator")),
    Column("When", lambda row, _: row.when or "", Under("Operator"), optional=True),
    Column("Declared at", lambda row, _: place_cell(row.span, row.origin), Narrow.BELOW, optional=True),
]


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
