"""The memory of a command line in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

_LAUNCHER = """
import json, os, subprocess, sys
for line in sys.stdin:
    command, folder, variables, text = json.loads(line)
    with open(text, "rb") as stdin:
        null = subprocess.DEVNULL
        process = subprocess.Popen(command, cwd=folder, env=variables, stdin=stdin, stdout=null, stderr=null)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    print(json.dumps([process.returncode, usage.ru_maxrss * 1024]), flush=True)
"""


class Used(NamedTuple):
    """How a process ended, and the bytes of memory that it had at most."""

    code: int
    memory: int


@cache
def _launcher() -> subprocess.Popen[str]:
    """A small process that starts others: the kernel counts the memory of the one that starts a process, too."""
    command = [sys.executable, "-I", "-S", "-c", _LAUNCHER]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def measure(command: Sequence[str], folder: str, variables: Mapping[str, str], stdin: str) -> Used:
    """Run a command to its end. stdin: the file that it reads."""
    launcher = _launcher()
    assert launcher.stdin is not None
    assert launcher.stdout is not None
    launcher.stdin.write(json.dumps([[*command], folder, {**variables}, stdin]) + "\n")
    launcher.stdin.flush()
    return Used(*json.loads(launcher.stdout.readline()))
