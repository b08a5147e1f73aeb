"""The answer of ``dispatch-cli trace``: its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from dispatch_cli.cli.options import matching_names
from dispatch_cli.cli.output import Output, show

if TYPE_CHECKING:
    from dispatch_cli.answers.trace.view import TraceView
    from dispatch_cli.trace.selected import Wanted


class TraceAsked(NamedTuple):
    """Options of a question about a recording."""

    ops: tuple[str, ...]
    keys: tuple[str, ...]
    lines: tuple[str, ...]
    only: tuple[str, ...]
    depth: int | None
    explain: int | None
    limit: int
    full: bool


def trace_view(file: str) -> TraceView:
    """A recording, read, with what the engine says of it. Errors: InputError."""
    from dispatch_cli.answers.trace.view import TraceView
    from dispatch_cli.trace.recording import read
    from dispatch_cli.trace.state import state_of

    recording = read(file)
    return TraceView(recording, state_of(recording))


def show_trace(view: TraceView, asked: TraceAsked, out: Output) -> None:
    """Write the answer. Exits with 2 where something is asked for that the recording does not have."""
    check_together(asked, out)
    if asked.explain is not None:
        _explain(view, asked.explain, out, asked.full)
        return
    from dispatch_cli.answers.trace.report import trace_report

    wanted = _wanted(view, asked)
    report = trace_report(view, wanted, asked.depth)
    limit = None if asked.full else asked.limit or None
    show(report, out, None, **({} if out.format in ("json", "csv") else {"limit": limit}))


def check_together(asked: TraceAsked, out: Output) -> None:
    """Refuse options that say nothing beside each other."""
    if asked.explain is not None:
        if out.format == "csv":
            raise click.UsageError("--explain has no format csv.")
        for option in ("op", "key", "line", "only", "depth"):
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
