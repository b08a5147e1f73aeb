"""Options of the commands that ask a live PyTorch, and the asking."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import click

from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.output import say_note

_Command = TypeVar("_Command", bound=Callable[..., Any])


LIVE = "live"
"""The value of ``--against`` for a running PyTorch."""
TIMEOUT = "DISPATCH_CLI_TIMEOUT"
"""The variable with the seconds after which a PyTorch that has not answered is given up."""
SECONDS = 600
"""Its default; `dispatch_cli.capture.run` has the same, and is not imported for it."""
A_WEEK = 7 * 24 * 3600


class Asked(NamedTuple):
    """Values of the options of `live_options`."""

    python: str | None
    modules: tuple[str, ...]
    timeout: int


python_option = click.option(
    "--python",
    metavar="PATH",
    shell_complete=completion("files"),
    help="The Python that has PyTorch. Default: the one that runs dispatch-cli.",
)


def live_options(command: _Command) -> _Command:
    """--python and --import: which PyTorch. The commands get `python` and `modules`."""
    modules = click.option(
        "--import",
        "modules",
        multiple=True,
        metavar="MODULE",
        help="Import MODULE after torch, such as torchvision. Repeatable.",
    )
    return python_option(modules(command))


def patience() -> int:
    """The seconds after which a PyTorch is given up. Errors: UsageError."""
    text = os.environ.get(TIMEOUT) or str(SECONDS)
    if not (text.isdecimal() and len(text) < 10 and 1 <= int(text) <= A_WEEK):
        raise click.UsageError(f"{TIMEOUT} is {text[:200]!r}, which is no number of seconds from 1 to {A_WEEK:,}.")
    return int(text)


def check_modules(modules: tuple[str, ...]) -> None:
    """Refuse what cannot be the name of a module."""
    for module in modules:
        if not all(part.isidentifier() for part in module.split(".")):
            raise click.BadParameter(f"{module!r} is not the name of a module", param_hint="'--import'")


def say_asking() -> None:
    """Say on a terminal that PyTorch is asked."""
    if sys.stderr.isatty():
        say_note("asking PyTorch, which takes some seconds")
