"""What serves each operator on a backend: counts, then a row for each family of operators with one answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.engine.coverage.answers import Gradient, NoService, Passage, Reach, Service, Training
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
from dispatch_cli.render.words import over_label, place_cell, plural, short_kernel, some_of
from dispatch_cli.report.coverage import CoverageReport, CoverageRow, PassageCount, ServiceCount, TrainingCount

MOST_VARIANTS = 6
"""Variants of a family that are named where there is little room."""


class OperatorFamily(NamedTuple):
    """Operators of one family with one answer, of which *first* is one.

    variants: what their names have behind the family's; ``-`` is the name itself.
    """

    name: str
    variants: tuple[str, ...]
    first: CoverageRow


class Counted(NamedTuple):
    """A row of counts. percent: of all chosen operators. served: of those that train so."""

    name: str
    operators: int
    percent: float
    meaning: str
    tone: Tone
    served: int = 0


def document(report: CoverageReport, _: int | None = None) -> Iterator[Block]:
    """The counts, then the operators."""
    yield Paragraph(_title(report), kind=ParagraphKind.TITLE)
    yield Paragraph(Run(_about(report), Tone.DIM))
    if not report.chosen:
        yield Paragraph(Run("No operators.", Tone.DIM))
        return
    yield Gap()
    broken = any(one.training is Training.BROKEN for one in report.trainings)
    services = [_service_count(one, report) for one in report.services]
    yield TableBlock(_with_served("Served by") if broken else _counts("Served by"), services)
    yield Gap()
    yield TableBlock(_with_served("Trains by"), [_training_count(one) for one in report.trainings])
    for title, counts, meanings in (("Autocast", report.autocast, _AUTOCAST), ("vmap", report.vmap, _VMAP)):
        if counts is not None:
            yield Gap()
            yield TableBlock(_counts(title), [_passage_count(one, meanings) for one in counts])
    if report.operators:
        yield Gap()
        families = _families(report.operators)
        yield TableBlock(_columns(report), families)
        yield Gap()
        shown = plural(len(report.operators), "operator")
        folded = f"{shown} in {plural(len(families), 'row')}"
        yield Paragraph(Run(f"{folded}; JSON and CSV have a row for each operator.", Tone.DIM))


def _title(report: CoverageReport) -> Inline:
    known = report.chosen - report.not_known
    share = "" if report.percent is None else f" ({report.percent} %)"
    unknown = f", {report.not_known:,} not known" if report.not_known else ""
    return (
        Run(f"{report.backend.key}: ", Tone.HEAD),
        Run(f"{report.served:,} of {plural(known, 'operator')} {'is' if known == 1 else 'are'} served{share}{unknown}"),
    )


def _about(report: CoverageReport) -> str:
    backend = report.backend
    parts = [over_label(report.over, report.over_assumed, report.universe)]
    parts += [f"device {backend.device}"] if backend.device is not None else []
    parts += [f"autograd at {backend.autograd}"] if backend.autograd is not None else []
    parts += [f"only operators with the tag {' or '.join(report.tags)}"] if report.tags else []
    return "; ".join(parts)


def _counts(title: str) -> list[Column[Counted]]:
    return [
        Column(title, lambda one, _: Run(one.name, one.tone)),
        Column("Operators", lambda one, _: f"{one.operators:,}", right=True),
        Column("%", lambda one, _: f"{one.percent:.1f}", right=True),
        Column("", lambda one, _: Run(one.meaning, Tone.DIM), narrow=Narrow.DROP, optional=True),
    ]


def _with_served(title: str) -> list[Column[Counted]]:
    name, operators, share, meaning = _counts(title)
    return [name, operators, share, Column("Served", lambda one, _: f"{one.served:,}", right=True), meaning]


def _service_count(one: ServiceCount, report: CoverageReport) -> Counted:
    meaning = _LACKS[one.lack] if one.lack is not None else _SERVICES[one.service]
    return Counted(
        _service_words(one.service, one.source, one.lack),
        one.operators,
        one.percent,
        meaning.replace("KEY", report.backend.key),
        _SERVICE_TONES[one.service],
        one.served,
    )


def _training_count(one: TrainingCount) -> Counted:
    meaning = _TRAININGS[one.training] if one.gradient is None else _GRADIENTS[one.gradient]
    tone = Tone.BAD if one.training is Training.BROKEN else Tone.PLAIN
    return Counted(_training_words(one.training, one.gradient), one.operators, one.percent, meaning, tone, one.served)


def _passage_count(one: PassageCount, meanings: dict[Passage, str]) -> Counted:
    return Counted(_PASSAGES[one.passage], one.operators, one.percent, meanings.get(one.passage, ""), Tone.PLAIN)


def _service_words(service: Service, source: str | None, lack: NoService | None) -> str:
    if service is Service.COMPOSITE:
        return source or "composite"
    if service is Service.ABOVE:
        return f"kernel at {source}"
    if lack is not None and lack is not NoService.MISSING:
        return f"nothing: {lack.value.replace('-', ' ')}"
    return _SERVICE_NAMES[service]


def _training_words(training: Training, gradient: Gradient | None) -> str:
    name = training.value.replace("-", " ")
    return name if gradient is None else f"{name}: {gradient.value.replace('-', ' ')}"


_SERVICE_NAMES = {
    Service.KERNEL: "own kernel",
    Service.FALLBACK: "fallback",
    Service.NOTHING: "nothing",
    Service.NOT_KNOWN: "not known",
}
_SERVICES = {
    Service.KERNEL: "registered at KEY",
    Service.COMPOSITE: "calls other operators, which the backend needs",
    Service.FALLBACK: "the backend fallback at KEY",
    Service.ABOVE: "computes the result above KEY",
    Service.NOTHING: "",
    Service.NOT_KNOWN: "the state does not say",
}
_LACKS = {
    NoService.MISSING: "a call ends in an error: nothing is registered that covers KEY",
    NoService.SKIPPED: "a call ends in an error: the kernel at KEY is a fallthrough, and nothing is below",
    NoService.NO_TENSORS: "a call ends in an error: it has no tensors, and nothing chooses KEY",
    NoService.RAISES: "a call ends in an error, which the kernel raises",
    NoService.NO_SCHEMA: "the operator has kernels, and is not defined",
}
_SERVICE_TONES = {
    Service.KERNEL: Tone.KERNEL,
    Service.COMPOSITE: Tone.ALIAS,
    Service.FALLBACK: Tone.FALLBACK,
    Service.ABOVE: Tone.ALIAS,
    Service.NOTHING: Tone.BAD,
    Service.NOT_KNOWN: Tone.WARN,
}
_TRAININGS = {
    Training.OWN: "the backend's own autograd kernel",
    Training.GENERIC: "the kernel at Autograd, which has the derivative, or says in backward that there is none",
    Training.MATH: "the operators that the composite kernel calls have derivatives",
    Training.NONE: "no autograd kernel, and nothing serves the operator either",
    Training.BROKEN: "a call outside of inference mode ends in an error: the autograd slot is empty or ambiguous",
    Training.NO_TENSORS: "takes no tensors",
}
_GRADIENTS = {
    Gradient.WARNING: "the result requires a gradient; backward warns, and gives none",
    Gradient.DECOMPOSED_WITH_WARNING: "the gradient of what the composite kernel calls, if any; backward warns",
    Gradient.FALLBACK: "a fallback that is not PyTorch's decides",
    Gradient.DECOMPOSED: "the operators that the composite kernel calls have derivatives",
    Gradient.DROPPED: "the result does not require a gradient, without a warning",
}
_PASSAGES = {
    Passage.OWN: "own rule",
    Passage.DECOMPOSITION: "decomposition",
    Passage.FALLBACK: "fallback",
    Passage.SKIPPED: "falls through",
    Passage.ERROR: "error",
    Passage.NO_KEY: "no key",
    Passage.NO_TENSORS: "no tensors",
}
_AUTOCAST = {
    Passage.SKIPPED: "dtypes stay as they are",
    Passage.ERROR: "no rule, and no fallback at the autocast key",
    Passage.NO_KEY: "the backend has no autocast key",
}
_VMAP = {
    Passage.FALLBACK: "the operator is called for every slice",
    Passage.ERROR: "no batching rule, and the fallback refuses the schema",
}


def _families(rows: Sequence[CoverageRow]) -> list[OperatorFamily]:
    """The operators of each family that have the same answer, in the order of the first of them."""
    found: dict[tuple[object, ...], list[CoverageRow]] = {}
    for row in rows:
        found.setdefault((row.family, *_answer(row)), []).append(row)
    return [
        OperatorFamily(members[0].operator, (), members[0])
        if len(members) == 1
        else OperatorFamily(
            members[0].family, tuple(one.operator[len(one.family) :] or "-" for one in members), members[0]
        )
        for members in found.values()
    ]


def _answer(row: CoverageRow) -> tuple[object, ...]:
    """What operators in one row have in common."""
    place = (row.span is None, row.origin.state)
    answer = (row.service, row.source, row.lack, row.training, row.gradient, row.blockers)
    fallback = row.kernel if row.service is Service.FALLBACK else None
    return (*answer, row.reach, row.bypassed, row.autocast, row.vmap, fallback, place)


def _columns(report: CoverageReport) -> list[Column[OperatorFamily]]:
    columns: list[Column[OperatorFamily]] = [
        Column("Operator", lambda one, _: one.name),
        Column("Served by", _service),
        Column("Trains by", lambda one, _: _training_words(one.first.training, one.first.gradient)),
    ]
    if report.autocast is not None:
        columns.append(Column("Autocast", _passage_cell(lambda row: row.autocast)))
    if report.vmap is not None:
        columns.append(Column("vmap", _passage_cell(lambda row: row.vmap)))
    columns.append(Column("Note", _note, narrow=Narrow.BELOW, optional=True))
    columns.append(Column("Variants", _variants, narrow=Narrow.BELOW, optional=True))
    if any(row.span is not None for row in report.operators):
        columns.append(Column("Declared at", _place, narrow=Narrow.BELOW))
    return columns


def _variants(one: OperatorFamily, short: bool) -> Inline:
    return Run(some_of(one.variants, MOST_VARIANTS) if short else ", ".join(one.variants), Tone.DIM)


def _place(one: OperatorFamily, _: bool) -> Inline:
    """The place of the first one's kernel, and how many more there are."""
    first, more = place_cell(one.first.span, one.first.origin), len(one.variants) - 1
    return (first, Run(f" and {more} more", Tone.DIM)) if more > 0 and one.first.span is not None else first


