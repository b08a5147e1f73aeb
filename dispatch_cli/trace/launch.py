"""Start a program with the recorder in the Python that it needs, and wait for its end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from dispatch_cli.trace.signals import run

RECORDER = Path(__file__).with_name("recorder.py")
"""The script that runs a program and records it; it may be run beside any other command, too."""


def launch(
    python: str,
    program: Sequence[str],
    save: Path | None,
    *,
    module: bool = False,
    megabytes: int | None = None,
    lines: bool = True,
    state: bool = True,
    kernels: bool = False,
    library: str | None = None,
) -> int:
    """Run a program under that Python as ``PYTHON SCRIPT ARGS`` does, recorded; its streams are those of this process.

    program: a script, or with *module* the name of a module, and its arguments. save: where the recording goes; None
    where nothing is recorded. megabytes: its bound. lines: whether places in Python are recorded. state: whether the
    registry is captured at the end, which takes some seconds. kernels: whether every kernel
    that runs is recorded. library: the recorder's, built; else the recorder builds it.
    Returns the program's exit code as shells tell it: 128 + n where signal n has ended it.
    Errors: OSError when the Python cannot be started.
    """
    options = ["--save", str(save)]
    options += ["--max-size", str(megabytes)] if megabytes is not None else []
    options += [] if lines else ["--no-lines"]
    options += [] if state else ["--no-state"]
    options += ["--kernels"] if kernels else []
    options += [] if library is None else ["--library", library]
    recorder = [] if save is None else [str(RECORDER), *options]
    command = [python, *recorder, *(["-m"] if module else ["--"]), *program]
    sys.stdout.flush()
    sys.stderr.flush()
    code = run(command)
    return 128 - code if code < 0 else code
