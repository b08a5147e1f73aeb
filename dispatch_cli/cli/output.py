"""Output of an answer: --format, -o and --color; and of an error where there is no answer."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

import click

from dispatch_cli.cli.modules import DOCUMENTS, PICTURES, completion
from dispatch_cli.cli.system import CannotWrite, ReaderGone

if TYPE_CHECKING:
    from dispatch_cli.model.problem import InputError
    from dispatch_cli.render.document import Block, Run
    from dispatch_cli.render.printed import Kind
    from dispatch_cli.render.text import Style


_Command = TypeVar("_Command", bound=Callable[..., Any])
_Step = ParamSpec("_Step")
PATIENCE = 0.3
"""Seconds after which a terminal is told what takes so long."""
OFTEN = 0.05
"""Seconds after which it is told of a further step."""


class Output(NamedTuple):
    """Values of the output options. file: None for standard output."""

    format: str
    file: str | None
    color: str


class Formats(click.Choice[str]):
    """The formats of a command's answer."""


FORMATS = ("text", "json", "csv", "markdown", "html")
"""Formats of every report; one that has no rows of one shape is not written as CSV."""
_KINDS: dict[str, Kind] = {"sarif": "data", "github": "commands"}
CSV_VARIABLE = "DISPATCH_CLI_CSV"
"""Variable whose value ``exact`` leaves cells of CSV as they are, even where spreadsheets take them for formulas."""
FOR_CI = ("sarif", "github", "junit")
"""The formats of CI systems, for findings."""


