"""The words of `support`."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.answers.support.report import SupportColumn, SupportReport
from dispatch_cli.checks.support_words import reason_words
from dispatch_cli.engine.support.cell import Cell, Verdict
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.support import SupportContext
from dispatch_cli.render.document import Mark, Tone
from dispatch_cli.render.words import plural, short_kernel

MARKS = {
    Verdict.OWN: Mark("K", Tone.KERNEL, "own kernel"),
    Verdict.COMPOSITE: Mark("C", Tone.ALIAS, "composite"),
    Verdict.DECOMPOSITION: Mark("D", Tone.ALIAS, "decomposition"),
    Verdict.FALLBACK: Mark("F", Tone.FALLBACK, "fallback"),
    Verdict.NOTHING_TO_COMPUTE: Mark("N", Tone.KERNEL, "nothing to compute"),
    Verdict.NO_KERNEL: Mark("-", Tone.WARN, "no kernel"),
    Verdict.RAISES: Mark("X", Tone.BAD, "raises"),
    Verdict.GRADIENT_LOST: Mark("L", Tone.BAD, "loses the gradient"),
    Verdict.WRONG: Mark("W", Tone.BAD, "silently wrong"),
    Verdict.NOT_KNOWN: Mark("?", Tone.WARN, "not known"),
    Verdict.NOT_APPLICABLE: Mark("·", Tone.DIM, "does not apply"),
}
"""Marks in the cells of the matrix."""
ASSUMED = "Kernels are taken to do what their schemas and fake kernels say."
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


def verdict_sentence(report: SupportReport) -> str:
    """The number of operators that work in every column."""
    columns = [f"{column.name} on {column.backend}" for column in report.columns]
    where = columns[0] if len(columns) == 1 else f"all {len(columns)} columns"
    parts = [f"{report.working:,} {'works' if report.working == 1 else 'work'} in {where}"]
    parts += [f"{report.not_known:,} not known"] if report.not_known else []
    return f"{plural(report.chosen, 'operator')}: {', '.join(parts)}"


def counts(report: SupportReport) -> tuple[str, ...]:
    """Numbers of operators that work in each context, a text for each backend; none where there is one column."""
    if len(report.columns) == 1 or not report.operators:
        return ()
    parts: dict[str, list[str]] = {}
    for at, column in enumerate(report.columns):
        verdicts = [row.cells[at].verdict for row in report.operators]
        applying = sum(verdict is not Verdict.NOT_APPLICABLE for verdict in verdicts)
        works = sum(verdict.works for verdict in verdicts)
        parts.setdefault(column.backend, []).append(f"{column.name} {works:,} of {applying:,}")
    return tuple(f"{backend}: {', '.join(texts)}" for backend, texts in parts.items())


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
