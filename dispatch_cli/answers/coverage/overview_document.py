"""Groups of operators on all backends, as a picture: how many are served, and by what."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from dispatch_cli.answers.coverage.overview import CoverageGroup, CoverageOverviewReport, GroupCell, GroupKind
from dispatch_cli.answers.coverage.wording import SERVICE_NAMES, SERVICE_TONES
from dispatch_cli.engine.backend_answers import CoveredBackend, Service
from dispatch_cli.render.document import (
    Block,
    Gap,
    Mark,
    Matrix,
    MatrixCell,
    MatrixHead,
    MatrixRow,
    Paragraph,
    ParagraphKind,
    Run,
    Tone,
)
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import over_label, plural, undecided_lines

MOST = 8
"""Groups of a kind that are shown."""
PARTS = 6
"""Characters of the bar of a cell."""
_DEVICES = ("CPU", "CUDA", "Meta", "HPU", "XPU", "MPS", "PrivateUse1")
_SIGNS = {
    Service.KERNEL: "█",
    Service.COMPOSITE: "▓",
    Service.ABOVE: "▒",
    Service.FALLBACK: "░",
    Service.NOT_KNOWN: "?",
    Service.NOTHING: "·",
}
_HEADS = {GroupKind.NAMESPACE: "By namespace", GroupKind.TAG: "By tag", GroupKind.SCHEMA: "By kind of schema"}


def document(report: CoverageOverviewReport, most: int | None = MOST) -> Iterator[Block]:
    """A matrix for each kind of group. most: as of `matrices`."""
    yield Paragraph(outcome(report), kind=ParagraphKind.TITLE, is_verdict=True)
    yield Paragraph(Run(over_label(report), Tone.DIM))
    yield from undecided_lines(report.undecided_kernels)
    if not report.backends:
        yield Paragraph("No backend has kernels of its own.")
        return
    yield Paragraph(f"{meaning(report)} `dispatch-cli coverage BACKEND --tag TAG`, or --op 'NAMESPACE::*', lists them.")
    yield from matrices(report, most)


def matrices(report: CoverageOverviewReport, most: int | None = MOST) -> Iterator[Block]:
    """A matrix for each kind of group, under its head.

    most: of each kind so many groups; None for all. The target of a cell: a backend, and the options that choose the
    group.
    """
    counted = {service for group in report.groups for cell in group.cells for service in _counts(cell)}
    used = [service for service in _SIGNS if service in counted]
    for kind, members in groupby(report.groups, key=lambda group: group.kind):
        groups = list(members)
        shown = groups[:most]
        legend = [Mark(_SIGNS[service], SERVICE_TONES[service], SERVICE_NAMES[service]) for service in used]
        rows = [MatrixRow(group.name, [_shown(cell, group) for cell in group.cells]) for group in shown]
        yield Gap()
        if kind in _HEADS:
            yield Paragraph(_HEADS[kind], kind=ParagraphKind.SECTION)
        yield Matrix([*map(_head, report.backends)], rows, explained=legend if kind is GroupKind.ALL else ())
        if len(groups) > len(shown):
            yield Paragraph(Run(f"and {len(groups) - len(shown)} more; JSON and CSV have all", Tone.DIM))


def outcome(report: CoverageOverviewReport) -> str:
    """Numbers of operators and backends."""
    return f"{plural(report.chosen, 'operator')} on {plural(len(report.backends), 'backend')}"


def meaning(report: CoverageOverviewReport) -> str:
    """Sentence on the percents, and on the operators and backends that they leave out."""
    counted = "Percent that are served, and by what"
    if any(cell.not_known for group in report.groups for cell in group.cells):
        counted += ", of the operators of which that is known"
    return f"{counted}; backends with kernels of few operators are left out."


def _head(backend: CoveredBackend) -> MatrixHead:
    """The head of a column: of a kind of tensors, such as SparseCUDA, by the device below the kind."""
    device = next((device for device in _DEVICES if backend.device is None and backend.key.endswith(device)), "")
    kind = backend.key.removesuffix(device) if device else "Dense"
    return MatrixHead(device or backend.key, group=kind)


def _shown(cell: GroupCell, group: CoverageGroup) -> MatrixCell:
    parts = [Mark(_SIGNS[service] * size, SERVICE_TONES[service]) for service, size in bar(cell).items()]
    counts = ", ".join(f"{count:,} {SERVICE_NAMES[service]}" for service, count in _counts(cell).items())
    words = f"{cell.backend}: {cell.served:,} of {group.operators:,} served; {counts}"
    target = (cell.backend, group.chosen_by)
    marks = (Mark(f"{percent_word(cell.percent):>3} "), *parts)
    return MatrixCell(marks, words, target)


def percent_word(percent: float | None) -> str:
    """A share as a whole number that is never better than it is: 99.9 is 99."""
    if percent is None:
        return "-"
    return "<1" if 0 < percent < 1 else str(int(percent))


def bar(cell: GroupCell) -> dict[Service, int]:
    """The length of each part of a bar; what is there has one character at least."""
    counts = _counts(cell)
    total = sum(counts.values())
    sizes = {service: max(1, int(PARTS * count / total)) for service, count in counts.items()}
    while sizes and sum(sizes.values()) != PARTS:
        step = 1 if sum(sizes.values()) < PARTS else -1
        lacks = {key: step * (PARTS * counts[key] / total - size) for key, size in sizes.items() if size + step}
        sizes[max(lacks, key=lacks.__getitem__)] += step
    return sizes


def _counts(cell: GroupCell) -> dict[Service, int]:
    """The services that operators have, from the best one on."""
    counts = {service: getattr(cell, service.value.replace("-", "_")) for service in _SIGNS}
    return {service: count for service, count in counts.items() if count}


def sheet(report: CoverageOverviewReport) -> Sheet:
    """A row for each group and backend."""
    rows = ((group.kind, group.name, group.operators, *cell) for group in report.groups for cell in group.cells)
    return Sheet(("kind", "group", "operators", *GroupCell._fields), rows)
