"""Start a program with the recorder in the Python that it needs, and be told when it ends."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.trace.recording import HEAD, VERSION

START = Path(__file__).with_name("start")
"""The folder from which Python starts the recorder."""
_OWN = {
    getattr(signal, f"SIG{name}")
    for name in ("KILL", "STOP", "TSTP", "TTIN", "TTOU", "CONT", "SEGV", "BUS", "FPE", "ILL", "CHLD")
}
"""Signals that are not left to the program: those that stop this process with it, and those of faults."""


def check_script(name: str) -> None:
    """Refuse a script that is not there. Errors: InputError."""
    if not Path(name).exists():
        hint = None if name.endswith(".py") else f"if it is a module, give -m {name}"
        raise InputError((Problem("no-script", f"{name} is no file", hint=hint),))


def variables(
    program: Sequence[str],
    library: str,
    save: str,
    megabytes: int = 256,
    state: bool = True,
    kernels: bool = False,
) -> dict[str, str]:
    """The variables with which a Python starts the recorder before it runs a program. The file is made.

    program: the words behind the Python's name. library: the recorder. save: the file of the recording. megabytes: its
    largest size. state, kernels: whether the registry at the end, and every kernel that runs are recorded.
    Errors: OSError where the file cannot be made.
    """
    head = {HEAD: VERSION, "argv": program, "directory": str(Path.cwd())}
    path = Path(os.path.realpath(save))
    with suppress(OSError):  # the directory is not ours
        path.unlink(missing_ok=True)  # another process may write to it, and would be killed
    path.write_bytes(b"")
    options = {"library": library, "save": str(path), "head": head, "megabytes": megabytes}
    others = os.environ.get("PYTHONPATH")
    return {
        "DISPATCH_CLI_TRACE": json.dumps({**options, "state": state, "kernels": kernels}),
        "PYTHONPATH": os.pathsep.join([str(START), others] if others else [str(START)]),
    }


@contextmanager
def become(words: list[str], variables: Mapping[str, str], folder: str) -> Iterator[None]:
    """Become a program, which so has all that this process has: its parent, its signals, its exit code.

    What is inside runs in a copy of this process, when the program is about to end or has ended. The program ends after
    that; where it was killed, nobody waits. It does not have the copy as its child. variables: of the environment,
    besides those of this process. folder: is gone when the copy has ended. Errors: OSError, in this process, where the
    Python cannot be started.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    runs, program = Path(folder, "runs"), os.getpid()
    runs.touch()
    reading, writing = os.pipe()
    between = os.fork()
    if between == 0:
        if os.fork():
            os._exit(0)
        _wait(program, runs, writing)
        yield
        return
    with suppress(ChildProcessError):  # it is taken away where SIGCHLD is ignored
        os.waitpid(between, 0)
    copy = int(os.read(reading, 20))
    try:
        os.execve(words[0], words, {**os.environ, **variables, "DISPATCH_CLI_TRACE_ENDS": f"{copy} {runs}"})
    except OSError:
        os.kill(copy, signal.SIGKILL)
        raise


def _wait(program: int, runs: Path, writing: int) -> None:
    """Wait until a file is gone, or the program has ended. Signals are the program's.

    writing: where the program reads the number of this process.
    """
    before = {number: signal.getsignal(number) for number in signal.valid_signals() - _OWN}
    for number in before:
        signal.signal(number, signal.SIG_IGN)
    os.write(writing, b"%d" % os.getpid())
    while runs.exists() and _is_running(program):
        time.sleep(0.03)
    for number, handler in before.items():
        signal.signal(number, handler or signal.SIG_DFL)


def _is_running(process: int) -> bool:
    """True for a process that has not ended."""
    try:
        if sys.platform == "linux":  # one that has ended stays until its parent looks
            status = Path(f"/proc/{process}/stat").read_bytes()
            return status.rpartition(b")")[2].split()[0] not in (b"Z", b"X")
        os.kill(process, 0)
    except OSError:
        return False
    return True
