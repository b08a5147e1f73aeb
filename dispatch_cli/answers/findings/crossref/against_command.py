"""``dispatch-cli extract --against``: what sources register, beside what a state holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dispatch_cli.answers.findings.crossref.command_options import Asked, ask_live, check_modules, live_options
from dispatch_cli.cli.completion import complete_files
from dispatch_cli.cli.options import resolved_name
from dispatch_cli.cli.output import BadInput, Output, say_written, show

if TYPE_CHECKING:
    from dispatch_cli.declarations.extracted import ExtractedDocument
    from dispatch_cli.model.built import BuiltLibrary
    from dispatch_cli.model.declarations import Declarations

_Command = TypeVar("_Command", bound=Callable[..., Any])
LIVE = "live"
"""What ``--against`` calls a running PyTorch."""


def against_options(command: _Command) -> _Command:
    """--against, with the options of a live PyTorch. The command gets `against`, `python`, `modules` and `timeout`."""
    option = click.option(
        "--against",
        metavar="STATE",
        shell_complete=complete_files,
        help="Compare what the sources register with a capture, an embedded base, or a running PyTorch: "
        f"{LIVE}, with --python and --import. The exit code is 1 when they differ.",
    )
    return option(live_options(command))


def show_against(document: ExtractedDocument, against: str, asked: Asked, allow_outside: bool, out: Output) -> None:
    """Compare a document of sources with a state, and exit: with 1 when they differ."""
    from dispatch_cli.answers.findings.crossref.against import against_report
    from dispatch_cli.crossref.against import compare_with_state
    from dispatch_cli.model.problem import InputError

    check_modules(asked.modules)
    if against != LIVE and (asked.python is not None or asked.modules):
        raise click.UsageError(f"--python and --import need --against {LIVE}.")
    try:
        declarations, library = _sides(document, against, asked, allow_outside)
    except InputError as error:
        raise BadInput(error, out.color) from None
    report = against_report(
        compare_with_state(declarations, library),
        library.source,
        library.universe,
        len(declarations.undecided),
        len(declarations.unread),
    )
    show(report, out)
    if out.file is not None:
        from dispatch_cli.answers.findings.crossref.against_document import outcome

        say_written(out.file, outcome(report).text)
    raise click.exceptions.Exit(0 if report.equal else 1)


def _sides(
    document: ExtractedDocument, against: str, asked: Asked, allow_outside: bool
) -> tuple[Declarations, BuiltLibrary]:
    """The sources as the PyTorch of the state registers them, and the state. Errors: InputError."""
    from dispatch_cli import bases
    from dispatch_cli.declarations.loader import load

    if against == LIVE:
        from dispatch_cli.crossref.built import ask_built

        library, universe = ask_live(lambda bar: ask_built(asked.python, asked.modules, bar, asked.timeout))
        return load([document], universe=universe), library
    from dispatch_cli.api import load_state
    from dispatch_cli.crossref.against import names_in
    from dispatch_cli.crossref.held import held_by

    against = resolved_name(against)
    is_base = against in bases.names()
    state = load_state([], bases=[against]) if is_base else load_state([against], allow_outside=allow_outside)
    declarations = load([document], universe=state.dispatcher.universe)
    return declarations, held_by(state, against, {name.partition("::")[0] for name in names_in(declarations)})
