"""Measure two commands side by side: in turn, several times, median wall time and peak memory."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Both sides may keep their compiled modules, as installed programs do."""


@dataclass(frozen=True, slots=True)
class Measured:
    """seconds: median wall time of a whole process. memory: its median peak resident set, in MiB."""

    seconds: float
    memory: float


def installed() -> str:
    """The command as it is installed beside this Python, or found on the path."""
    beside = Path(sys.executable).with_name("dispatch-cli")
    command = str(beside) if beside.exists() else shutil.which("dispatch-cli")
    if command is None:
        sys.exit("dispatch-cli is not installed")
    return command


def once(command: Sequence[str]) -> Measured:
    """Run a command to its end; its output is thrown away."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=_ENVIRONMENT)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"exit code {process.returncode} from: {' '.join(command)}")
    return Measured(seconds, usage.ru_maxrss / 1024)


def side_by_side(ours: Sequence[str], peer: Sequence[str], runs: int) -> tuple[Measured, Measured]:
    """Both commands in turn, *runs* times after one run each to warm up."""
    once(ours), once(peer)
    pairs = [(once(ours), once(peer)) for _ in range(runs)]
    return _median([pair[0] for pair in pairs]), _median([pair[1] for pair in pairs])


def _median(runs: Sequence[Measured]) -> Measured:
    return Measured(
        statistics.median(run.seconds for run in runs),
        statistics.median(run.memory for run in runs),
    )


def report(title: str, ours: Measured, peer: Measured, runs: int) -> None:
    """Print the ratio, and what it is made of."""
    print(
        f"{title}\n"
        f"  ours {ours.seconds:.3f} s, {ours.memory:.0f} MiB   peer {peer.seconds:.3f} s, {peer.memory:.0f} MiB   "
        f"median of {runs}\n"
        f"  ratio {ours.seconds / peer.seconds:.2f}"
    )
