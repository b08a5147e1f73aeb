"""``dispatch-cli crossref`` of declarations: findings where a built library or a state registers something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dispatch_cli.answers.findings.ci.command_options import append_step_summary
from dispatch_cli.answers.findings.command_options import (
    NO_CHECK_OPTIONS,
    load_settings,
    refuse_unknown_checks,
    say_outcome,
)
from dispatch_cli.answers.findings.crossref.command_options import Asked, ask_live
from dispatch_cli.cli.options import chosen_of_both_kinds, guarded_names, resolved_name
from dispatch_cli.cli.output import FOR_CI, BadInput, Output, show, write_for_ci

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dispatch_cli.declarations.tree import ExtractedDocument
    from dispatch_cli.engine.history.state import State
    from dispatch_cli.model.built import BuiltLibrary
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.model.universe import Universe


def show_drift(
    files: Sequence[str | ExtractedDocument],
    state: State,
    against: str | None,
    asked: Asked,
    ops: tuple[str, ...],
    out: Output,
    allow_outside: bool,
    *,
    full: bool,
    step_summary: str | None,
) -> None:
    """Show where a library is not as declared. state: what the files declare.

    against: the state that has the library, by its name; None for a live PyTorch, of which *asked* says which.
    Exits as check-invariants does. The settings are those of the project and of the declarations.
    """
    from dispatch_cli.answers.findings.report import findings_report
    from dispatch_cli.checks.listing import Limits
    from dispatch_cli.model.problem import InputError
    from dispatch_cli.model.settings import CheckSettings, Selector

    try:
        settings, _ = load_settings(NO_CHECK_OPTIONS, allow_outside)
    except InputError as error:
        raise BadInput(error, out.color) from None
    refuse_unknown_checks(state, settings, out.color)
    names, higher_order = state.own_operators(), state.own_higher_order_operators()
    if ops:
        names, higher_order = chosen_of_both_kinds(state, ops)
    if against is None:
        from dispatch_cli.crossref.built import ask_built

        library, universe = ask_live(lambda progress: ask_built(asked.python, asked.modules, progress, asked.timeout))
        when = _answers(state, asked)
    else:
        try:
            library, universe = _held(state, against, allow_outside)
        except InputError as error:
            raise BadInput(error, out.color) from None
        when = {}
    state = _with_universe(files, state, universe, allow_outside, when)
    all_settings = (*state.declarations.settings, *settings)
    drift = CheckSettings(
        select=(Selector("drift"), Selector("refused-registration"), Selector("unused-suppression")),
        ignore=tuple(selector for setting in all_settings for selector in setting.ignore),
    )
    report = findings_report(
        state,
        names,
        guarded_names(names, higher_order).union(_undeclared(library, ops)) if ops else None,
        (*settings, drift),
        higher_order=higher_order,
        built=library,
        limits=None if full else Limits(),
    )
    append_step_summary(report, step_summary)
    if out.format in FOR_CI:
        write_for_ci("findings", report, out)
    else:
        how: dict[str, Any] = {"full": full} if out.format == "text" else {}
        show(report, out, **how)
    say_outcome(report, out)
    raise click.exceptions.Exit(1 if report.failed else 0)


def _held(state: State, against: str, allow_outside: bool) -> tuple[BuiltLibrary, Universe]:
    """Registrations of an embedded base or a file, as far as they concern what is declared. Errors: InputError."""
    from dispatch_cli import bases
    from dispatch_cli.api import load_state
    from dispatch_cli.crossref.held import held_by

    name = resolved_name(against)
    is_base = name in bases.names()
    held = load_state([], bases=[name]) if is_base else load_state([name], allow_outside=allow_outside)
    namespaces = {operator.namespace for operator in state.own_operators() if operator.namespace is not None}
    return held_by(held, name, namespaces), held.dispatcher.universe


def _undeclared(library: BuiltLibrary, ops: tuple[str, ...]) -> Iterator[OperatorName]:
    """The operators that --op chooses of those for which the library registers something."""
    from dispatch_cli.answers.shared.selection import select_names
    from dispatch_cli.model.names import OperatorName

    names = [name for name, operator in library.operators.items() if operator.is_imported]
    return (OperatorName.parse(name) for glob in ops for name in select_names(names, glob))


def _answers(state: State, asked: Asked) -> dict[str, str]:
    """The truth of conditions about PyTorch there, as choices of ``--when``."""
    if state.variants is None:
        return {}
    from dispatch_cli.capture.run import ask_conditions

    atoms = state.variants.atoms
    answers = ask_live(lambda _: ask_conditions(asked.python, atoms, asked.timeout))
    return {condition: str(int(holds)) for condition, holds in answers.items()}


def _with_universe(
    files: Sequence[str | ExtractedDocument],
    state: State,
    universe: Universe,
    allow_outside: bool,
    when: Mapping[str, str],
) -> State:
    """The declarations as that PyTorch registers them, whose ``torch.library`` may do other things than the newest.

    when: the truth of conditions there.
    Files that name a universe or extend a state, and declare what that PyTorch does not have, are taken as they are.
    """
    from dispatch_cli.api import load_state
    from dispatch_cli.model.problem import InputError

    if state.source is not None and not when:
        return state
    try:
        return load_state(files, universe=universe, allow_outside=allow_outside, when=when)
    except InputError:
        return state
