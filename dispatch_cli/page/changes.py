"""Changes that the files make to the state that they are over: as `diff` says it."""

from __future__ import annotations

from typing import Any

from dispatch_cli import bases
from dispatch_cli.answers.diff.report import DiffArguments, as_side, diff_report
from dispatch_cli.answers.diff.rows import DiffRegistration
from dispatch_cli.answers.diff.wording import CHANGES, kernels_words, outcome
from dispatch_cli.engine.history.apply import run
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.declarations import Declarations
from dispatch_cli.render.data import data_of

MOST_REGISTRATIONS = 1000
"""More are counted only."""


def changes_data(state: State, files: tuple[str, ...], options: tuple[str, ...]) -> dict[str, Any] | None:
    """The arguments of ``diff``, its outcome and the registrations that changed.

    None where ``diff`` cannot compare the two. files, options: the source options as they were given.
    """
    below = as_side(state.over)
    if not files or len(below) != 1 or below[0] not in (*bases.names(), *bases.overlay_names()):
        return None
    before = run(Declarations(state.dispatcher.universe), state.source)
    report = diff_report(before, state, (below, files))
    return {
        "arguments": DiffArguments(below, files, options).arguments,
        "outcome": outcome(report),
        "registrations": [_row(registration) for registration in report.registrations[:MOST_REGISTRATIONS]],
        "more_registrations": max(0, len(report.registrations) - MOST_REGISTRATIONS),
    }


def _row(row: DiffRegistration) -> dict[str, Any]:
    before, after = (kernels[0] if kernels else None for kernels in (row.before, row.after))
    shown = after or before
    return {
        "operator": row.operator,
        "key": row.key,
        "change": CHANGES[row.change],
        "kernel": kernels_words(before, after),
        "declared_at": None if shown is None else data_of(shown.span),
    }
