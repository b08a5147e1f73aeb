"""Running the probe in the Python that has PyTorch, always as a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dispatch_cli.capture import probe
from dispatch_cli.model.problem import InputError, Problem

MAX_BYTES = 256 << 20
"""More than any PyTorch has to say; an answer that is larger is not read."""
MAX_STDERR = 1 << 16
"""Bytes of the probe's standard error that are kept, from the end."""
SHOWN_LINES = 8
"""Lines of standard error that an error message shows."""

_HINTS = {
    probe.EXIT_NO_TORCH: "name a Python that has it: --python PATH",
    probe.EXIT_BROKEN_TORCH: "see that `import torch` works there, or name another Python: --python PATH",
    probe.EXIT_NO_MODULE: "see that the module can be imported there once torch is",
}

_FAILED = "capture-failed"
_CODES = {
    probe.EXIT_NO_TORCH: "no-torch",
    probe.EXIT_BROKEN_TORCH: "broken-torch",
    probe.EXIT_NO_MODULE: "no-module",
    probe.EXIT_NOT_UNDERSTOOD: "unknown-torch",
}

Progress = Callable[[int, int], None]
"""Told how much of how much is done."""


CAPTURE = "probe.py"
"""The script that asks for the state."""
ANSWERS = "answers_probe.py"
"""The script that asks for the state and for PyTorch's own answers about it."""


def run_probe(
    python: str | None,
    modules: Sequence[str] = (),
    progress: Progress | None = None,
    script: str = CAPTURE,
    globs: Sequence[str] = (),
    vmap: bool = True,
) -> dict[str, Any]:
    """What the PyTorch that *python* imports says of itself, as *script* writes it.

    python: a path or a command; None is the Python that runs this. modules: imported after torch, in order.
    globs: the operators that the script is to ask about in depth; all, where there are none.
    vmap: a first vmap is made before PyTorch is asked, at which it registers kernels at FuncTorchBatched.
    Errors: InputError, with the last lines of what went wrong.
    """
    executable = _executable(python)
    with tempfile.TemporaryDirectory(prefix="dispatch-cli-") as directory:
        out = Path(directory) / "state.json"
        command = [executable, os.fspath(Path(__file__).resolve().with_name(script)), os.fspath(out)]
        for module in modules:
            command += ["--import", module]
        for glob in globs:
            command += ["--op", glob]
        if not vmap:
            command += ["--vmap", "no"]
        code, errors = _run(command, progress or (lambda _done, _total: None))
        if code != 0:
            raise _failure(executable, code, errors)
        return _answer(executable, out)


def _executable(python: str | None) -> str:
    if python is None:
        if not sys.executable:
            raise _error("no-python", "it is not known which Python runs this", hint="name one: --python PATH")
        return sys.executable
    found = shutil.which(python)
    if found is None:
        message = f"{python} is not a Python that can be run"
        raise _error("no-python", message, hint="give the path of an executable")
    return found


def _run(command: list[str], progress: Progress) -> tuple[int, str]:
    """Run to the end; the exit code, and the end of standard error without the lines of progress."""
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0
        )
    except OSError as error:
        raise _error("no-python", f"{command[0]} cannot be run: {error.strerror or error}") from None
    try:
        assert process.stderr is not None
        kept = b""
        while chunk := process.stderr.read(1 << 14):
            *lines, rest = (kept + chunk).split(b"\n")
            others = [line for line in lines if not _report(line, progress)]
            kept = b"\n".join([*others, rest])[-MAX_STDERR:]
        return process.wait(), kept.decode("utf-8", "replace")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stderr is not None:
            process.stderr.close()


def _report(line: bytes, progress: Progress) -> bool:
    """Pass a line of progress on; False when it is none."""
    words = line.split()
    if len(words) != 3 or words[0] != b"progress" or not (words[1].isdigit() and words[2].isdigit()):
        return False
    progress(int(words[1]), int(words[2]))
    return True


def _error(code: str, message: str, details: str = "", hint: str | None = None) -> InputError:
    return InputError((Problem(code, f"{message}\n{details}" if details else message, hint=hint),))


def _failure(executable: str, code: int, errors: str) -> InputError:
    message, details = _said(errors)
    if message is not None:
        return _error(_CODES.get(code, _FAILED), f"{executable}: {message}", details, _HINTS.get(code))
    last = "\n".join([line for line in errors.splitlines() if line.strip()][-SHOWN_LINES:])
    how = f"exited with {code}"
    if code < 0:
        with contextlib.suppress(ValueError):
            how = f"was ended by {signal.Signals(-code).name}"
    message = f"{executable} {how} while its PyTorch was asked"
    return _error(_FAILED, message, last, _HINTS[probe.EXIT_BROKEN_TORCH])


def _said(errors: str) -> tuple[str | None, str]:
    """What the probe itself said went wrong: its last line, in JSON."""
    try:
        data = json.loads(next((line for line in reversed(errors.splitlines()) if line.strip()), ""))
    except (ValueError, RecursionError):
        return None, ""
    if isinstance(data, dict) and isinstance(data.get("error"), str):
        return data["error"], str(data.get("details", ""))
    return None, ""


def _answer(executable: str, out: Path) -> dict[str, Any]:
    try:
        if out.stat().st_size > MAX_BYTES:
            raise _error(_FAILED, f"{executable}: the answer is larger than {MAX_BYTES >> 20} MiB")
        data = json.loads(out.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _error(_FAILED, f"{executable} gave no answer that can be read: {error}") from None
    if not isinstance(data, dict) or data.get("format") != probe.FORMAT:
        raise _error(_FAILED, f"{executable} gave an answer of another format")
    return data