def _service(one: OperatorFamily, short: bool) -> Inline:
    row = one.first
    text = _service_words(row.service, row.source, row.lack)
    if short and row.service is Service.COMPOSITE:
        text = text.removeprefix("Composite").replace("Autograd", "")  # the counts above have it in full
    if row.service is Service.FALLBACK and row.kernel is not None:
        text = f"fallback {short_kernel(row.kernel) if short else row.kernel}"
    return Run(text, _SERVICE_TONES[row.service])


def _passage_cell(of: Callable[[CoverageRow], Passage | None]) -> Callable[[OperatorFamily, bool], Inline]:
    def cell(one: OperatorFamily, _: bool) -> Inline:
        found = of(one.first)
        return "" if found is None else Run(_PASSAGES[found], Tone.BAD if found is Passage.ERROR else Tone.PLAIN)

    return cell


def _note(one: OperatorFamily, _: bool) -> Inline:
    """What is to be known beyond the columns."""
    row = one.first
    if row.training is Training.BROKEN and row.served is False:
        why = f"ambiguous: {', '.join(row.blockers)} has a kernel" if row.blockers else "empty"
        return Run(f"the autograd slot is {why}", Tone.WARN)
    if row.bypassed:
        return Run(f"only in inference mode: {row.autograd_source} is above it", Tone.WARN)
    if row.reach is Reach.DEVICE:
        return Run("by its device argument", Tone.DIM)
    if row.reach is Reach.NOT and row.served:
        return Run("takes no tensors", Tone.DIM)
    return ""


def sheet(report: CoverageReport) -> Sheet:
    """A row for each operator."""
    columns = tuple("declared_at" if field == "span" else field for field in CoverageRow._fields[:-1])
    return Sheet(columns, (row[:-1] for row in report.operators))
