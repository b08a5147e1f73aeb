"""Running the probe in the Python that has PyTorch, always as a process of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from dispatch_cli.capture import probe
from dispatch_cli.capture.answer import AnswerError, read
from dispatch_cli.model.problem import InputError, Problem

SECONDS = 600
"""The time that a PyTorch has for its answer, unless it is given another; it takes some seconds, and minutes where its
files are read over a slow network."""
SHOWN_LINES = 8
"""Lines of standard error that an error message shows."""

_HINTS = {
    probe.EXIT_NO_TORCH: "give a Python that has PyTorch: --python PATH",
    probe.EXIT_BROKEN_TORCH: "make `import torch` work in that Python, or give another one: --python PATH",
    probe.EXIT_NO_MODULE: "make `import torch` followed by an import of the module work in that Python",
}

_FAILED = "capture-failed"
_CODES = {
    probe.EXIT_NO_TORCH: "no-torch",
    probe.EXIT_BROKEN_TORCH: "broken-torch",
    probe.EXIT_NO_MODULE: "no-module",
    probe.EXIT_NOT_UNDERSTOOD: "unknown-torch",
}

CAPTURE = "probe.py"
"""The script that asks for the state."""
ANSWERS = "answers_probe.py"
"""The script that asks for the state and for PyTorch's own answers about it."""
MAX_STDERR = 1 << 16
"""Bytes of standard error that are kept, from the end."""


_ANSWERABLE = re.compile(
    r"torch(?:\.[A-Za-z]\w{0,60}){1,6}|torch(?:\.[A-Za-z]\w{0,60}){0,6}\.(?:is|has)_\w{1,60}\(\)|"
    r"hasattr\(torch(?:\.[A-Za-z]\w{0,60}){0,6}, ['\"]\w{1,80}['\"]\)"
)
MAX_CONDITIONS = 100
"""Conditions that a PyTorch is asked about."""


def run_probe(
    python: str | None,
    modules: Sequence[str] = (),
    script: str = CAPTURE,
    globs: Sequence[str] = (),
    vmap: bool = True,
    seconds: float = SECONDS,
    conditions: Iterable[str] = (),
) -> dict[str, Any]:
    """Ask the PyTorch that *python* imports about itself: the data that *script* writes.

    python: a path or a command; None is the Python that runs this. modules: imported after torch, in order.
    globs: the operators that the script is to ask about in depth; all, where there are none.
    vmap: a first vmap is made before PyTorch is asked, at which it registers kernels at FuncTorchBatched.
    seconds: the time that it has. At its end, and at the end of this process, the probe is ended with its group
    of processes.
    conditions: about PyTorch, such as ``torch.cuda.is_available()``; those of another form are not asked.
    Errors: InputError, with the last lines of what went wrong.
    """
    executable = executable_of(python)
    try:
        folder = tempfile.TemporaryDirectory(prefix="dispatch-cli-", ignore_cleanup_errors=True)
    except OSError as error:
        raise _error(_FAILED, f"cannot make a temporary directory for the answer: {error.strerror or error}") from None
    with folder as directory:
        out = Path(directory) / "state.json"
        command = [executable, os.fspath(Path(__file__).resolve().with_name(script)), os.fspath(out)]
        for module in modules:
            command += ["--import", module]
        for glob in globs:
            command += ["--op", glob]
        for condition in islice(filter(_ANSWERABLE.fullmatch, conditions), MAX_CONDITIONS):
            command += ["--condition", condition]
        if not vmap:
            command += ["--vmap", "no"]
        _run(command, seconds)
        try:
            return read(out, script == ANSWERS)
        except AnswerError as error:
            raise _error(_FAILED, f"{executable} {error}") from None


def executable_of(python: str | None) -> str:
    """The path of the Python that is asked; None is the one that runs this. Errors: InputError."""
    if python is None:
        if not sys.executable:
            raise _error("no-python", "cannot find the Python that runs dispatch-cli", hint="give one: --python PATH")
        return sys.executable
    path = shutil.which(python)
    if path is None:
        message = f"{python} is not an executable Python"
        raise _error("no-python", message, hint="give the path of a Python executable")
    return path


def _run(command: list[str], seconds: float) -> None:
    """Run the probe to its end. Errors: InputError when it fails, and when it takes too long."""
    try:
        code, errors = run_limited(command, seconds)
    except OSError as error:
        raise _error("no-python", f"{command[0]} cannot be run: {error.strerror or error}") from None
    if code is None:
        message = f"{command[0]} gave no answer within {seconds:g} second{'s' if seconds != 1 else ''}"
        hint = "find out what it waits for, or give it more time: DISPATCH_CLI_TIMEOUT=SECONDS"
        raise _error("no-answer", message, _last_lines(errors), hint)
    if code != 0:
        raise _failure(command[0], code, errors)


def _error(code: str, message: str, details: str = "", hint: str | None = None) -> InputError:
    return InputError((Problem(code, f"{message}\n{details}" if details else message, hint=hint),))


def _failure(executable: str, code: int, errors: str) -> InputError:
    message, details = _reported(errors)
    if message is not None:
        return _error(_CODES.get(code, _FAILED), f"{executable}: {message}", details, _HINTS.get(code))
    how = f"exited with {code}"
    if code < 0:
        with suppress(ValueError):
            how = f"was ended by {signal.Signals(-code).name}"
    message = f"{executable} {how} while its PyTorch was being queried"
    return _error(_FAILED, message, _last_lines(errors), _HINTS[probe.EXIT_BROKEN_TORCH])


def _last_lines(errors: str) -> str:
    return "\n".join([line for line in errors.splitlines() if line.strip()][-SHOWN_LINES:])


def _reported(errors: str) -> tuple[str | None, str]:
    """Error that the probe itself reported, and details: its last line, in JSON."""
    try:
        data = json.loads(next((line for line in reversed(errors.splitlines()) if line.strip()), ""))
    except (ValueError, RecursionError):
        return None, ""
    if isinstance(data, dict) and isinstance(data.get("error"), str):
        return data["error"], str(data.get("details", ""))
    return None, ""


def run_limited(command: Sequence[str], seconds: float) -> tuple[int | None, str]:
    """Run a program to its end, or until its time is over. The processes that it started in its group end with it.

    Returns its exit code, negative for a signal, or None where its time was over, and the end of its standard error.
    Its standard error is a file: a process that it left behind could keep a pipe open for ever.
    Errors: OSError when the program cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="dispatch-cli-", ignore_cleanup_errors=True) as folder:
        path, nowhere = Path(folder, "errors"), subprocess.DEVNULL
        with path.open("wb") as errors, path.open("rb") as written:
            process = subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=errors, start_new_session=True)
            try:
                code: int | None = process.wait(seconds)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                _end_with_group(process)
            written.seek(max(0, path.stat().st_size - MAX_STDERR))
            return code, written.read().decode("utf-8", "replace")


def _end_with_group(process: subprocess.Popen[bytes]) -> None:
    """End a process with its whole group, whether it still runs or not.

    Not with `Popen.wait`: an exception from a signal amid an earlier wait can leave its lock taken for ever.
    """
    if not hasattr(os, "killpg"):
        process.kill()
        process.wait()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.returncode is None:
        with suppress(ChildProcessError):  # that wait has taken its exit code
            process.returncode = os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1])
