"""Registrations that came, went or moved; and what differs beside those of operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatch_cli.answers.diff.report import DiffReport
from dispatch_cli.answers.diff.rows import (
    DiffFallback,
    DiffHigherOrder,
    DiffKernel,
    DiffKey,
    DiffMove,
    DiffPythonKernel,
    DiffRefused,
    DiffRegistration,
)
from dispatch_cli.answers.diff.sections_document import Fold, grouped, heading, namespace, table
from dispatch_cli.answers.diff.wording import CHANGES, NOTHING, kernel_words, kernels_words
from dispatch_cli.engine.comparison.identity import ChangeKind
from dispatch_cli.render.document import Block, Column, Inline, Narrow, Run, Tone, Under
from dispatch_cli.render.words import place_cell, plural, short_function


def registrations(report: DiffReport, fold: Fold) -> Iterator[Block]:
    """Registrations of operators that both sides have."""
    rows = report.registrations
    if rows:
        yield from heading(f"{plural(len(rows), 'registration')} changed")
        if fold.lists(rows):
            yield from table(_REGISTRATIONS, rows, fold, "registrations")
        else:
            groups = grouped(rows, lambda row: (CHANGES[row.change], row.key, namespace(row.operator)))
            yield from table(_groups(fold), groups, fold, "groups")
    if report.moved:
        yield from heading(f"{plural(len(report.moved), 'kernel')} moved to other keys")
        moves = grouped(report.moved, lambda move: (move.old_keys, move.new_keys, kernel_words(move.kernel)))
        yield from table(_moves(fold), moves, fold, "moves")


def others(report: DiffReport, fold: Fold) -> Iterator[Block]:
    """Python kernels, higher-order operators, fallbacks, and keys that one universe has alone."""
    if report.fallbacks:
        yield from heading(f"{plural(len(report.fallbacks), 'backend fallback')} changed")
        yield from table(_FALLBACKS, report.fallbacks, fold, "fallbacks")
    if report.python_kernels:
        yield from heading(f"{plural(len(report.python_kernels), 'Python kernel')} changed")
        if fold.lists(report.python_kernels):
            yield from table(_PYTHON, report.python_kernels, fold, "kernels")
        else:
            groups = grouped(report.python_kernels, lambda row: (_what(row), row.key, namespace(row.operator)))
            yield from table(_groups(fold), groups, fold, "groups")
    if report.higher_order_operators:
        yield from heading(f"{plural(len(report.higher_order_operators), 'higher-order operator')} changed")
        yield from _higher_order(report.higher_order_operators, fold)
    if report.keys:
        yield from heading("Keys that only one universe has")
        yield from table(_keys(fold), report.keys, fold, "keys")


def refused(report: DiffReport, fold: Fold) -> Iterator[Block]:
    """Registrations that PyTorch refuses, of one side alone."""
    if report.refused:
        number = plural(len(report.refused), "registration")
        yield from heading(f"{number} that PyTorch refuses, in one of the two only")
        yield from table(_REFUSED, report.refused, fold, "registrations")


def _what(row: DiffPythonKernel) -> str:
    return "another function" if row.change is ChangeKind.REPLACED else row.change.value


def _higher_order(rows: Sequence[DiffHigherOrder], fold: Fold) -> Iterator[Block]:
    changed = [row for row in rows if row.change is ChangeKind.REPLACED]
    alone = [row for row in rows if row.change is not ChangeKind.REPLACED]
    if alone:
        groups = grouped(alone, lambda operator: operator.change.value)
        names: list[Column[tuple[str, list[DiffHigherOrder]]]] = [
            Column("Change", lambda row, _: row[0]),
            Column("Count", lambda row, _: f"{len(row[1]):,}", right=True),
            Column("Names", lambda row, _: fold.names([operator.name for operator in row[1]], 8), Under("Change")),
        ]
        yield from table(names, groups, fold, "groups")
    if changed:
        yield from table(_HIGHER_ORDER, changed, fold, "operators")


def _impls(row: DiffHigherOrder, _: bool) -> Inline:
    texts = [
        f"{impl.name or impl.kind.value}: {_function(impl.before)} → {_function(impl.after)}" for impl in row.impls
    ] or ["its effects"]
    return tuple(Run(text, breaks=position > 0) for position, text in enumerate(texts))


def _function(name: str | None) -> str:
    return NOTHING if name is None else short_function(name)


def _first(kernels: tuple[DiffKernel, ...]) -> DiffKernel | None:
    return kernels[0] if kernels else None


def _place(kernel: DiffKernel | None) -> Run:
    return place_cell(None if kernel is None else kernel.span)


def _groups(fold: Fold) -> list[Column[tuple[tuple[str, str, str], list[DiffRegistration | DiffPythonKernel]]]]:
    return [
        Column("Key", lambda row, _: row[0][1]),
        Column("Change", lambda row, _: row[0][0]),
        Column("Namespace", lambda row, _: row[0][2]),
        Column("Count", lambda row, _: f"{len(row[1]):,}", right=True),
        fold.examples(lambda row: [change.operator for change in row[1]]),
    ]


def _moves(fold: Fold) -> list[Column[tuple[tuple[tuple[str, ...], tuple[str, ...], str], list[DiffMove]]]]:
    return [
        Column("From", lambda row, _: ", ".join(row[0][0])),
        Column("To", lambda row, _: ", ".join(row[0][1])),
        Column("Kernel", lambda row, _: row[0][2], Under("From")),
        Column("Operators", lambda row, _: fold.names([move.operator for move in row[1]]), Under("From")),
        Column("Declared at", lambda row, _: _place(row[1][0].kernel), Narrow.BELOW, optional=True),
    ]


def _keys(fold: Fold) -> list[Column[DiffKey]]:
    return [
        Column("Key", lambda row, _: f"{row.key} [alias]" if row.alias else row.key),
        Column("Only in", lambda row, _: row.side),
        Column("Registrations", lambda row, _: f"{len(row.operators):,}", right=True, short_header="Reg."),
        Column("Fallback", lambda row, _: "" if row.fallback is None else kernel_words(row.fallback), optional=True),
        fold.examples(lambda row: row.operators),
    ]


_REGISTRATIONS: list[Column[DiffRegistration]] = [
    Column("Operator", lambda row, _: row.operator),
    Column("Key", lambda row, _: Run(row.key, Tone.ALIAS), Under("Operator")),
    Column("Change", lambda row, _: CHANGES[row.change], wraps=False),
    Column("Kernel", lambda row, _: kernels_words(_first(row.before), _first(row.after)), Under("Operator")),
    Column("Declared at", lambda row, _: _place(_first(row.after) or _first(row.before)), Narrow.BELOW, optional=True),
]
_FALLBACKS: list[Column[DiffFallback]] = [
    Column("Key", lambda row, _: row.key),
    Column("Change", lambda row, _: "another one" if row.change is ChangeKind.REPLACED else row.change.value),
    Column("Fallback", lambda row, _: kernels_words(row.before, row.after), Under("Key")),
    Column("Declared at", lambda row, _: _place(row.after or row.before), Narrow.BELOW, optional=True),
]
_REFUSED: list[Column[DiffRefused]] = [
    Column("Change", lambda row, _: CHANGES[row.change]),
    Column("Operator", lambda row, _: row.operator or "", optional=True),
    Column("Reason", lambda row, _: row.message, Under("Change")),
    Column("Declared at", lambda row, _: place_cell(row.span), Narrow.BELOW, optional=True),
]
_PYTHON: list[Column[DiffPythonKernel]] = [
    Column("Operator", lambda row, _: row.operator),
    Column("Key", lambda row, _: row.key),
    Column("Change", lambda row, _: f"{_function(row.before)} → {_function(row.after)}", Under("Operator")),
]
_HIGHER_ORDER: list[Column[DiffHigherOrder]] = [
    Column("Operator", lambda row, _: row.name),
    Column("Implementations", _impls, Under("Operator")),
]
