"""Options that several commands share, and what stands behind them."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import wraps
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

if TYPE_CHECKING:
    from pathlib import Path

    from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
    from dispatch_cli.engine.history.state import State
    from dispatch_cli.model.higher_order import HigherOrderOperator
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.model.problem import InputError
    from dispatch_cli.render.document import Block
    from dispatch_cli.render.style import Style

_Command = TypeVar("_Command", bound=Callable[..., Any])


def source_options(command: Callable[..., Any], arguments: str = "[FILE]...") -> Callable[..., Any]:
    """FILE…, -k, --base and --universe: what is loaded. The command gets one `SourceOptions`, its first argument.

    arguments: how the help names them; what stands before the files is among the source's files.
    """

    @wraps(command)
    def call(
        files: tuple[str, ...], keys: tuple[str, ...], universe: str | None, bases: tuple[str, ...], **others: Any
    ) -> Any:
        return command(SourceOptions(files, keys, universe, bases), **others)

    for decorator in reversed(
        (
            click.argument("files", nargs=-1, metavar=arguments),
            click.option(
                "-k",
                "keys",
                multiple=True,
                metavar="KEY",
                help="Instead of files: an operator foo(Tensor x) with a kernel at KEY; give it several times.",
            ),
            click.option(
                "--base",
                "bases",
                multiple=True,
                metavar="NAME",
                help="An embedded PyTorch state to start from, such as torch-2.15; see `dispatch-cli bases`.",
            ),
            click.option(
                "--universe", metavar="NAME|PATH", help="Key layout; by default what the files say, or the newest."
            ),
        )
    ):
        call = decorator(call)
    return call


def filter_option(default: str) -> Callable[[_Command], _Command]:
    """--op: which operators. default: what is taken without it."""
    text = f"Only operators whose name matches. Without it: {default}."
    return click.option("--op", "ops", multiple=True, metavar="GLOB", help=text)


OWN_OR_ALL = "all; of files laid over a base, those that the files register something for"


def output_options(formats: Iterable[str]) -> Callable[[_Command], _Command]:
    """--format, -o, --color: how the answer goes out."""

    def decorate(command: _Command) -> _Command:
        for decorator in reversed(
            (
                click.option(
                    "--format", "format_", type=click.Choice(tuple(formats)), default="text", show_default=True
                ),
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
            command = decorator(command)
        return command

    return decorate


class SourceOptions(NamedTuple):
    """What the source options say."""

    files: tuple[str, ...]
    keys: tuple[str, ...]
    universe: str | None
    bases: tuple[str, ...]


def load_state(source: SourceOptions, color: str = "auto", annotate: bool = False, guards: Sequence[str] = ()) -> State:
    """Load and run what the source options name; exits with 2 and every problem when that fails.

    guards: files that say what must hold, and register nothing.
    annotate: the problems go to standard output as well, as GitHub's workflow commands.
    """
    from dispatch_cli.model.problem import InputError

    if not source.files and not source.keys and not source.bases:
        raise click.UsageError(
            "Nothing to load: give a declaration FILE ('-' for standard input), --base NAME, or -k KEY."
        )
    if source.keys and (source.files or source.bases):
        raise click.UsageError("-k takes the place of files and bases; give one or the other.")
    from dispatch_cli import api

    try:
        if source.keys:
            return api.what_if_state(source.keys, universe=source.universe)
        return api.load_state(source.files, universe=source.universe, bases=source.bases, guards=guards)
    except InputError as error:
        raise refuse(error, color, annotate) from None


def refuse(error: InputError, color: str = "auto", annotate: bool = False) -> click.exceptions.Exit:
    """Show every problem on standard error; the result, raised, ends the run with exit code 2.

    annotate: the problems go to standard output as well, as GitHub's workflow commands.
    """
    if annotate:
        from pathlib import Path

        from dispatch_cli.render.ci.github import problems_github

        write(problems_github(error.problems, Path.cwd()), None)
    from dispatch_cli.render.problems import problems

    _warn(problems(error.problems), color)
    return click.exceptions.Exit(2)


def chosen_operators(
    state: State, ops: tuple[str, ...], others: Collection[str] = (), own: bool = False
) -> list[OperatorName]:
    """The operators that --op chooses; exits with 2 when a glob chooses none, unless it is among *others*.

    Without --op, all. own: of files laid over a base then only those that the files register something for, if any.
    """
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.report.selection import select_names, similar_names

    dispatcher = state.dispatcher
    if not ops:
        shown = state.own_operators() if own and state.base is not None else []
        return shown or [OperatorName.parse(name) for name in dispatcher.names()]
    names = dispatcher.names()
    chosen: set[str] = set()
    for glob in ops:
        found = select_names(names, glob)
        if not found and glob not in others:
            close = similar_names([*names, *(one.name for one in state.higher_order_operators)], glob)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise click.BadParameter(f"no operator matches {glob!r}.{hint}", param_hint="'--op'")
        chosen.update(found)
    return [OperatorName.parse(name) for name in sorted(chosen)]


def chosen_of_both_kinds(
    state: State, ops: tuple[str, ...]
) -> tuple[list[OperatorName], tuple[HigherOrderOperator, ...]]:
    """The operators that --op chooses, and the higher-order ones; exits with 2 when a glob chooses none of either.

    Without --op, all; of files laid over a base only those that the files say something of, if any.
    """
    from dispatch_cli.report.selection import may_be_higher_order, select_higher_order

    if ops and not any(map(may_be_higher_order, ops)):
        return chosen_operators(state, ops), ()
    operators = state.higher_order_operators
    if ops:
        names = [operator.name for operator in operators]
        found = {glob: select_higher_order(names, glob) for glob in ops}
        ordinary = chosen_operators(state, ops, [glob for glob in ops if found[glob]])
        return ordinary, tuple(one for one in operators if any(one.name in each for each in found.values()))
    declared = {operator.name for operator in state.declarations.higher_order_operators}
    if state.base is None and (state.source is None or not declared):
        return chosen_operators(state, ()), operators
    own, higher_order = state.own_operators(), tuple(one for one in operators if one.name in declared)
    return (own, higher_order) if own or higher_order else (chosen_operators(state, ()), operators)


def chosen_keys(dispatcher: Dispatcher, globs: tuple[str, ...]) -> frozenset[str] | None:
    """The runtime keys that --key chooses, None for all; exits with 2 when a glob chooses none."""
    from dispatch_cli.report.selection import select_keys, similar_keys

    for glob in globs:
        if not select_keys(dispatcher, (glob,)):
            close = similar_keys(dispatcher, glob)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise click.BadParameter(f"no runtime key matches {glob!r}.{hint}", param_hint="'--key'")
    return select_keys(dispatcher, globs) if globs else None


def warn_of_overrides(state: State, color: str = "auto") -> None:
    """Say on standard error which registrations took the place of another."""
    if state.overrides:
        from dispatch_cli.render.problems import overrides

        _warn(overrides(state), color)


def _warn(blocks: Iterable[Block], color: str) -> None:
    """Show something on standard error."""
    from dispatch_cli.render.text import text

    style = style_for(sys.stderr, color)
    click.echo("".join(text(blocks, style)), nl=False, err=True, color=style.color)


def style_for(stream: Any, color: str, output: str | None = None) -> Style:
    """Width and colour for a stream: a terminal's own width, and no limit where there is no terminal."""
    from dispatch_cli.render.style import Style

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


def write(chunks: Iterable[str], output: str | None) -> None:
    """Write an answer to standard output, or whole or not at all to a file."""
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
            with target.open("w", encoding="utf-8", errors=_UNENCODABLE, newline="") as file:
                file.writelines(chunks)
        else:
            _replace(target.resolve(), chunks)
    except OSError as error:
        raise click.UsageError(f"cannot write {output}: {error.strerror or error}") from None


def _replace(target: Path, chunks: Iterable[str]) -> None:
    """Write beside *target*, then put it in its place with the mode that it has, or that a new file would have."""
    import tempfile
    from pathlib import Path

    with tempfile.NamedTemporaryFile(
        "w",
        encoding="utf-8",
        errors=_UNENCODABLE,
        newline="",
        dir=target.parent,
        prefix=f".{target.name[:100]}.",
        delete=False,
    ) as file:
        written = Path(file.name)
        try:
            file.writelines(chunks)
            file.close()
            written.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            written.replace(target)
        except BaseException:
            written.unlink(missing_ok=True)
            raise


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
