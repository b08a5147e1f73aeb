"""Services of operators on a backend: counts, then a row for each operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.answers.coverage.counts import CoverageCounts, NeedCount, ServiceCount, TrainingCount
from dispatch_cli.answers.coverage.report import CoverageReport, CoverageRow
from dispatch_cli.answers.coverage.wording import (
    GRADIENTS_MEAN,
    LACKS_MEAN,
    NEEDS,
    SERVED_MEANS,
    SERVICE_NAMES,
    SERVICE_TONES,
    SERVICES_MEAN,
    TRAININGS_MEAN,
    percent_text,
    served_by,
    served_share,
    service_words,
    training_words,
)
from dispatch_cli.engine.backend_answers import Covered, Reach, Service, Training
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
)
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import not_built_sentence, over_label, place_cell, plural, short_kernel, undecided_lines


class Counted(NamedTuple):
    """A row of counts. chosen: all operators that were. served: of those that train so."""

    name: str
    operators: int
    chosen: int
    meaning: str
    tone: Tone
    served: int = 0


def document(report: CoverageReport, *, most: int | None = None) -> Iterator[Block]:
    """The counts, then the operators. most: operators that are listed; of more, none is. None: all are."""
    is_listed = most is None or len(report.operators) <= most
    share = served_share(report)
    answer = share if report.against is None else _needed(report, report.against)
    yield Paragraph((Run(f"{report.backend.key}: ", Tone.HEAD), Run(answer)), kind=ParagraphKind.TITLE, is_verdict=True)
    if report.against is not None:
        yield Paragraph(f"Of all that were asked for, {share}.")
    if how := served_by(report):
        yield Paragraph(f"{how[0].upper()}{how[1:]}.")
    yield Paragraph(Run(about(report), Tone.DIM))
    yield from undecided_lines(report.undecided_kernels)
    if report.overlay is not None:
        yield Paragraph(Run(not_built_sentence(report.backend.key, report.overlay), Tone.WARN))
    if not report.chosen:
        yield Paragraph(Run("No operators.", Tone.DIM))
        return
    yield Gap()
    yield from served_blocks(report, report.backend.key)
    if report.needs:
        yield Gap()
        yield TableBlock(_needs_columns(report), report.needs)
    if report.served_by:
        yield Gap()
        ways = " or ".join(SERVICE_NAMES[service] for service in report.served_by)
        yield Paragraph(f"{len(report.operators):,} listed: served by {ways}.")
    elif any(count.service is Service.NOTHING for count in report.services):
        yield Gap()
        every = "" if is_listed else f"`--op '*'` lists all {len(report.operators):,} operators, "
        yield Paragraph(f"{every}`--served-by nothing` lists only those that nothing serves.")
    if report.operators and is_listed:
        yield Gap()
        yield TableBlock(columns(report), report.operators, narrow_note=_short_names(report.operators))


def outcome(report: CoverageReport) -> str:
    """The backend, and the share that is served."""
    return f"{report.backend.key}: {served_share(report)}"


def served_blocks(counts: CoverageReport | CoverageCounts, key: str) -> Iterator[Block]:
    """Number of operators by kind of service, and by kind of training. key: of the backend."""
    broken = any(count.training is Training.BROKEN for count in counts.trainings)
    services = [_service_count(count, counts.chosen, key) for count in counts.services]
    yield TableBlock(_with_served("Served by") if broken else _counts("Served by"), services)
    if broken:
        yield Paragraph(Run(SERVED_MEANS, Tone.DIM))
    yield Gap()
    yield TableBlock(_with_served("Trains by"), [_training_count(count, counts.chosen) for count in counts.trainings])


def _needed(report: CoverageReport, against: tuple[str, ...]) -> str:
    """Needs of the newer state: the operators, and the needs by their kinds."""
    older = ", ".join(against)
    if not report.needs:
        return f"nothing is needed that {older} did not need"
    kinds = ", ".join(f"{need.operators:,} {NEEDS[need.need]}" for need in report.needs)
    if report.served_by:
        return f"needed since {older}: {kinds}; {plural(len(report.operators), 'operator')} of these listed"
    verb = "needs" if len(report.operators) == 1 else "need"
    return f"{plural(len(report.operators), 'operator')} {verb} something that {older} did not: {kinds}"


def about(report: CoverageReport) -> str:
    """Words for the question: state, backend and filters."""
    backend = report.backend
    parts = [over_label(report)]
    parts += [f"device {backend.device}"] if backend.device is not None else []
    parts += [f"autograd at {backend.autograd}"] if backend.autograd is not None else []
    parts += [f"only operators with the tag {' or '.join(report.tags)}"] if report.tags else []
    return "; ".join(parts)


def _counts(title: str) -> list[Column[Counted]]:
    return [
        Column(title, lambda row, _: Run(row.name, row.tone)),
        Column("Operators", lambda row, _: f"{row.operators:,}", right=True),
        Column("%", lambda row, _: percent_text(row.operators, row.chosen), right=True),
        Column("", lambda row, _: Run(row.meaning, Tone.DIM), narrow=Narrow.BELOW, optional=True, wraps=False),
    ]


def _with_served(title: str) -> list[Column[Counted]]:
    name, operators, share, meaning = _counts(title)
    return [name, operators, share, Column("Served", lambda row, _: f"{row.served:,}", right=True), meaning]


def _needs_columns(report: CoverageReport) -> list[Column[NeedCount]]:
    return [
        Column(f"Needed since {', '.join(report.against or ())}", lambda row, _: NEEDS[row.need]),
        Column("Operators", lambda row, _: f"{row.operators:,}", right=True),
        Column("Served", lambda row, _: f"{row.served:,}", right=True),
    ]


def _service_count(count: ServiceCount, chosen: int, key: str) -> Counted:
    meaning = LACKS_MEAN[count.lack] if count.lack is not None else SERVICES_MEAN[count.service]
    return Counted(
        service_words(count.service, count.source, count.lack, count.otherwise),
        count.operators,
        chosen,
        meaning.replace("KEY", key),
        SERVICE_TONES[count.service],
        count.served,
    )


def _training_count(count: TrainingCount, chosen: int) -> Counted:
    meaning = TRAININGS_MEAN[count.training] if count.gradient is None else GRADIENTS_MEAN[count.gradient]
    tone = Tone.BAD if count.training is Training.BROKEN else Tone.PLAIN
    return Counted(training_words(count.training, count.gradient), count.operators, chosen, meaning, tone, count.served)


def columns(report: CoverageReport) -> list[Column[CoverageRow]]:
    """The columns of the list of operators."""
    listed: list[Column[CoverageRow]] = [
        Column("Operator", lambda row, _: row.operator),
        Column("Served by", _service),
        Column("Trains by", lambda row, _: trains(row)),
    ]
    if report.against is not None:
        listed.append(Column("Needed", lambda row, _: ", ".join(NEEDS[need] for need in row.needs)))
    listed.append(Column("Note", _note, narrow=Narrow.BELOW, optional=True))
    if report.against is not None:
        listed.append(Column("Schema", _before, narrow=Narrow.BELOW, optional=True))
    if any(row.span is not None for row in report.operators):
        listed.append(Column("Declared at", lambda row, _: place_cell(row.span, row.origin), Narrow.BELOW))
    return listed


def _before(row: CoverageRow, _: bool) -> Inline:
    """The older schema, where it is another one."""
    return "" if row.schema_before is None else Run(f"before: {row.schema_before}", Tone.DIM)


def _service(row: CoverageRow, short: bool) -> Inline:
    service = row.covered.service
    if service is Service.FALLBACK and row.kernel is not None:
        return Run(f"fallback {short_kernel(row.kernel) if short else row.kernel}", SERVICE_TONES[service])
    return Run((_short_words if short else words)(row), SERVICE_TONES[service])


def words(row: CoverageRow) -> str:
    """Words for the service of an operator."""
    covered = row.covered
    return service_words(covered.service, covered.source, covered.lack, covered.otherwise)


def trains(row: CoverageRow) -> str:
    """Words for the way in which an operator trains."""
    return training_words(row.covered.training, row.covered.gradient)


def _short_words(row: CoverageRow) -> str:
    if row.covered.otherwise is not None:
        return f"{SERVICE_NAMES[row.covered.otherwise]}?"
    text, is_composite = words(row), row.covered.service is Service.COMPOSITE
    return text.removeprefix("Composite").replace("Autograd", "") if is_composite else text


def _short_names(rows: Sequence[CoverageRow]) -> Inline:
    """Meanings of the short words of the rows."""
    texts = {short: full for row in rows if (short := _short_words(row)) != (full := words(row))}
    return Run("; ".join(f"{short}: {full}" for short, full in texts.items()), Tone.DIM) if texts else ""


def _note(row: CoverageRow, _: bool) -> Inline:
    """Remark beyond the columns."""
    covered = row.covered
    if covered.training is Training.BROKEN and row.served is False:
        why = f"ambiguous: {', '.join(covered.blockers)} has a kernel" if covered.blockers else "empty"
        return Run(f"the autograd slot is {why}", Tone.WARN)
    if covered.bypassed:
        return Run(f"only in inference mode: {covered.autograd_source} is above it", Tone.WARN)
    if covered.reach is Reach.DEVICE:
        return Run("by its device argument", Tone.DIM)
    if covered.reach is Reach.NOT and row.served:
        return Run("takes no tensors", Tone.DIM)
    return ""


def sheet(report: CoverageReport) -> Sheet:
    """A row for each operator."""
    columns = ("operator", "family", "served", *Covered._fields, "kernel", "needs", "schema", "schema_before")
    rows = ((*row[:3], *row.covered, *row[4:-1]) for row in report.operators)
    return Sheet((*columns, "declared_at"), rows)
