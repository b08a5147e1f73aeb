"""Measure commands side by side: in turn, several times, medians of wall time, processor time and peak memory."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Both sides may keep their compiled modules, as installed programs do."""


@dataclass(frozen=True, slots=True)
class Measured:
    """seconds: median wall time of a whole process. processor: the median of its processor time, which other programs
    on the machine change less. memory: its median peak resident set, in MiB.
    """

    seconds: float
    processor: float
    memory: float


def installed() -> str:
    """The command as it is installed beside this Python, or found on the path."""
    beside = Path(sys.executable).with_name("dispatch-cli")
    command = str(beside) if beside.exists() else shutil.which("dispatch-cli")
    if command is None:
        sys.exit("dispatch-cli is not installed")
    return command


def once(command: Sequence[str], codes: Sequence[int] = (0,)) -> Measured:
    """Run a command to its end; its output is thrown away. codes: the exit codes that are no error."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=_ENVIRONMENT)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in codes:
        sys.exit(f"exit code {process.returncode} from: {' '.join(command)}")
    return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def in_turn(commands: Mapping[str, Sequence[str]], runs: int, codes: Sequence[int] = (0,)) -> dict[str, Measured]:
    """Each command once to warm up, then all in turn, *runs* times: the medians."""
    for command in commands.values():
        once(command, codes)
    every = [{name: once(command, codes) for name, command in commands.items()} for _ in range(runs)]
    return {name: _median([run[name] for run in every]) for name in commands}


def side_by_side(ours: Sequence[str], peer: Sequence[str], runs: int) -> tuple[Measured, Measured]:
    """Two commands as by `in_turn`."""
    figures = in_turn({"ours": ours, "peer": peer}, runs)
    return figures["ours"], figures["peer"]


def _median(runs: Sequence[Measured]) -> Measured:
    return Measured(
        statistics.median(run.seconds for run in runs),
        statistics.median(run.processor for run in runs),
        statistics.median(run.memory for run in runs),
    )


def report(title: str, ours: Measured, peer: Measured, runs: int) -> None:
    """Print the ratio, and what it is made of."""
    print(
        f"{title}\n"
        f"  ours {ours.seconds:.3f} s, {ours.memory:.0f} MiB   peer {peer.seconds:.3f} s, {peer.memory:.0f} MiB   "
        f"median of {runs}\n"
        f"  ratio {ours.seconds / peer.seconds:.2f}, of processor time {ours.processor / peer.processor:.2f}"
    )
