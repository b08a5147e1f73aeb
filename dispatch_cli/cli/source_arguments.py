"""Sources that a command loads, as the arguments of another command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
from click.core import ParameterSource


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
