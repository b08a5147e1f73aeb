"""``dispatch-cli crossref --view registrations``: what files register, beside what a state holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from dispatch_cli.answers.findings.crossref.command_options import LIVE, Asked, ask_live
from dispatch_cli.cli.options import matching_names, resolved_name
from dispatch_cli.cli.output import BadInput, Output, say_written, show

if TYPE_CHECKING:
    from dispatch_cli.declarations.tree import ExtractedDocument
    from dispatch_cli.model.built import BuiltLibrary
    from dispatch_cli.model.declarations import Declarations


def show_against(
    files: Sequence[str | ExtractedDocument],
    against: str,
    asked: Asked,
    ops: tuple[str, ...],
    allow_outside: bool,
    out: Output,
) -> None:
    """Compare what files register with a state, and exit: with 1 when they differ. against: `LIVE`, or a state."""
    from dispatch_cli.answers.findings.crossref.against import against_report
    from dispatch_cli.crossref.against import compare_with_state
    from dispatch_cli.model.problem import InputError

    try:
        declarations, library = _sides(files, against, asked, allow_outside)
    except InputError as error:
        raise BadInput(error, out.color) from None
    rows = compare_with_state(declarations, library)
    if ops:
        chosen, _ = matching_names(ops, sorted({row.operator for row in rows if row.operator}))
        rows = [row for row in rows if row.operator in chosen]
    report = against_report(
        rows, library.source, library.universe, len(declarations.undecided), len(declarations.unread)
    )
    show(report, out)
    if out.file is not None:
        from dispatch_cli.answers.findings.crossref.against_document import outcome

        say_written(out.file, outcome(report).text)
    raise click.exceptions.Exit(0 if report.equal else 1)


def _sides(
    files: Sequence[str | ExtractedDocument], against: str, asked: Asked, allow_outside: bool
) -> tuple[Declarations, BuiltLibrary]:
    """The files as the PyTorch of the state registers them, and the state. Errors: InputError."""
    from dispatch_cli import bases
    from dispatch_cli.declarations.loader import load

    if against == LIVE:
        from dispatch_cli.crossref.built import ask_built

        library, universe = ask_live(lambda bar: ask_built(asked.python, asked.modules, bar, asked.timeout))
        return load(files, universe=universe, allow_outside=allow_outside), library
    from dispatch_cli.api import load_state
    from dispatch_cli.crossref.against import names_in
    from dispatch_cli.crossref.held import held_by

    against = resolved_name(against)
    is_base = against in bases.names()
    state = load_state([], bases=[against]) if is_base else load_state([against], allow_outside=allow_outside)
    declarations = load(files, universe=state.dispatcher.universe, allow_outside=allow_outside)
    return declarations, held_by(state, against, {name.partition("::")[0] for name in names_in(declarations)})
