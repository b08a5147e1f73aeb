"""The options that say how sources are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from dispatch_cli.cli.completion import complete_files

NOT_UNDERSTOOD = "dispatch_cli.not_understood"
"""Key under which a run notes that something in the sources is not understood."""
NO_CONFIG = "none"
"""The value of ``--config`` for no project file."""


class ReadingOptions(NamedTuple):
    """Values of the options that say how sources are read."""

    defines: tuple[str, ...] = ()
    undefines: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


NO_READING = ReadingOptions()
"""Options where none is given."""
_NAMES = {name: f"source_{name}" for name in ReadingOptions._fields}


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options; the command gets them as one `ReadingOptions`, its argument *reading*."""

    @wraps(command)
    def call(*args: Any, **others: Any) -> Any:
        reading = ReadingOptions(**{name: others.pop(parameter) for name, parameter in _NAMES.items()})
        return command(*args, reading=reading, **others)

    for decorator in reversed(
        (
            click.option(
                "-D",
                "source_defines",
                multiple=True,
                metavar="NAME[=VALUE]",
                help="In C++ sources: the macro NAME is defined. Repeatable.",
            ),
            click.option(
                "-U",
                "source_undefines",
                multiple=True,
                metavar="NAME",
                help="In C++ sources: the macro NAME is not defined. Repeatable.",
            ),
            click.option(
                "-I",
                "source_include",
                multiple=True,
                metavar="DIR",
                shell_complete=complete_files,
                help="In C++ sources: look for included headers in DIR, too. Repeatable.",
            ),
            click.option(
                "--set",
                "source_values",
                multiple=True,
                metavar="NAME=VALUE",
                help="In Python sources: the value of a name or expression. Repeatable.",
            ),
            click.option(
                "--exclude",
                "source_exclude",
                multiple=True,
                metavar="GLOB",
                help="Leave out sources that match, as in .gitignore. Repeatable.",
            ),
        )
    ):
        call = decorator(call)
    return call


strict_option = click.option("--strict", is_flag=True, help="Exit with 1 when some source is not understood.")


def source_arguments(context: click.Context, leave_out: tuple[str, ...] = ()) -> Iterator[str]:
    """The files and the options of the source that were given. leave_out: parameters that are not of the source."""
    from dispatch_cli.files.paths import as_argument

    yield from (as_argument(file) for file in context.params.get("files") or ())
    for option in context.command.params:
        name = option.name or ""
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and isinstance(option, click.Option) and name not in leave_out:
            yield from _option(option, context.params[name])


def _option(option: click.Option, value: Any) -> Iterator[str]:
    flag = max(option.opts, key=len)
    if option.is_flag:
        yield flag
        return
    for item in value if option.multiple else (value,):
        yield from (flag, str(item))
