"""The support matrix in marks and words, and the reasons why calls do not work, the most important first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.answers.findings.guards.yaml_document import operators, scalars
from dispatch_cli.answers.support.report import USUAL, SupportColumn, SupportReason, SupportReport
from dispatch_cli.checks.support_words import help_words, reason_words
from dispatch_cli.engine.state import State
from dispatch_cli.engine.support.cell import Cell, Column, Reason, SupportRow, Verdict
from dispatch_cli.model.calls.support import PROMISED, Promise, SupportContext, boxes
from dispatch_cli.model.names import OperatorName, some_of
from dispatch_cli.render.document import (
    Block,
    Fact,
    Facts,
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
from dispatch_cli.render.words import over_label, plural, short_kernel, undecided_lines

MARKS = {
    Verdict.OWN: Mark("K", Tone.KERNEL, "own kernel"),
    Verdict.COMPOSITE: Mark("C", Tone.ALIAS, "composite"),
    Verdict.DECOMPOSITION: Mark("D", Tone.ALIAS, "decomposition"),
    Verdict.FALLBACK: Mark("F", Tone.FALLBACK, "fallback"),
    Verdict.NOTHING_TO_COMPUTE: Mark("N", Tone.KERNEL, "nothing to compute"),
    Verdict.NO_KERNEL: Mark("-", Tone.BAD, "no kernel"),
    Verdict.RAISES: Mark("X", Tone.BAD, "raises"),
    Verdict.GRADIENT_LOST: Mark("L", Tone.BAD, "loses the gradient"),
    Verdict.WRONG: Mark("W", Tone.BAD, "silently wrong"),
    Verdict.NOT_KNOWN: Mark("?", Tone.WARN, "not known"),
    Verdict.NOT_APPLICABLE: Mark("·", Tone.DIM, "does not apply"),
}
"""Marks in the cells of the matrix."""
ASSUMED = "Kernels are taken to do what schemas say, and composite ones to call operators."
SHORT = {
    SupportContext.EAGER: "ea",
    SupportContext.TRAIN: "tr",
    SupportContext.FAKE: "fa",
    SupportContext.COMPILE: "co",
    SupportContext.VMAP: "vm",
    SupportContext.GRAD: "gr",
    SupportContext.JVP: "jv",
    SupportContext.AUTOCAST: "ac",
    SupportContext.INFERENCE: "in",
}
"""The words of contexts where there is little room."""
MANY = 40
"""More operators than this share a row where their cells are equal."""
INDENT = 4


HEADLINE = dict(zip(USUAL, (("runs", "run"), ("trains", "train"), ("compiles", "compile")), strict=True))
"""Verbs for operators that work in a context: of one operator, and of several."""


def outcome(report: SupportReport) -> str:
    """The numbers of operators that run, train and compile, by backend; of other columns, of those that work in all."""
    if not report.chosen:
        return "no operators: nothing here registers one"
    if 0 < report.chosen == report.not_known:
        subject = "it works" if report.chosen == 1 else "they work"
        return f"{plural(report.chosen, 'operator')}: whether {subject} is not known"
    if len(report.columns) > 1 and any(column.context in HEADLINE for column in report.columns):
        return _headline(report)
    columns = [f"{column.name} on {column.backend}" for column in report.columns]
    where = columns[0] if len(columns) == 1 else f"all {len(columns)} columns"
    parts = [f"{report.working:,} {'works' if report.working == 1 else 'work'} in {where}"]
    parts += [f"{report.not_known:,} not known"] if report.not_known else []
    return f"{plural(report.chosen, 'operator')}: {', '.join(parts)}"


def _headline(report: SupportReport) -> str:
    parts: dict[str, list[str]] = {}
    unknown: set[int] = set()
    for at, column in enumerate(report.columns):
        if column.context not in HEADLINE:
            continue
        verdicts = [row.cells[at].verdict for row in report.operators]
        works = sum(verdict.works for verdict in verdicts)
        applying = sum(verdict is not Verdict.NOT_APPLICABLE for verdict in verdicts)
        number = f"{works:,}" if applying == report.chosen else f"{works:,} of {applying:,}"
        parts.setdefault(column.backend, []).append(f"{number} {HEADLINE[column.context][works != 1]}")
        unknown.update(place for place, verdict in enumerate(verdicts) if verdict is Verdict.NOT_KNOWN)
    texts = [f"on {backend} {', '.join(texts)}" for backend, texts in parts.items()]
    texts += [f"not all is known of {len(unknown):,}"] if unknown else []
    return f"{plural(report.chosen, 'operator')}: {'; '.join(texts)}"


def _has_schema(row: SupportRow) -> bool:
    """False for an operator of which nothing can be said, as its schema is not known."""
    return any(cell.reason is not Reason.NO_SCHEMA for cell in row.cells)


def cell_title(operator: OperatorName, column: SupportColumn, cell: Cell) -> str:
    """A cell in words, with its operator and column."""
    return f"{operator} on {column.backend}, {column.name}: {cell_words(cell)}"


def cell_words(cell: Cell) -> str:
    """A cell in words."""
    why = reason_words(cell)
    if not why and cell.kernel is not None:
        why = f"{short_kernel(cell.kernel)} for {cell.key}"
    return f"{MARKS[cell.verdict].meaning}{why and f': {why}'}"


def columns_label(columns: Sequence[SupportColumn], among: Sequence[SupportColumn]) -> str:
    """Columns in a sentence: ``CPU, CUDA: vmap, jvp; XLA: all contexts``. among: all that there are."""
    backends: dict[tuple[str, ...], list[str]] = {}
    for backend in dict.fromkeys(column.backend for column in columns):
        names = tuple(column.name for column in columns if column.backend == backend)
        everything = len(names) > 1 and len(names) == sum(column.backend == backend for column in among)
        backends.setdefault(("all contexts",) if everything else names, []).append(backend)
    return "; ".join(f"{', '.join(where)}: {', '.join(names)}" for names, where in backends.items())


def document(report: SupportReport, full: bool = False) -> Iterator[Block]:
    """The verdict, the matrix, then the reasons. full: a row for each operator."""
    yield Paragraph(outcome(report), kind=ParagraphKind.TITLE, is_verdict=True)
    yield Paragraph(Run(over_label(report), Tone.DIM))
    yield from undecided_lines(report.undecided_kernels)
    yield from _matrix_blocks(report, full)
    for reason in report.reasons:
        yield Gap()
        yield from reason_blocks(reason, report)


def _matrix_blocks(report: SupportReport, full: bool) -> Iterator[Block]:
    """The matrix, and sentences about all of it."""
    if not report.operators:
        return
    yield Gap()
    picture = matrix(report, full)
    shown = report.chosen if full else sum(map(_has_schema, report.operators))
    if shown:
        yield picture
        yield Paragraph(Run(ASSUMED, Tone.DIM))
    if shown < report.chosen:
        lacking = plural(report.chosen - shown, "operator")
        yield Paragraph(f"Without a known schema, and so without a row: {lacking}; --full has all.")
    if len(picture.rows) < shown:
        folded = f"{plural(shown, 'operator')} in {plural(len(picture.rows), 'row')}; --full has a row for each."
        yield Paragraph(Run(folded, Tone.DIM))


def matrix(report: SupportReport, full: bool = False) -> Matrix:
    """The picture.

    full: a row for each operator; otherwise many that are equal share one, and those without a schema have none.
    """
    heads = [MatrixHead(column.name, SHORT.get(column.context, ""), column.backend) for column in report.columns]
    shown = report.operators if full else [*filter(_has_schema, report.operators)]
    used = {cell.verdict for row in shown for cell in row.cells}
    marks = [mark for verdict, mark in MARKS.items() if verdict in used]
    groups: dict[object, list[SupportRow]] = {}
    for row in shown:
        shape = tuple(cell.verdict for cell in row.cells)
        is_folded = not full and report.chosen > MANY
        groups.setdefault((row.operator.name.rpartition("::")[0], shape) if is_folded else row.operator, []).append(row)
    rows = [MatrixRow(_label(group), _cells(group[0], report)) for group in groups.values()]
    return Matrix(heads, rows, "Operator", marks)


def _label(group: list[SupportRow]) -> str:
    more = len(group) - 1
    return f"{group[0].operator}{f' and {more:,} more' if more else ''}"


def _cells(row: SupportRow, report: SupportReport) -> list[MatrixCell]:
    return [
        MatrixCell((MARKS[cell.verdict],), cell_title(row.operator, column, cell), (row.operator, at, cell))
        for at, (column, cell) in enumerate(zip(report.columns, row.cells, strict=True))
    ]


def reason_blocks(reason: SupportReason, report: SupportReport) -> Iterator[Block]:
    """Reason why calls do not work: the sentence, then the cells, the cause and the remedy."""
    mark = MARKS[reason.verdict]
    yield Paragraph((Run(f"{mark.text} {mark.meaning}", mark.tone), Run(f": {reason.text}")), hang=INDENT)
    yield Facts([*_facts(reason, report)], INDENT, Tone.DIM)


def _facts(reason: SupportReason, report: SupportReport) -> Iterator[Fact]:
    for place in reason.places:
        names = [str(name) for name in place.operators]
        count = f" ({len(names):,} operators)" if len(names) > 4 else ""
        yield Fact("of", f"{some_of(names)}{count}")
        yield Fact("on", columns_label([report.columns[at] for at in place.columns], report.columns))
    yield from _cause(reason, reason.help, reason.kernels - 1)
    if reason.command is not None:
        yield Fact("see", Run(reason.command, Tone.HEAD))


def call_blocks(report: SupportReport, operator: OperatorName, column: int, cell: Cell) -> Iterator[Block]:
    """The facts of one cell. column: its number."""
    tone = MARKS[cell.verdict].tone
    yield Paragraph(Run(cell_title(operator, report.columns[column], cell), tone), hang=INDENT)
    yield Facts([*_cause(cell, help_words(cell))], INDENT, Tone.DIM)


def _cause(cause: SupportReason | Cell, help_text: str | None, others: int = 0) -> Iterator[Fact]:
    """The error, the kernel and the remedy. others: how many more kernels have a part in it."""
    if cause.error is not None and cause.reason is not Reason.CALL:
        yield Fact("error", cause.error)
    if cause.kernel is not None:
        place = () if cause.span is None else (Run(" at "), Run(str(cause.span), Tone.PLACE))
        more = f" and {others:,} more" if others > 0 else ""
        yield Fact("kernel", (Run(f"{short_kernel(cause.kernel)} for {cause.key}"), *place, Run(more)))
    if help_text is not None:
        yield Fact("help", help_text)


def sheet(report: SupportReport) -> Sheet:
    """A row for each cell."""
    of_cell = tuple("declared_at" if field == "span" else field for field in Cell._fields[:-1])
    columns = ("operator", "backend", "device", "context", "tensor", "contexts", *of_cell)
    rows = (
        (row.operator, *column, *cell[:-1])
        for row in report.operators
        for column, cell in zip(report.columns, row.cells, strict=True)
    )
    return Sheet(columns, rows)


def record_yaml(promises: Sequence[Promise]) -> Iterator[str]:
    """A declaration file that promises what works."""
    yield "# Written by `dispatch-cli support --record`: what worked at that time.\n"
    yield f"dispatch: 1\nsupport:{'' if promises else ' []'}\n"
    for promise in sorted(promises, key=lambda promise: promise[:2]):
        yield f"  - op:{operators(promise.ops)}\n"
        yield f"    backends: {scalars(promise.backends)}\n"
        yield f"    contexts: {scalars([context.value for context in promise.contexts])}\n"


def recorded_promises(state: State, rows: Iterable[SupportRow], columns: Sequence[Column]) -> Iterator[Promise]:
    """The cells that work, as few promises: those that all operators of a namespace share, then the others.

    rows: those of one operator, in several states, count together. backends: devices. What fails, or is not known, is
    in none of them.
    """
    works: dict[OperatorName, int] = {}
    holds: dict[OperatorName, int] = {}
    for row in rows:
        bits = [(1 << at, cell.verdict) for at, cell in enumerate(row.cells) if columns[at].context in PROMISED]
        good = sum(bit for bit, verdict in bits if verdict.works)
        void = sum(bit for bit, verdict in bits if verdict is Verdict.NOT_APPLICABLE)
        holds[row.operator] = holds.get(row.operator, -1) & (good | void)
        works[row.operator] = (works.get(row.operator, 0) | good) & holds[row.operator]
    spaces: dict[str | None, list[OperatorName]] = {}
    for name in map(OperatorName.parse, state.dispatcher.names()):
        spaces.setdefault(name.namespace, []).append(name)
    groups: dict[int, list[str]] = {}
    for space in sorted({name.namespace or "" for name in works}):
        names, common = spaces[space or None], 0
        if space and len(names) > 1 and works.keys() >= frozenset(names):
            common, some = -1, 0
            for name in names:
                common, some = common & holds[name], some | works[name]
            common &= some
        if common:
            yield from _promises((f"{space}::*",), common, columns)
        for name in names:
            if left := works.get(name, 0) & ~common:
                groups.setdefault(left, []).append(str(name))
    for left, ops in groups.items():
        yield from _promises(tuple(sorted(ops)), left, columns)


def _promises(ops: tuple[str, ...], mask: int, columns: Sequence[Column]) -> Iterator[Promise]:
    """The cells of a mask."""
    cells = ((column.device, column.context) for at, column in enumerate(columns) if mask >> at & 1)
    for devices, contexts in boxes(cells):
        yield Promise(ops, devices, contexts)