def output_option(
    *names: str, does: str = "Write to FILE instead of standard output."
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The file that an answer is written to. does: what the help says of it."""
    return click.option(*names, metavar="FILE", callback=_file, shell_complete=completion("files"), help=does)


def _file(_context: click.Context, _parameter: click.Parameter, name: str | None) -> str | None:
    """The name of a file; None for ``-``, which is standard output, as it is standard input among files."""
    if name == "":
        raise click.BadParameter("it is empty; give the name of a file, or - for standard output")
    return None if name == "-" else name


def output_options(
    *others: str, csv: bool = True, only: tuple[str, ...] = ()
) -> Callable[[_Command], Callable[..., Any]]:
    """--format, -o, --color. The command gets them as one `Output`, named ``out``.

    others: the formats that the command writes itself. csv: whether there is a sheet. only: all formats, the first the
    default, of a command that writes no report.
    """
    formats = only or (*(name for name in FORMATS if csv or name != "csv"), *others)

    def decorate(command: _Command) -> Callable[..., Any]:
        @wraps(command)
        def call(*args: Any, format_: str, output: str | None, color: str, **others: Any) -> Any:
            if output is not None:
                from dispatch_cli.model import read_files

                read_files.start()
            return command(*args, out=Output(format_, output, color), **others)

        return with_parameters(
            call,
            click.option("--format", "format_", type=Formats(formats), default=formats[0], show_default=True),
            output_option("-o", "--output"),
            click.option(
                "--color",
                type=click.Choice(("auto", "always", "never")),
                default="auto",
                show_default=True,
                help="Whether to use colour; auto honours NO_COLOR and FORCE_COLOR.",
            ),
        )

    return decorate


def with_parameters(command: Callable[..., Any], *parameters: Callable[..., Any]) -> Callable[..., Any]:
    """A command with parameters, as click decorates it, in the order of its help."""
    for parameter in reversed(parameters):
        command = parameter(command)
    return command


def show(report: Any, out: Output, view: str | None = None, **how: Any) -> None:
    """Write a report in the format that was asked for; where a file has it, standard error has its outcome.

    view: the report whose document or sheet shows it, where that is not its own; see `DOCUMENTS`.
    how: what the document depends on beside the report.
    """
    chunks = _chunks(report, out, view or report.REPORT, how)
    colored = out.format == "text" and style_for(sys.stdout, out.color, out.file).color
    kind: Kind = "data" if out.format == "json" else "text"
    write(chunks, out.file, kind=kind, colored=colored, for_people=out.format == "text")
    if out.file is not None:
        outcome = getattr(import_module(DOCUMENTS[view or report.REPORT].partition(":")[0]), "outcome", None)
        if outcome is not None:
            say_written(out.file, outcome(report))


def _chunks(report: Any, out: Output, view: str, how: dict[str, Any]) -> Iterator[str]:
    if out.format == "json":
        from dispatch_cli.render.data import json_text

        return json_text(report)
    module, _, part = DOCUMENTS[view].partition(":")
    answer, prefix = import_module(module), part and f"{part}_"
    if out.format == "csv":
        from dispatch_cli.render.sheet import csv_text

        return csv_text(getattr(answer, f"{prefix}sheet")(report), os.environ.get(CSV_VARIABLE) == "exact")
    document = getattr(answer, f"{prefix}document")
    if out.format == "text":
        from dispatch_cli.render.text import text

        style = style_for(sys.stdout, out.color, out.file)
        return text(document(report, **how), style)
    picture = import_module(PICTURES[view]).picture(report) if view in PICTURES else None
    if picture is not None and out.format == "html":
        how["drawn"] = tuple(picture)
    blocks = picture if picture is not None and out.format == "svg" else document(report, **how)
    if out.format == "markdown":
        from dispatch_cli.render.markdown import markdown

        return markdown(blocks)
    if out.format == "svg":
        from dispatch_cli.render.svg import svg

        return svg(blocks, f"dispatch-cli {click.get_current_context().info_name}")
    assert out.format == "html", f"{out.format} is not a format of reports"
    from dispatch_cli.render.html import html

    return html(blocks, f"dispatch-cli {click.get_current_context().info_name}")


class BadInput(click.ClickException):
    """The input is refused: the run says why, with places, and ends with exit code 2."""

    exit_code = 2

    def __init__(self, error: InputError, color: str) -> None:
        super().__init__(str(error))
        self.problems = error.problems
        self.color = color

    def show(self, file: Any = None) -> None:  # noqa: ARG002
        """Show every problem on standard error."""
        from dispatch_cli.render.problems import problems

        warn(problems(self.problems), self.color)


def write_for_ci(what: str, report: Any, out: Output) -> None:
    """Write findings or problems (*what*) in the format of a CI system; its module has a function for each."""
    from pathlib import Path

    module = import_module(f"dispatch_cli.answers.findings.ci.{out.format}_document")
    kind = _KINDS.get(out.format, "text")
    write(getattr(module, f"{what}_{out.format}")(report, Path.cwd()), out.file, kind=kind)


def say_written(file: str, what: str | Run) -> None:
    """Say on standard error what a file now holds."""
    from dispatch_cli.render.printed import safe

    say(f"{safe(file)}: {what if isinstance(what, str) else what.text}\n")


def say(text: str, color: bool | None = None) -> None:
    """Write on standard error. color: whether the text has colours; None leaves that to the terminal."""
    from dispatch_cli.render.printed import printed

    click.echo("".join(printed([text], colored=bool(color))), nl=False, err=True, color=color)


def say_note(text: str, kind: str = "note") -> None:
    """Text on standard error, in lines that fit. kind: its first word, such as ``warning``."""
    from dispatch_cli.render.document import Paragraph

    warn([Paragraph(f"{kind}: {text}", hang=2)], "auto")


def warn(blocks: Iterable[Block], color: str) -> None:
    """Show a document on standard error."""
    from dispatch_cli.render.text import text

    style = style_for(sys.stderr, color)
    say("".join(text(blocks, style)), style.color)


def style_for(stream: Any, color: str, output: str | None = None) -> Style:
    """Size and colour for a stream: a terminal's own size, and no limit where there is no terminal."""
    from dispatch_cli.render.text import Style

    terminal = output is None and stream.isatty()
    if color == "auto":
        in_color = terminal and os.environ.get("TERM") != "dumb"
        if os.environ.get("NO_COLOR"):
            in_color = False
        elif os.environ.get("FORCE_COLOR") and output is None:
            in_color = True
    else:
        in_color = color == "always"
    if not terminal:
        return Style(None, in_color)
    import shutil

    size = shutil.get_terminal_size()
    return Style(max(40, size.columns), in_color, size.lines)


def write(
    chunks: Iterable[str],
    output: str | None,
    compressed: bool = False,
    *,
    kind: Kind = "text",
    colored: bool = False,
    for_people: bool = False,
    is_baseline: bool = False,
) -> None:
    """Write an answer to standard output, or whole or not at all to a file, which can be compressed by gzip.

    kind, colored: as for `printed`, through which all of it goes.
    for_people: in the encoding of standard output; what programs read is in UTF-8.
    is_baseline: *output* is the file that `read_known` has read and found to be where it may be written.
    Errors: CannotWrite.
    """
    from dispatch_cli.render.printed import printed

    chunks = printed(chunks, kind, colored)
    if output is None:
        _write_to_stdout(chunks, for_people)
        return
    from dispatch_cli.cli.files import write_file

    if not is_baseline:
        refuse_input(output)
    try:
        write_file(chunks, output, compressed, follows_links=is_baseline)
    except OSError as error:
        raise CannotWrite(f"cannot write {output}: {error.strerror or error}") from None


def refuse_unwritable(output: str, in_place: bool = False) -> None:
    """Refuse a file that cannot be written, as far as one can see before the work.

    in_place: whether a file that is there is written to; otherwise a new one takes its place. Errors: CannotWrite.
    """
    from pathlib import Path

    from dispatch_cli.cli.files import check_folder, check_writable

    try:
        if not Path(output).absolute().parent.is_dir():
            raise FileNotFoundError(0, "there is no such directory")
        target = check_writable(output)
        if not target.exists() or (target.is_file() and not in_place):
            check_folder(target.resolve().parent)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CannotWrite(f"cannot write {output}: {reason}") from None


def refuse_input(output: str) -> None:
    """Refuse a file that the answer is made from. Errors: CannotWrite."""
    from dispatch_cli.model.read_files import is_noted

    if is_noted(output):
        raise CannotWrite(f"cannot write {output}: it is an input of this command")


def _write_to_stdout(chunks: Iterable[str], for_people: bool) -> None:
    from dispatch_cli.render.printed import UNENCODABLE

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=None if for_people else "utf-8", errors=UNENCODABLE)
    try:
        sys.stdout.writelines(chunks)
        sys.stdout.flush()
    except ReaderGone:
        return


@contextmanager
def progress_on(stream: Any, line: Callable[_Step, str]) -> Iterator[Callable[_Step, None] | None]:
    """A function to call before each step; None where the stream is no terminal.

    line: the text for a step.
    """
    if not stream.isatty():
        yield None
        return
    import time

    from dispatch_cli.render.printed import safe

    start, last = time.monotonic(), float("-inf")
    shown = False

    def progress(*args: _Step.args, **kwargs: _Step.kwargs) -> None:
        nonlocal shown, last
        now = time.monotonic()
        if now - start > PATIENCE and now - last >= OFTEN:
            shown, last = True, now
            stream.write(f"\r\x1b[K{safe(line(*args, **kwargs))}")
            stream.flush()

    try:
        yield progress
    finally:
        if shown:
            stream.write("\r\x1b[K")
            stream.flush()
