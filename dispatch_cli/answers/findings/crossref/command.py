"""``dispatch-cli crossref``: declarations beside a library or a state, or the engine beside PyTorch."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, cast

import click

from dispatch_cli.answers.findings.command_options import (
    NO_CHECK_OPTIONS,
    full_option,
    load_settings,
    refuse_bad_settings,
    show_findings,
    step_summary_option,
)
from dispatch_cli.answers.findings.crossref.command_options import (
    LIVE,
    Asked,
    check_modules,
    live_options,
    patience,
    say_asking,
)
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.options import (
    allow_outside_option,
    chosen_of_both_kinds,
    embedded_name,
    filter_option,
    matching_names,
    resolved_name,
    say_notes,
)
from dispatch_cli.cli.output import FOR_CI, Output, output_options, say_written, show
from dispatch_cli.cli.source_reading import ReadingOptions, reading_options, with_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dispatch_cli.crossref.answers import Answers
    from dispatch_cli.crossref.replay import Subject
    from dispatch_cli.declarations.tree import ExtractedDocument
    from dispatch_cli.engine.state import State
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
    Exits as check-invariants does. The settings are those of the project.
    """
    from dispatch_cli.answers.findings.report import findings_report
    from dispatch_cli.checks.running.listing import Limits
    from dispatch_cli.model.settings import CheckSettings, Selector

    settings, _ = load_settings(NO_CHECK_OPTIONS, allow_outside)
    refuse_bad_settings(state, settings)
    names = chosen_of_both_kinds(state, ops)[0] if ops else state.own_operators()
    if against is None:
        from dispatch_cli.crossref.live import ask_built

        atoms = () if state.variants is None else state.variants.atoms
        say_asking()
        library, universe, held = ask_built(asked.python, asked.modules, asked.timeout, atoms)
        when = {condition: str(int(holds)) for condition, holds in held.items()}
    else:
        library, universe = _held(state, against, allow_outside)
        when = {}
    state = _with_universe(files, state, universe, allow_outside, when)
    drift = CheckSettings(
        select=(Selector("drift"), Selector("refused-registration"), Selector("unused-suppression")),
        ignore=tuple(selector for setting in settings for selector in setting.ignore),
    )
    report = findings_report(
        state,
        names,
        frozenset(names).union(_undeclared(library, ops)) if ops else None,
        (*settings, drift),
        built=library,
        limits=None if full else Limits(),
    )
    show_findings(state, report, out, step_summary, full)
    raise click.exceptions.Exit(1 if report.failed else 0)


def _held(state: State, against: str, allow_outside: bool) -> tuple[BuiltLibrary, Universe]:
    """Registrations of an embedded base or a file, as far as they concern what is declared. Errors: InputError."""
    from dispatch_cli.api import load_state
    from dispatch_cli.crossref.held import held_by

    name = resolved_name(against)
    is_base = embedded_name(name) is not None
    held = load_state([], bases=[name]) if is_base else load_state([name], allow_outside=allow_outside)
    namespaces = {operator.namespace for operator in state.own_operators() if operator.namespace is not None}
    return held_by(held, name, namespaces), held.dispatcher.universe


def _undeclared(library: BuiltLibrary, ops: tuple[str, ...]) -> Iterator[OperatorName]:
    """The operators that --op chooses of those for which the library registers something."""
    from dispatch_cli.answers.shared.selection import select_names
    from dispatch_cli.model.names import OperatorName

    names = [name for name, operator in library.operators.items() if operator.is_imported]
    return (OperatorName.parse(name) for glob in ops for name in select_names(names, glob))


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


