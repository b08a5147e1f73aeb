"""The options that say how sources are read."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import click

from dispatch_cli.cli.completion import complete_files

STRICT = "dispatch_cli.strict"
"""Where a run notes that `--strict` makes it fail."""


TESTS_LEFT_OUT = "dispatch_cli.tests_left_out"
"""Key under which a run notes that folders of tests, benchmarks or examples were not read."""


class ReadingOptions(NamedTuple):
    """Values of the options that say how sources are read. tests: no option; a command that looks for an operator."""

    defines: tuple[str, ...] = ()
    undefines: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    codegen_backends: str | None = None
    derivatives: str | None = None
    strict: bool = False
    no_cache: bool = False
    cache_dir: str | None = None
    tests: bool | None = None


NO_READING = ReadingOptions()
"""What holds where no option is given."""
_NAMES = {name: f"source_{name}" for name in ReadingOptions._fields if name != "tests"}


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options; the command gets them as one `ReadingOptions`, its argument *reading*.

    With ``--strict``, a command that ends with 0 ends with 1 where sources are not understood.
    """

    @wraps(command)
    def call(*args: Any, **others: Any) -> Any:
        reading = ReadingOptions(**{name: others.pop(parameter) for name, parameter in _NAMES.items()})
        try:
            found = command(*args, reading=reading, **others)
        except click.exceptions.Exit as stop:
            if stop.exit_code:
                raise
            found = None
        if click.get_current_context().meta.get(STRICT):
            raise click.exceptions.Exit(1)
        return found

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
            click.option(
                "--codegen-backends",
                "source_codegen_backends",
                metavar="NAME,…",
                help="The backends that PyTorch was built for, such as CPU,CUDA. Default: not known, so that "
                "kernels of native_functions.yaml for CUDA, MPS, MTIA and XPU are conditional.",
            ),
            click.option(
                "--derivatives",
                "source_derivatives",
                metavar="FILE",
                shell_complete=complete_files,
                help="The derivatives.yaml that belongs to native_functions.yaml.",
            ),
            click.option(
                "--strict",
                "source_strict",
                is_flag=True,
                help="Exit with 1 when something in the sources is not understood.",
            ),
            click.option("--no-cache", "source_no_cache", is_flag=True, help="Read all sources again."),
            click.option(
                "--cache-dir",
                "source_cache_dir",
                metavar="DIR",
                shell_complete=complete_files,
                help="Where to keep what was read. Default: dispatch-cli in your cache directory.",
            ),
        )
    ):
        call = decorator(call)
    return call
