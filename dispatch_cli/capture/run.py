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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import IO, Any, NamedTuple

from dispatch_cli.capture import probe
from dispatch_cli.capture.answer import AnswerError, read
from dispatch_cli.model.reading.problem import InputError, Problem

SECONDS = 600
"""The time that a PyTorch has for its answer, unless it is given another; it takes some seconds, and minutes where its
files are read over a slow network."""
MAX_DIGITS = 9
"""Digits of a number of things that are done."""
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

Progress = Callable[[int, int], None]
"""Called with the number of steps done, and of all steps."""


CAPTURE = "probe.py"
"""The script that asks for the state."""
ANSWERS = "answers_probe.py"
"""The script that asks for the state and for PyTorch's own answers about it."""
MAX_STDERR = 1 << 16
"""Bytes of standard error that are kept, from the end."""
REST = 1.0
"""Seconds to wait for the rest of standard error after the end. A process that the program left behind can keep it open
for ever."""


def run_probe(
    python: str | None,
    modules: Sequence[str] = (),
    progress: Progress | None = None,
    script: str = CAPTURE,
    globs: Sequence[str] = (),
    vmap: bool = True,
    seconds: float = SECONDS,
) -> dict[str, Any]:
    """Ask the PyTorch that *python* imports about itself: the data that *script* writes.

    python: a path or a command; None is the Python that runs this. modules: imported after torch, in order.
    globs: the operators that the script is to ask about in depth; all, where there are none.
    vmap: a first vmap is made before PyTorch is asked, at which it registers kernels at FuncTorchBatched.
    seconds: the time that it has. At its end, and at the end of this process, the probe is ended with its group
    of processes.
    Errors: InputError, with the last lines of what went wrong.
    """
    executable = executable_of(python)
    with _answer_folder() as directory:
        out = Path(directory) / "state.json"
        command = [executable, os.fspath(Path(__file__).resolve().with_name(script)), os.fspath(out)]
        for module in modules:
            command += ["--import", module]
        for glob in globs:
            command += ["--op", glob]
        if not vmap:
            command += ["--vmap", "no"]
        _run(command, seconds, progress or (lambda _done, _total: None))
        try:
            return read(out, script == ANSWERS)
        except AnswerError as error:
            raise _error(_FAILED, f"{executable} {error}") from None


_ANSWERABLE = re.compile(
    r"torch(?:\.[A-Za-z]\w{0,60}){1,6}|torch(?:\.[A-Za-z]\w{0,60}){0,6}\.(?:is|has)_\w{1,60}\(\)|"
    r"hasattr\(torch(?:\.[A-Za-z]\w{0,60}){0,6}, ['\"]\w{1,80}['\"]\)"
)
MAX_CONDITIONS = 100
"""Conditions that a PyTorch is asked about."""


def ask_conditions(python: str | None, conditions: Sequence[str], seconds: float = SECONDS) -> dict[str, bool]:
    """The truth of conditions about PyTorch, such as ``torch.cuda.is_available()``, in the Python that has it.

    Others, and those that it cannot answer, are not in the result. Errors: InputError.
    """
    asked = [condition for condition in conditions if _ANSWERABLE.fullmatch(condition)][:MAX_CONDITIONS]
    if not asked:
        return {}
    executable = executable_of(python)
    script = os.fspath(Path(__file__).resolve().with_name("conditions_probe.py"))
    with _answer_folder() as directory:
        out = Path(directory) / "answers.json"
        _run([executable, script, os.fspath(out), *asked], seconds, lambda _done, _total: None)
        try:
            answers = json.loads(out.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise _error(_FAILED, f"{executable} gave no answer about conditions: {error}") from None
    given = answers if isinstance(answers, dict) else {}
    return {condition: given[condition] for condition in asked if isinstance(given.get(condition), bool)}


def _answer_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for the answer of a probe; what that leaves in it need not be removable. Errors: InputError."""
    try:
        return tempfile.TemporaryDirectory(prefix="dispatch-cli-", ignore_cleanup_errors=True)
    except OSError as error:
        raise _error(_FAILED, f"cannot make a temporary directory for the answer: {error.strerror or error}") from None


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


def _run(command: list[str], seconds: float, progress: Progress) -> None:
    """Run the probe to its end. Errors: InputError when it fails, and when it takes too long."""
    try:
        ended = run_limited(command, seconds, lambda line: _report(line, progress))
    except OSError as error:
        raise _error("no-python", f"{command[0]} cannot be run: {error.strerror or error}") from None
    if ended.code is None:
        message = f"{command[0]} gave no answer within {seconds:g} second{'s' if seconds != 1 else ''}"
        hint = "find out what it waits for, or give it more time: DISPATCH_CLI_TIMEOUT=SECONDS"
        raise _error("no-answer", message, _last_lines(ended.errors), hint)
    if ended.code != 0:
        raise _failure(command[0], ended.code, ended.errors)


def _report(line: bytes, progress: Progress) -> bool:
    """Pass a line of progress on; False when it is none."""
    words = line.split()
    if len(words) != 3 or words[0] != b"progress" or not (words[1].isdigit() and words[2].isdigit()):
        return False
    if max(len(words[1]), len(words[2])) > MAX_DIGITS:
        return False
    progress(int(words[1]), int(words[2]))
    return True


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


class Ended(NamedTuple):
    """End of a program.

    code: its exit code, negative for a signal; None where its time was over. errors: the end of its standard error.
    """

    code: int | None
    errors: str


def run_limited(command: Sequence[str], seconds: float, take: Callable[[bytes], bool]) -> Ended:
    """Run a program to its end, or until its time is over. The processes that it started in its group end with it.

    take: gets each line of standard error, in another thread; what it answers True for is not kept.
    Errors: OSError when the program cannot be started.
    """
    process = None
    try:
        with _undisturbed():
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        assert process.stderr is not None
        errors = _Errors(process.stderr, take)
        try:
            code: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
    finally:
        if process is not None:
            _end_with_group(process)
    return Ended(code, errors.text())


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A signal that raises an exception does so at the end of this block: until then nobody could end the program."""
    came: list[int] = []
    handlers = {}
    if current_thread() is main_thread():
        signals = {number: signal.getsignal(number) for number in signal.valid_signals()}
        handlers = {number: handler for number, handler in signals.items() if callable(handler)}
    for signal_number in handlers:
        signal.signal(signal_number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for signal_number, handler in handlers.items():
            signal.signal(signal_number, handler)
        for number in came:
            signal.raise_signal(number)


def _end_with_group(process: subprocess.Popen[bytes]) -> None:
    """End a process with its whole group, whether it still runs or not."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


class _Errors:
    """Reads standard error for as long as the program runs, and keeps its end."""

    def __init__(self, stream: IO[bytes], take: Callable[[bytes], bool]) -> None:
        self._stream = stream
        self._take = take
        self._kept = b""
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with suppress(OSError, ValueError):  # the stream is closed
            while chunk := self._stream.read(1 << 14):
                *lines, rest = (self._kept + chunk).split(b"\n")
                others = [line for line in lines if not self._is_taken(line)]
                self._kept = b"\n".join([*others, rest])[-MAX_STDERR:]

    def _is_taken(self, line: bytes) -> bool:
        try:
            return self._take(line)
        except (OSError, ValueError):  # reading goes on: a program that cannot write would wait
            return False

    def text(self) -> str:
        """Text that was kept, once the program has ended."""
        self._reader.join(REST)
        self._stream.close()
        return self._kept.decode("utf-8", "replace")
