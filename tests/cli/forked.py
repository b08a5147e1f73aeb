"""The command line in forks of one process that has imported it: real processes, without the time that importing takes.

What Python does at its start and at its end, such as reading ``PYTHON…`` variables, is not done here, but for
PYTHONIOENCODING.
"""

from __future__ import annotations

import atexit
import os
import pkgutil
import sys
from functools import cache
from importlib import import_module

from tests import forks

_IMPORTED = ("cli", "declarations", "engine", "checks", "render")
"""Packages of whose modules the commands import some when they are called."""


@cache
def server() -> forks.Server:
    """The one of all tests; `tests.conftest` stops it."""
    return forks.Server(sys.executable, "tests.cli.forked")


def stop() -> None:
    """Stop the server if there is one."""
    if server.cache_info().currsize:
        server().stop()
        server.cache_clear()


def serve(number: int) -> None:
    """Be the process that imports the program; number: its socket, see `forks.serve`."""
    for package in _IMPORTED:
        path = str(forks.ROOT / "dispatch_cli" / package)
        for module in pkgutil.walk_packages([path], f"dispatch_cli.{package}."):
            import_module(module.name)
    forks.serve(number, _run)


def _run(arguments: list[str], environment: dict[str, str]) -> int:
    """Be the process that runs the command, with the streams that Python opens at its start; its exit code."""
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["dispatch-cli", *arguments]
    chosen, _, wanted = environment.get("PYTHONIOENCODING", "").partition(":")
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding=chosen or "utf-8", errors=errors, closefd=False)  # noqa: SIM115
        for number, (mode, errors) in enumerate(
            (("r", wanted or "strict"), ("w", wanted or "strict"), ("w", "backslashreplace"))
        )
    )
    try:
        import_module("dispatch_cli.__main__").run()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    return 0
