"""``dispatch-cli crossref``"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from dispatch_cli.cli.live import ask_live, check_modules, live_options
from dispatch_cli.cli.options import allow_outside_option, filter_option
from dispatch_cli.cli.output import BadInput, Output, output_options, show

if TYPE_CHECKING:
    from dispatch_cli.crossref.answers import Answers, Probed
    from dispatch_cli.crossref.replay import Subject


class _Asked(NamedTuple):
    """What a live PyTorch is asked with: the options of `live_options`, and the globs of --op."""

    python: str | None
    modules: tuple[str, ...]
    timeout: int
    ops: tuple[str, ...]


@click.command("crossref")
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--live", is_flag=True, help="Compare with a running PyTorch; --python and --import mean it too.")
@live_options
@filter_option("all")
@allow_outside_option
@output_options()
def command(
    file: str | None,
    live: bool,
    python: str | None,
    modules: tuple[str, ...],
    timeout: int,
    ops: tuple[str, ...],
    allow_outside: bool,
    out: Output,
) -> None:
    """Compare the engine with a live PyTorch or a recording.

    The registrations go into the engine; its dumps and tables are compared with PyTorch's, line by line and key by
    key. A live PyTorch is also asked for its invariants, and for what torch._ops.resolve_key chooses.

    FILE is a recording, which has both registrations and answers, or a file of declarations such as a capture: then the
    answers are those of the live PyTorch. Without FILE the registrations come from the live PyTorch, too.

    Exits with 1 when anything differs. Where the C++ table and Python's resolve_key choose different keys is told, and
    is no difference; --format json has every such slot.
    """
    live = live or python is not None or bool(modules)
    if file is None and not live:
        raise click.UsageError("Nothing to compare with: give a recording, or --live.")
    check_modules(modules)
    subject, answers = _sides(file, _Asked(python, modules, timeout, ops) if live else None, allow_outside, out.color)
    from dispatch_cli.crossref.compare import compare
    from dispatch_cli.report.crossref import crossref_report

    comparison = compare(subject, answers, *_names(subject, answers, ops))
    show(crossref_report(comparison), out, slots=comparison.slots)
    raise click.exceptions.Exit(1 if comparison.differences else 0)


def _sides(file: str | None, live: _Asked | None, allow_outside: bool, color: str) -> tuple[Subject, Answers]:
    """The engine and PyTorch. The file is read first: asking PyTorch takes a while."""
    from dispatch_cli.crossref.replay import replay
    from dispatch_cli.model.problem import InputError

    try:
        subject, recorded = (None, None) if file is None else _read(file, live is None, allow_outside)
    except InputError as error:
        raise BadInput(error, color) from None
    probed = recorded if live is None else _ask(live)
    assert probed is not None, "a file without answers is refused where there is no live PyTorch"
    return subject or replay(probed), probed.answers


def _read(file: str, needs_answers: bool, allow_outside: bool) -> tuple[Subject, Probed | None]:
    """The registrations of a file, and the answers when it is a recording. Errors: InputError."""
    from dispatch_cli.crossref.recording import read
    from dispatch_cli.crossref.replay import replay, subject_of
    from dispatch_cli.model.problem import InputError, Problem

    recorded = read(file, allow_outside)
    if recorded is not None:
        return replay(recorded), recorded
    if file == "-":
        # It has been read already, and cannot be read again as declarations.
        message = "what is on standard input is not a recording"
        raise InputError((Problem("not-a-recording", message, hint="declarations have to be in a file"),))
    from dispatch_cli.api import load_state

    subject = subject_of(load_state([file], allow_outside=allow_outside))
    if needs_answers:
        message = f"{file} holds registrations, but nothing that a PyTorch answered"
        hint = "compare it with a running PyTorch: --live, or --python PATH"
        raise InputError((Problem("no-answers", message, hint=hint),))
    return subject, None


def _ask(live: _Asked) -> Probed:
    from dispatch_cli.crossref.live import ask
    from dispatch_cli.report.selection import as_cpp

    globs = [form for glob in live.ops for form in dict.fromkeys((glob, as_cpp(glob)))]
    return ask_live(lambda progress: ask(live.python, live.modules, progress, globs, live.timeout))


def _names(subject: Subject, answers: Answers, ops: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The operators that --op chooses of those that either has, and the higher-order ones.

    Exits with 2 when a glob chooses none of either.
    """
    from dispatch_cli.crossref.compare import higher_order_names, names_of
    from dispatch_cli.report.selection import select_higher_order, select_names

    names, higher_order = names_of(subject, answers), higher_order_names(subject, answers)
    if not ops:
        return names, higher_order
    chosen: set[str] = set()
    others: set[str] = set()
    for glob in ops:
        found, of_higher_order = select_names(names, glob), select_higher_order(higher_order, glob)
        if not found and not of_higher_order:
            raise click.BadParameter(f"no operator matches {glob!r}.", param_hint="'--op'")
        chosen.update(found)
        others.update(of_higher_order)
    return sorted(chosen), sorted(others)
