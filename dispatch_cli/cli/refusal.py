"""Output of a command that refuses its input: the reason, for people and in the format that was asked for."""

from __future__ import annotations

from collections.abc import Sequence

import click

from dispatch_cli.answers.shared.report_parts import ProblemsReport
from dispatch_cli.cli.output import FOR_CI, BadInput, Formats, Output, show, write_for_ci
from dispatch_cli.cli.system import CannotWrite
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.read_files import note, start
from dispatch_cli.render.printed import printed

MAX_MESSAGE = 1_000
"""Characters of a line that says what is wrong."""
WITHOUT_PROBLEMS = ("text", "raw", "yaml", "svg")
"""The formats in which nothing is written where there is no answer: standard error has said it as text."""


def refuse_run(error: click.ClickException, group: click.Group, argv: Sequence[str]) -> None:
    """Say on standard error what is wrong, and in the place of the answer too, where a program or a file waits for it.

    argv: what the command line was called with, whether click can parse it or not.
    """
    _show(error)
    name = next((arg for arg in argv if not arg.startswith("-")), "")
    command = group.get_command(click.Context(group), name)
    out = None if command is None else _output(command, argv[argv.index(name) + 1 :])
    if command is None or out is None or out.format in WITHOUT_PROBLEMS:
        return
    if isinstance(error, CannotWrite) and out.file is not None:
        return
    if out.file is not None:
        # what was not read yet must not be replaced either
        start()
        words = [*reversed(argv)]
        if out.file in words:
            words.remove(out.file)  # the last one
        for word in words:
            note(word)
    problems = error.problems if isinstance(error, BadInput) else (Problem("usage", error.format_message()),)
    try:
        with click.Context(command, info_name=name):
            if out.format in FOR_CI:
                write_for_ci("problems", problems, out)
            else:
                show(ProblemsReport(problems), out)
    except CannotWrite as failed:
        _show(failed)


def _show(error: click.ClickException) -> None:
    """Show what is wrong. What it quotes, such as the name of a file, neither commands a terminal nor is it endless."""
    if not isinstance(error, BadInput):
        lines = "".join(printed([error.format_message()])).split("\n")
        message = "\n".join(line if len(line) <= MAX_MESSAGE else f"{line[:MAX_MESSAGE]}…" for line in lines)
        error.format_message = lambda: message  # type: ignore[method-assign]
    error.show()


def _output(command: click.Command, args: Sequence[str]) -> Output | None:
    """Values of the output options; None where they cannot be read, or the command has none.

    The arguments are read without those that the command does not take: click's parser stops at the first.
    """
    formats = next((param.type for param in command.params if param.name == "format_"), None)
    if not isinstance(formats, Formats):
        return None
    options = [param for param in command.params if isinstance(param, click.Option)]
    known = {name for option in options for name in option.opts} | {"-", "--"}
    valued = {name for option in options if not option.is_flag for name in option.opts}
    taken = [
        arg
        for arg in args
        if not arg.startswith("-") or arg in known or arg.partition("=")[0] in valued or arg[:2] in valued
    ]
    arg = command.make_parser(click.Context(command, resilient_parsing=True)).parse_args(taken)[0]
    format_, file = arg.get("format_"), arg.get("output")
    return Output(str(format_), file, "auto") if format_ in formats.choices else None
