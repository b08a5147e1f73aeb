"""The answer of ``dispatch-cli trace``: its options, and the kernels of files that it looks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from dispatch_cli.cli.options import SourceOptions, at_setting, matching_names, project_defaults
from dispatch_cli.cli.output import Output, show

if TYPE_CHECKING:
    from dispatch_cli.answers.trace.view import TraceView
    from dispatch_cli.model.declarations import Step
    from dispatch_cli.trace.selected import Wanted


def declared_steps(files: Sequence[str], base: str) -> tuple[Step, ...]:
    """Registrations of files over an embedded state, each by itself: several may say the same. Errors: InputError."""
    from dispatch_cli.cli.options import opened_files
    from dispatch_cli.cli.source_reading import with_documents
    from dispatch_cli.declarations.loader import load
    from dispatch_cli.model.reading.problem import InputError

    named = None
    try:
        project = project_defaults(files)
        named = None if project is None else project.privateuse1
        backend = None if named is None else named.text
        source = opened_files(SourceOptions(tuple(files), (), None, (base,)))
        documents = with_documents(source.files, source.reading, None, source.allow_outside, source.bases)
        loaded = [load([document], bases=(base,), privateuse1=backend) for document in documents]
    except InputError as error:
        raise at_setting(error, named) from None
    return tuple(step for declarations in loaded for step in declarations.own_steps)


class TraceAsked(NamedTuple):
    """Options of a question about a recording."""

    ops: tuple[str, ...]
    keys: tuple[str, ...]
    lines: tuple[str, ...]
    only: tuple[str, ...]
    depth: int | None
    explain: int | None
    kernels: tuple[str, ...]
    limit: int
    full: bool


def check_asked(asked: TraceAsked, out: Output) -> None:
    """Refuse what is wrong whatever the program calls, before it runs."""
    _check_together(asked, out)
    for file in asked.kernels:
        if file == "-":
            message = "standard input is the program's; give a file, or the recording afterwards."
            raise click.BadParameter(message, param_hint="'--kernels'")
        if not Path(file).exists():
            raise click.BadParameter(f"{file}: there is no such file.", param_hint="'--kernels'")


def trace_view(file: str) -> TraceView:
    """A recording, read, with what the engine says of it. Errors: InputError."""
    from dispatch_cli.answers.trace.view import TraceView
    from dispatch_cli.trace.recording import read
    from dispatch_cli.trace.state import state_of

    recording = read(file)
    return TraceView(recording, state_of(recording))


def show_trace(view: TraceView, asked: TraceAsked, out: Output) -> None:
    """Write the answer. Exits with 2 where something is asked for that the recording does not have."""
    _check_together(asked, out)
    if asked.explain is not None:
        _explain(view, asked.explain, out, asked.full)
        return
    from dispatch_cli.answers.trace.report import trace_report

    wanted = _wanted(view, asked)
    own = declared_steps(asked.kernels, view.known.base) if asked.kernels else None
    report = trace_report(view, wanted, asked.depth, own)
    limit = None if asked.full else asked.limit or None
    show(report, out, None, **({} if out.format in ("json", "csv") else {"limit": limit}))


def _check_together(asked: TraceAsked, out: Output) -> None:
    """Refuse options that say nothing beside each other."""
    if asked.explain is not None:
        if out.format == "csv":
            raise click.UsageError("--explain has no format csv.")
        for option in ("op", "key", "line", "only", "depth", "kernels"):
            if getattr(asked, f"{option}s" if option in ("op", "key", "line") else option):
                raise click.UsageError(f"--explain shows one call, by its number; it takes no --{option}.")


def _explain(view: TraceView, number: int, out: Output, full: bool) -> None:
    """Show one call as `resolve` does."""
    from dispatch_cli.answers.trace.call import trace_call_report

    count = len(view.recording.calls)
    if number >= count:
        known = f"the recording has the calls 0 to {count - 1}" if count else "the recording has no calls"
        raise click.BadParameter(f"there is no call {number}; {known}.", param_hint="'--explain'")
    report = trace_call_report(view, number)
    if report is None:
        problem = view.path(number).problem
        raise click.UsageError(f"Nothing is known of call {number} of {view.recording.operator_of(number)}: {problem}.")
    show(report, out, "resolve", full=full)


def _wanted(view: TraceView, asked: TraceAsked) -> Wanted:
    """The calls that the options ask for; exits with 2 where one asks for nothing that the recording has."""
    from dispatch_cli.cli.options import chosen_keys
    from dispatch_cli.trace.facts import CallFact
    from dispatch_cli.trace.selected import PythonLine, Wanted

    lines = tuple(map(PythonLine.parse, asked.lines))
    for text, line in zip(asked.lines, lines, strict=True):
        if not any(line.has(place) for place in view.recording.places):
            files = sorted({place.file for place in view.recording.places})
            known = f"The calls come from {', '.join(files[:5])}." if files else "The recording has no lines of Python."
            raise click.BadParameter(f"no call comes from {text!r}. {known}", param_hint="'--line'")
    return Wanted(
        _operators(view, asked.ops),
        chosen_keys(view.state.dispatcher.universe, asked.keys),
        lines,
        tuple(map(CallFact, asked.only)),
    )


def _operators(view: TraceView, ops: tuple[str, ...]) -> frozenset[str] | None:
    """The operators of the recording that --op chooses, None for all; exits with 2 when a glob chooses none."""
    none = "the program called no operator that matches"
    chosen, _ = matching_names(ops, view.recording.operators, none=none)
    return frozenset(chosen) if ops else None
