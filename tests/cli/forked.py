"""The command line in forks of one process that has imported it: real processes, without the time that importing takes.

What Python does at its start and at its end, such as reading ``PYTHON…`` variables, is not done here, but for
PYTHONIOENCODING.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import socket
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_IMPORTED = ("cli", "declarations", "engine", "checks", "report", "render")
"""Packages of whose modules the commands import some when they are called."""
_SERVE = "import sys; from tests.cli.forked import serve; serve(int(sys.argv[1]))"


class Server:
    """A process that forks itself for each run."""

    def __init__(self) -> None:
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            number = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SERVE, str(number)], pass_fds=[number], cwd=_ROOT, stdin=subprocess.DEVNULL
            )

    def start(self, arguments: list[str], environment: dict[str, str], streams: tuple[int, int, int]) -> None:
        """Run at the project's root, with these three streams. `exit_code` must be called before the next run."""
        socket.send_fds(self._connection, [json.dumps([arguments, environment]).encode()], streams)

    def exit_code(self) -> int:
        """That of the run, once it has ended."""
        return int(self._connection.recv(64))

    def stop(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.wait()


@cache
def server() -> Server:
    """The one of all tests; `tests.conftest` stops it."""
    return Server()


def stop() -> None:
    """Stop the server if there is one."""
    if server.cache_info().currsize:
        server().stop()
        server.cache_clear()


def serve(number: int) -> None:
    """Fork for each request at the socket with this file descriptor."""
    for package in _IMPORTED:
        path = str(_ROOT / "dispatch_cli" / package)
        for module in pkgutil.walk_packages([path], f"dispatch_cli.{package}."):
            import_module(module.name)
    gc.freeze()
    connection = socket.socket(fileno=number)
    while True:
        request, streams, _, _ = socket.recv_fds(connection, 1 << 20, 3)
        if not request:
            return
        child = os.fork()
        if not child:
            os._exit(_run(*json.loads(request), streams))
        for stream in streams:
            os.close(stream)
        _, status = os.waitpid(child, 0)
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())


def _run(arguments: list[str], environment: dict[str, str], streams: list[int]) -> int:
    """Be the process that runs the command, with the streams that Python opens at its start; return the exit code."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
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
