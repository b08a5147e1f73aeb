"""The command line: parses, calls, writes, and sets the exit code.

Nothing heavier than click is imported before a command runs.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from importlib import import_module
from typing import Any

import click

from dispatch_cli import __version__
from dispatch_cli.cli.modules import COMMANDS
from dispatch_cli.cli.system import EXIT_INTERRUPTED, ReaderGone, ending_by_signals, guarded_streams

EXIT_CLEAN = 0
EXIT_BAD_INPUT = 2
EXIT_BUG = 3
_COMPLETE = "_DISPATCH_CLI_COMPLETE"
"""The variable by which a shell asks for its completion script, or for completions."""

_SECTIONS = {
    "Start here": {
        "register": "Load declarations and show what they register.",
        "table": "Show which kernel runs at which key, and why.",
        "check-invariants": "Check invariants, registrations and guards, as in CI.",
    },
    "Why, and what happens in a call": {
        "support": "Show where operators work: eager, train, compile, vmap.",
        "explain": "Explain one operator at one key, and what would help.",
        "resolve": "Simulate a call: which kernels run for which tensors.",
        "trace": "Run a program and show the kernels that PyTorch ran.",
        "keys": "Show all dispatch keys, one key in detail, or a key set.",
    },
    "A whole state": {
        "explore": "Explore a state in the terminal: tables, calls, what-if.",
        "page": "Write a whole state as one page for a browser.",
        "coverage": "Show what serves each operator on a backend.",
        "guards": "List guards and whether they hold, or record new ones.",
    },
    "Two states": {
        "diff": "Compare two states: PyTorch versions, files, revisions.",
        "history": "Show what changed for an operator, by PyTorch version.",
        "crossref": "Compare declarations with a built library or a state.",
    },
    "Where states come from": {
        "extract": "Write what C++ and Python register as declarations.",
        "capture": "Write the state of an installed PyTorch as declarations.",
        "bases": "List the embedded PyTorch states.",
    },
    "Reference": {
        "checks": "List the checks, or explain some with examples.",
        "rules": "List the rules of a dispatch table, or explain some.",
        "schema": "Print the JSON Schema of declarations, or of an answer.",
        "help": "Say everything about a command or shared options.",
    },
}
"""The sections of the help: command → its line. The command itself is imported when it is called."""
_COMMANDS = {name: line for section in _SECTIONS.values() for name, line in section.items()}
_CHECK = ["check-invariants"]
_MEANT = {"rule": ["checks", "rules"], "check": _CHECK, "invariants": _CHECK, "lint": _CHECK}
"""Other words for commands, and the commands."""


class _LazyGroup(click.Group):
    """A group whose commands are imported one at a time, when called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command = getattr(import_module(module), name or "command")
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """The commands and options that begin so; no command is imported for it."""
        from click.shell_completion import CompletionItem

        commands = [CompletionItem(name) for name in _COMMANDS if name.startswith(incomplete)]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, _COMMANDS))
        for title, commands in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:{width}}", line) for name, line in commands.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            from dispatch_cli.cli.options import as_sentence
            from dispatch_cli.model.text.suggest import did_you_mean, similar

            close = _MEANT.get(args[0]) or similar(args[0], _COMMANDS)
            ctx.fail(f"No such command {args[0]!r}.{as_sentence(did_you_mean([*map(repr, close)]))}")
        return super().resolve_command(ctx, args)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="dispatch-cli", message="%(prog)s %(version)s")
@click.option("--traceback", is_flag=True, help="On an internal error, show the traceback.")
def cli(traceback: bool) -> None:
    """Show which kernel PyTorch runs for an operator at a dispatch key, and why.

    The answers are computed from declarations and sources; PyTorch need not be installed. `dispatch-cli COMMAND --help`
    lists the options of a command, `dispatch-cli help COMMAND` says everything about it.
    """


def main(args: list[str] | None = None) -> None:
    """Run the command line and exit.

    Exit codes: 0 clean, 1 findings or a difference, 2 usage or bad input, 3 a bug of ours.
    """
    argv = sys.argv[1:] if args is None else args
    # a command ends long before cyclic garbage matters, and looking for it takes longer the more there is to look at
    gc.disable()
    # nor at the end of the process, where Python would look for it once more
    atexit.register(gc.freeze)
    with guarded_streams(), ending_by_signals():
        try:
            code = _run(argv)
        except ReaderGone:
            code = EXIT_CLEAN
        except KeyboardInterrupt:
            code = EXIT_INTERRUPTED
        except Exception as error:
            code = _failed(error, "--traceback" in argv)
    sys.exit(code if isinstance(code, int) else EXIT_CLEAN)


def _run(argv: list[str]) -> object:
    """Result of the command: its exit code, or nothing."""
    if _COMPLETE in os.environ:
        import_module("dispatch_cli.cli.shells")
    try:
        result: object = cli.main(args=argv, prog_name="dispatch-cli", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        return EXIT_INTERRUPTED
    except click.ClickException as error:
        from dispatch_cli.cli.refusal import refuse_run

        refuse_run(error, cli, argv)
        return error.exit_code
    return result


def _failed(error: Exception, traceback: bool) -> int:
    if isinstance(error, FileNotFoundError) and not _has_working_folder():
        click.UsageError("the working directory no longer exists").show()
        return EXIT_BAD_INPUT
    return _bug(error, traceback)


def _has_working_folder() -> bool:
    try:
        os.getcwd()  # noqa: PTH109  (pathlib need not be imported)
    except FileNotFoundError:
        return False
    return True


def _bug(error: Exception, traceback: bool) -> int:
    from dispatch_cli.cli.output import say

    if traceback:
        import traceback as traceback_module

        say("".join(traceback_module.format_exception(error)))
    else:
        text: Any = str(error).splitlines()
        first = text[0] if text else ""
        say(
            f"internal error: {type(error).__name__}: {first[:200]!r}\n"
            "This is a bug in dispatch-cli. Run it again with `dispatch-cli --traceback COMMAND` and report it.\n"
        )
    return EXIT_BUG
