"""The recorder's library for the PyTorch of a Python, built where it has not been yet."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.trace import build


@contextmanager
def library_for(python: str) -> Iterator[str | None]:
    """The path of the library; None where that Python has no PyTorch but one that lies beside a program, which is not
    recorded. While it is built, which takes up to a minute, a line on standard error says so.

    python: the path of an executable. Errors: InputError, where there are no headers, or no compiler, and where
    building fails.
    """
    try:
        done = subprocess.run([python, build.__file__], stdout=subprocess.PIPE, check=False)
        answer = json.loads(done.stdout)
    except OSError as error:
        raise _error(f"{python} cannot be run: {(error.strerror or str(error)).lower()}") from None
    except ValueError:
        raise _error(f"{python} does not say what it has built") from None
    if "error" in answer:
        raise _error(answer["error"], answer["hint"])
    try:
        yield answer["library"]
    finally:
        if not answer["is_kept"]:
            shutil.rmtree(Path(answer["library"]).parent, ignore_errors=True)


def _error(message: str, hint: str = "") -> InputError:
    return InputError((Problem("no-recorder", f"the recorder cannot be built: {message}", hint=hint or None),))
