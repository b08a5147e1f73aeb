"""Start a program with the recorder in the Python that it needs, and wait for its end."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

RECORDER = Path(__file__).with_name("recorder.py")
"""The script that runs a program and records it; it may be run beside any other command, too."""
FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGCONT")
"""Signals that are for the program when they come to this process alone."""


def launch(
    python: str,
    program: Sequence[str],
    save: Path,
    *,
    module: bool = False,
    megabytes: int | None = None,
    lines: bool = True,
    state: bool = True,
    kernels: str | None = None,
) -> int:
    """Run a program under that Python as ``PYTHON SCRIPT ARGS`` does, recorded; its streams are those of this process.

    program: a script, or with *module* the name of a module, and its arguments. save: where the recording goes.
    megabytes: its bound. lines: whether places in Python are recorded. state: whether the registry is captured at the
    end, which takes some seconds. kernels: the logging kernels, with which every kernel that runs is recorded.
    Returns the program's exit code as shells tell it: 128 + n where signal n has ended it.
    Errors: OSError when the Python cannot be started.
    """
    options = ["--save", str(save)]
    options += ["--max-size", str(megabytes)] if megabytes is not None else []
    options += [] if lines else ["--no-lines"]
    options += [] if state else ["--no-state"]
    options += [] if kernels is None else ["--kernels", kernels]
    command = [python, str(RECORDER), *options, *(["-m"] if module else ["--"]), *program]
    sys.stdout.flush()
    sys.stderr.flush()
    with _forwarding() as forward_to:
        process = subprocess.Popen(command, close_fds=False)
        forward_to(process)
        code = process.wait()
    return 128 - code if code < 0 else code


@contextmanager
def _forwarding() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Signals go to the process that is named then. A terminal sends its interrupts to it by itself.

    Who has sent a signal, and to whom, is not known here. So the program can get SIGTERM and the like twice where they
    are sent to the whole process group, as ``timeout`` does; and it does not get SIGINT that is sent to this process
    alone.
    """
    children: list[subprocess.Popen[bytes]] = []
    early: list[int] = []
    before = {}

    def forward(number: int, _: FrameType | None) -> None:
        if not children:
            early.append(number)
        for child in children:
            child.send_signal(number)

    def forward_to(child: subprocess.Popen[bytes]) -> None:
        children.append(child)
        for number in early:
            child.send_signal(number)

    def ignore(number: int, _: FrameType | None) -> None:
        """Not SIG_IGN: the program would inherit it."""

    handlers = {getattr(signal, name): forward for name in FORWARDED if hasattr(signal, name)}
    handlers[signal.SIGINT] = ignore
    if hasattr(signal, "SIGQUIT"):
        handlers[signal.SIGQUIT] = ignore
    try:
        for number, handler in handlers.items():
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup; the program ignores it then, too
                before[number] = signal.signal(number, handler)
        yield forward_to
    finally:
        for number, old in before.items():
            signal.signal(number, old)
