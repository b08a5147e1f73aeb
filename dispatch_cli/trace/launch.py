"""Start a program with the recorder in the Python that it needs, and wait for its end."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from dispatch_cli.extract.cache import is_own_folder, usable_folder
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.trace import build
from dispatch_cli.trace.signals import run

RECORDER = Path(__file__).with_name("recorder.py")
"""The script that runs a program and records it."""


@contextmanager
def library_for(python: str, beside: str = "") -> Iterator[str | None]:
    """The path of the recorder's library, built where it has not been yet; None where that Python has no PyTorch but
    one that lies beside a program, which is not recorded. While it is built, a line on standard error says so.

    python: the path of an executable. beside: the folder from which a program imports first. Errors: InputError, where
    there is no PyTorch, where there are no headers, or no compiler, and where building fails.
    """
    try:
        temporary = tempfile.TemporaryDirectory(prefix="dispatch-cli-")
    except OSError as error:
        raise _error(error.strerror or str(error)) from None
    with temporary as folder:
        before = signal.signal(signal.SIGTERM, _exit)
        try:
            library = _built(python, folder, beside)
        finally:
            signal.signal(signal.SIGTERM, before)
        yield library


def _exit(number: int, _: FrameType | None) -> None:
    """Handle a signal so that nothing temporary is left."""
    raise SystemExit(128 + number)


def _built(python: str, folder: str, beside: str) -> str | None:
    """The path of the library. folder: where it is built; it is kept elsewhere, if that can be. Errors: InputError."""
    words = [python, build.__file__, folder, str(_kept_in() or ""), beside]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, check=False)
        answer = json.loads(done.stdout)
    except OSError as error:
        raise _error(f"{python} cannot be run: {(error.strerror or str(error)).lower()}") from None
    except ValueError:
        raise _error(f"{python} does not say whether it has PyTorch") from None
    if "error" in answer:
        raise _error(f"{python}: {answer['error']}", answer["hint"])
    library: str | None = answer["library"]
    return library


def _kept_in() -> Path | None:
    """The folder where libraries are kept; None where there is none of this user, to which nobody else writes."""
    cache = usable_folder()
    if cache is None:
        return None
    folder = cache / "recorder"
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        is_safe = is_own_folder(folder) and not folder.lstat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    except OSError:
        return None
    return folder if is_safe else None


def _error(message: str, hint: str = "") -> InputError:
    return InputError((Problem("no-recorder", f"the recorder cannot be built: {message}", hint=hint or None),))


def command(python: str, program: Sequence[str], library: str | None, save: str, **options: bool | int) -> list[str]:
    """The command that runs a program as ``PYTHON SCRIPT ARGS`` does, and records it.

    program: a script, or the name of a module, and its arguments. save: the file of the recording. options: others of
    `recorder.Options`.
    """
    return [python, str(RECORDER), json.dumps({"save": save, "library": library, **options}), *program]


def launch(words: Sequence[str]) -> int:
    """Run a command; its streams are those of this process.

    Returns the program's exit code as shells tell it: 128 + n where signal n has ended it. Errors: OSError when the
    Python cannot be started.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    code = run(words)
    return 128 - code if code < 0 else code