@click.command("crossref", cls=Command)
@click.argument("files", nargs=-1, metavar="[FILE]...", shell_complete=completion("files"))
@click.option(
    "--against",
    metavar="STATE",
    shell_complete=completion("sides"),
    help=f"A capture, an embedded base, or {LIVE}: a running PyTorch. --python and --import imply {LIVE}.",
)
@live_options
@filter_option("those that the declarations name; without declarations, all")
@full_option
@step_summary_option
@allow_outside_option
@reading_options
@output_options(*FOR_CI)
def command(
    files: tuple[str, ...],
    against: str | None,
    python: str | None,
    modules: tuple[str, ...],
    ops: tuple[str, ...],
    full: bool,
    step_summary: str | None,
    allow_outside: bool,
    reading: ReadingOptions,
    out: Output,
) -> None:
    """Compare declarations with a library or a state, or dispatch-cli with PyTorch.

    With declarations or sources (crossref FILE --against live --import mylib), the operators, schemas, kernels,
    fallthroughs and backend fallbacks that they declare are looked up in a PyTorch that has imported the library, or in
    a STATE. What is missing, different or not declared, and what PyTorch refuses, is a finding at the declaration. The
    formats are those of check-invariants. The exit code is 1 when a finding is a warning or an error. `dispatch-cli
    checks drift` explains the checks.

    Without FILE, or with a capture of PyTorch, PyTorch's registrations are loaded into dispatch-cli, whose dumps and
    dispatch tables are compared with those of a live PyTorch, as are its invariants, and what torch._ops.resolve_key
    chooses. The exit code is 1 when anything differs. Where resolve_key and the C++ table choose different keys is no
    difference: `dispatch-cli explain OP KEY` shows it.

    A PyTorch that has not answered after 600 seconds, or the seconds in the variable DISPATCH_CLI_TIMEOUT, is given up.
    """
    live = against in (None, LIVE)
    if not live and (python is not None or modules):
        raise click.UsageError(f"--python and --import need --against {LIVE}.")
    is_asked = against is not None or python is not None or bool(modules)
    if not files and not (live and is_asked):
        raise click.UsageError(f"Nothing to compare: give declarations or sources, or --against {LIVE}.")
    check_modules(modules)
    asked = Asked(python, modules, patience())
    documents = with_documents(files, reading, None, allow_outside)
    state = _read(documents, not is_asked, allow_outside)
    if not live and state is not None and _is_capture(state):
        raise click.UsageError(f"{files[0]} is a state of PyTorch: `dispatch-cli diff` compares it with another one.")
    if state is not None and not _is_capture(state):
        held = None if live else against
        show_drift(documents, state, held, asked, ops, out, allow_outside, full=full, step_summary=step_summary)
        return
    _refuse_those_of_findings(out, step_summary, full)
    _compare(state, asked, ops, out)


def _refuse_those_of_findings(out: Output, step_summary: str | None, full: bool) -> None:
    """Errors: UsageError for options of findings where the answer has none."""
    if out.format in FOR_CI or step_summary is not None or full:
        option = "--full" if full else f"--format {out.format}"
        option = "--step-summary" if step_summary is not None else option
        raise click.UsageError(f"{option} works only when findings are shown: those of declarations or sources.")


def _compare(state: State | None, live: Asked, ops: tuple[str, ...], out: Output) -> None:
    """The engine against a live PyTorch."""
    from dispatch_cli.answers.findings.crossref.report import CrossrefReport
    from dispatch_cli.crossref.compare import compare
    from dispatch_cli.crossref.replay import replay, subject_of

    answers = _ask(live, ops)
    subject = subject_of(state) if state is not None else replay(answers)
    comparison = compare(subject, answers, *_names(subject, answers, ops))
    differences = comparison.differences
    report = CrossrefReport(comparison.universe, comparison.source, not differences, comparison.counts, differences)
    show(report, out, slots=comparison.slots)
    if out.file is not None:
        from dispatch_cli.answers.findings.crossref.document import result

        say_written(out.file, result(report, len(comparison.slots)))
    raise click.exceptions.Exit(1 if differences else 0)


def _read(files: Sequence[str | ExtractedDocument], needs_answers: bool, allow_outside: bool) -> State | None:
    """State that the files declare. Files first: PyTorch takes a while. Errors: InputError."""
    if not files:
        return None
    from dispatch_cli.api import load_state
    from dispatch_cli.model.problem import InputError, Problem

    state = load_state(files, allow_outside=allow_outside)
    say_notes(state)
    if needs_answers:
        first = files[0]
        name = first if isinstance(first, str) else first.name
        message = f"{name} has registrations, but no answers of a PyTorch to compare them with"
        hint = f"compare it with a running PyTorch: --against {LIVE}, or --python PATH"
        raise InputError((Problem("no-answers", message, hint=hint),))
    return state


def _is_capture(state: State) -> bool:
    """True if the files are captures of PyTorch, and not declarations of a library that may extend one."""
    from dispatch_cli.checks.files import registrant_of
    from dispatch_cli.model.declarations import Define, Implement, Registrant

    declared = state.declarations
    steps = (step for step in declared.steps if isinstance(step, Define | Implement))
    of_pytorch = (step for step in steps if registrant_of(step) is not Registrant.USER)
    return any(not declared.through(step.span) for step in itertools.islice(of_pytorch, 1))


def _ask(live: Asked, ops: tuple[str, ...]) -> Answers:
    from dispatch_cli.answers.shared.selection import as_cpp
    from dispatch_cli.capture.run import ANSWERS, run_probe

    globs = [form for glob in ops for form in dict.fromkeys((glob, as_cpp(glob)))]
    say_asking()
    return cast("Answers", run_probe(live.python, live.modules, ANSWERS, globs, seconds=live.timeout))


def _names(subject: Subject, answers: Answers, ops: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The operators that --op chooses of those that either has, and the higher-order ones."""
    from dispatch_cli.crossref.compare import higher_order_names, names_of

    names, higher_order = names_of(subject, answers), higher_order_names(subject, answers)
    if not ops:
        return names, higher_order
    chosen, others = matching_names(ops, names, higher_order)
    return sorted(chosen), sorted(others)
