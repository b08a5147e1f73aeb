"""How an answer goes out: --format, -o and --color, and the writing itself."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import wraps
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

if TYPE_CHECKING:
    from pathlib import Path

    from dispatch_cli.model.problem import InputError
    from dispatch_cli.render.document import Block
    from dispatch_cli.render.text import Style

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Output(NamedTuple):
    """What the output options say. file: None for standard output."""

    format: str
    file: str | None
    color: str


FORMATS = ("text", "json", "csv", "markdown", "html")
"""What every report can be written as; one that has no rows of one shape is not written as CSV."""


def output_options(*others: str, csv: bool = True) -> Callable[[_Command], Callable[..., Any]]:
    """--format, -o, --color. The command gets them as one `Output`, named ``out``.

    others: the formats that the command writes itself. csv: whether there is a sheet.
    """
    formats = (*(one for one in FORMATS if csv or one != "csv"), *others)

    def decorate(command: _Command) -> Callable[..., Any]:
        @wraps(command)
        def call(*args: Any, format_: str, output: str | None, color: str, **others: Any) -> Any:
            return command(*args, out=Output(format_, output, color), **others)

        decorated: Callable[..., Any] = call
        for decorator in reversed(
            (
                click.option("--format", "format_", type=click.Choice(formats), default="text", show_default=True),
                click.option("-o", "--output", metavar="FILE", help="Write to FILE instead of standard output."),
                click.option(
                    "--color",
                    type=click.Choice(("auto", "always", "never")),
                    default="auto",
                    show_default=True,
                    help="NO_COLOR and FORCE_COLOR are honoured under auto.",
                ),
            )
        ):
            decorated = decorator(decorated)
        return decorated

    return decorate


def show(report: Any, out: Output, view: str | None = None, **how: Any) -> None:
    """Write a report in the format that was asked for.

    A module of `dispatch_cli.render` makes a document or a sheet of it: the one named *view*, or else like the report.
    how: what the document depends on beside the report.
    """
    write(_chunks(report, out, view or report.REPORT.replace("-", "_"), how), out.file)


def _chunks(report: Any, out: Output, view: str, how: dict[str, Any]) -> Iterator[str]:
    if out.format == "json":
        from dispatch_cli.render.data import json_text

        return json_text(report)
    answer = import_module(f"dispatch_cli.render.{view}")
    if out.format == "csv":
        from dispatch_cli.render.sheet import csv_text

        return csv_text(answer.sheet(report))
    if out.format == "text":
        from dispatch_cli.render.text import text

        style = style_for(sys.stdout, out.color, out.file)
        return text(answer.document(report, style.width, **how), style)
    blocks = answer.document(report, **how)
    if out.format == "markdown":
        from dispatch_cli.render.markdown import markdown

        return markdown(blocks)
    assert out.format == "html", f"{out.format} is not a format of reports"
    from dispatch_cli.render.html import html

    return html(blocks, f"dispatch-cli {click.get_current_context().info_name}")


def refuse(error: InputError, color: str = "auto", annotate: bool = False) -> click.exceptions.Exit:
    """Show every problem on standard error; the result, raised, ends the run with exit code 2.

    annotate: the problems go to standard output as well, as GitHub's workflow commands.
    """
    if annotate:
        from pathlib import Path

        from dispatch_cli.render.ci.github import problems_github

        write(problems_github(error.problems, Path.cwd()), None)
    from dispatch_cli.render.problems import problems

    warn(problems(error.problems), color)
    return click.exceptions.Exit(2)


def warn(blocks: Iterable[Block], color: str) -> None:
    """Show a document on standard error."""
    from dispatch_cli.render.text import text

    style = style_for(sys.stderr, color)
    click.echo("".join(text(blocks, style)), nl=False, err=True, color=style.color)


def style_for(stream: Any, color: str, output: str | None = None) -> Style:
    """Width and colour for a stream: a terminal's own width, and no limit where there is no terminal."""
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
    width = None
    if terminal:
        import shutil

        width = max(40, shutil.get_terminal_size().columns)
    return Style(width, in_color)


def write(chunks: Iterable[str], output: str | None, compressed: bool = False) -> None:
    """Write an answer to standard output, or whole or not at all to a file, which can be compressed by gzip."""
    if output is None:
        _write_to_stdout(chunks)
        return
    from pathlib import Path

    target = Path(output)
    try:
        with suppress(FileNotFoundError):
            target.stat()  # exists() says no as well where links go in a circle
        if target.exists() and not target.is_file():
            # a device or a named pipe is written to; a directory is an error
            with target.open("wb") as file:
                _encode(file, chunks, compressed)
        else:
            _replace(target.resolve(), chunks, compressed)
    except OSError as error:
        raise click.UsageError(f"cannot write {output}: {error.strerror or error}") from None


def _replace(target: Path, chunks: Iterable[str], compressed: bool) -> None:
    """Write beside *target*, then put it in its place with the mode that it has, or that a new file would have."""
    import tempfile
    from pathlib import Path

    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name[:100]}.", delete=False) as file:
        written = Path(file.name)
        try:
            _encode(file, chunks, compressed)
            file.close()
            written.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            written.replace(target)
        except BaseException:
            written.unlink(missing_ok=True)
            raise


def _encode(stream: Any, chunks: Iterable[str], compressed: bool) -> None:
    if compressed:
        from gzip import GzipFile

        # without a name and a time of its own, the same text gives the same file
        with GzipFile("", "wb", 9, stream, mtime=0) as packed:
            _encode(packed, chunks, False)
        return
    text = io.TextIOWrapper(stream, "utf-8", _UNENCODABLE, newline="")
    text.writelines(chunks)
    text.detach()


_UNENCODABLE = "backslashreplace"
"""What becomes of characters that the output can not have: file names that are not text, signs in a narrow encoding."""


def _write_to_stdout(chunks: Iterable[str]) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_UNENCODABLE)
    for chunk in chain(chunks, (None,)):
        if not _written(chunk):
            return


def _written(chunk: str | None) -> bool:
    """Write a piece to standard output, or flush; False when its reader has gone, which is no error."""
    try:
        sys.stdout.flush() if chunk is None else sys.stdout.write(chunk)
    except OSError as error:
        # keep Python from complaining once more when it closes the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return False
        raise click.UsageError(f"cannot write to standard output: {error.strerror or error}") from None
    return True


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
