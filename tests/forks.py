"""A process that imports something heavy once and forks itself for each run: real processes that start at once."""

from __future__ import annotations

import gc
import json
import os
import socket
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_LATE = 3600
"""Seconds after which a run is stuck."""
_LARGEST = 1 << 20
"""Bytes of a request."""


class Server:
    """The process, seen from the one that asks it. `Server.exit_code` must be called before the next `Server.start`."""

    def __init__(self, python: str, serve: str) -> None:
        """serve: the module whose function ``serve`` imports what is heavy, then calls `serve` of this module."""
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection.settimeout(_LATE)
        with theirs:
            number = theirs.fileno()
            code = f"from {serve} import serve; serve({number})"
            self._process = subprocess.Popen(
                [python, "-B", "-c", code], pass_fds=[number], cwd=ROOT, stdin=subprocess.DEVNULL
            )

    def start(self, request: Sequence[Any], streams: tuple[int, int, int]) -> None:
        """Begin a run with these three streams. request: what the module's function is called with, as JSON has it."""
        socket.send_fds(self._connection, [json.dumps(request).encode()], streams)

    def exit_code(self) -> int:
        """That of the run, once it has ended; negative: the signal that ended it."""
        return int(self._connection.recv(64))

    def stop(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.wait()


def serve(number: int, run: Callable[..., int]) -> None:
    """Fork for each request at the socket with this file descriptor; the fork calls *run*, which returns its exit code.

    The fork's streams are those that came with the request, for what is not Python too; it has its own variables.
    """
    gc.collect()
    gc.freeze()
    connection = socket.socket(fileno=number)
    while True:
        request, streams, _, _ = socket.recv_fds(connection, _LARGEST, 3)
        if not request:
            return
        child = os.fork()
        if not child:
            connection.close()
            for place, stream in enumerate(streams):
                os.dup2(stream, place)
                os.close(stream)
            os._exit(run(*json.loads(request)))
        for stream in streams:
            os.close(stream)
        _, status = os.waitpid(child, 0)
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())
