"""Which recording `dispatch-cli trace` shows: one that is there, or that of a program that it runs first."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from dispatch_cli.cli.options import say_note

_LAST = "last.trace"


class TraceCommand(click.Command):
    """A command whose options end at a program: what follows is the program's. After a recording they may go on."""

    allow_interspersed_args = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does it, once it is known whether there is a program. Errors: UsageError."""
        ctx.allow_interspersed_args = False
        given = self.make_parser(ctx).parse_args(list(args))[0]
        words = given.get("words")
        is_program = isinstance(words, list | tuple) and bool(words) and not _is_recording(words[0])
        ctx.allow_interspersed_args = not given.get("module") and not is_program
        return super().parse_args(ctx, args)


class ProgramOptions(NamedTuple):
    """What is run. module: its name, where it is none of the words. save: where the recording is kept, if anywhere."""

    words: tuple[str, ...]
    module: str | None
    python: str | None
    save: str | None
    megabytes: int | None
    lines: bool
    last: bool

    @property
    def runs(self) -> bool:
        """Whether a program is run."""
        return self.module is not None or bool(self.words and not _is_recording(self.words[0]))


def check_program(asked: ProgramOptions) -> None:
    """Refuse what does not go together. Errors: UsageError."""
    sources = [bool(asked.words or asked.module), asked.last]
    if sum(sources) != 1:
        message = "Give one of RECORDING, SCRIPT, -m MODULE and --last; --recorder prints the script that records."
        raise click.UsageError(message)
    if asked.runs:
        if asked.module is None and not Path(asked.words[0]).exists():
            raise click.UsageError(f"There is no script or recording {asked.words[0]!r}.")
        return
    if len(asked.words) > 1:
        raise click.UsageError("Give one recording.")
    for option, value in (("--python", asked.python), ("--save", asked.save), ("--max-size", asked.megabytes)):
        if value is not None:
            raise click.UsageError(f"{option} is for a program that is run, and this is a recording.")


def recording_of(asked: ProgramOptions) -> tuple[str, int | None]:
    """The file of the recording, after the program has run; and its exit code, None where none was run.

    Errors: UsageError, where there is nothing to show, or the Python cannot be started.
    """
    if asked.last:
        file = _kept()
        if file is None or not file.is_file():
            raise click.UsageError("No recording has been kept: run a program without --save.")
        return str(file), None
    if not asked.runs:
        return asked.words[0], None
    return _run(asked)


def _run(asked: ProgramOptions) -> tuple[str, int]:
    from dispatch_cli.trace.launch import launch

    save = Path(asked.save) if asked.save is not None else _kept()
    if save is None:
        raise click.UsageError("There is no folder for the recording; give --save FILE.")
    words: Sequence[str] = asked.words if asked.module is None else (asked.module, *asked.words)
    try:
        save.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        save.unlink(missing_ok=True)
        code = launch(
            asked.python or sys.executable,
            words,
            save.resolve(),
            module=asked.module is not None,
            megabytes=asked.megabytes,
            lines=asked.lines,
        )
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise click.UsageError(f"{error.filename or asked.python or save} cannot be used: {why}.") from None
    return str(save), code


def note_nothing(file: str) -> bool:
    """Say that a program has left no recording; False where it has."""
    if os.path.isfile(file) and os.path.getsize(file):  # noqa: PTH113, PTH202
        return False
    say_note("the program called nothing of PyTorch, or could not be recorded: there is nothing to show")
    return True


def _kept() -> Path | None:
    """Where the last recording is kept."""
    from dispatch_cli.extract.signing import user_folder

    folder = user_folder()
    return None if folder is None else Path(folder) / _LAST


def _is_recording(file: str) -> bool:
    """Whether a file is a recording, or tries to be one: no script begins so."""
    from dispatch_cli.trace.recording import begins_so

    return begins_so(file)


def exit_with(code: int | None) -> None:
    """End as the program did."""
    if code:
        raise click.exceptions.Exit(code)
