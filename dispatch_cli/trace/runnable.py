"""Check that a program can be run and recorded, as far as that is known before."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from dispatch_cli.capture import process
from dispatch_cli.capture.run import SHOWN_LINES, executable_of
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.suggest import did_you_mean, similar

SECONDS = 600
"""The time that a Python has to say whether it has PyTorch."""
MAX_NAMES = 1000
"""Files that are looked at for one with a similar name."""
_HAS, _HAS_NOT = 61, 62
_ASK = "import importlib.util, sys; sys.path[0] = sys.argv[1]; "
_ASK += f"sys.exit({_HAS_NOT} if importlib.util.find_spec('torch') is None else {_HAS})"


def python_for(python: str | None, words: Sequence[str], is_module: bool) -> str:
    """The path of the Python that can run and record a program, as far as one can know before.

    python: a path or a command; None is the one that runs this. words: a script or the name of a module, and arguments.
    Errors: InputError where there is no such script, no such Python, or no PyTorch that it can import.
    """
    if not is_module:
        _check_script(words[0])
    executable = executable_of(python)
    folder = "" if is_module else _folder_of(words[0])
    try:
        ended = process.run([executable, "-c", _ASK, folder], SECONDS, lambda _: False)
    except OSError as error:
        raise _error("no-python", f"{executable} cannot be run: {(error.strerror or str(error)).lower()}") from None
    hint = "give a Python that has PyTorch: --python PATH"
    if ended.code == _HAS_NOT:
        raise _error("no-torch", f"{executable}: there is no PyTorch that it can import", hint)
    if ended.code != _HAS:
        output = "\n".join(["", *ended.errors.splitlines()[-SHOWN_LINES:]])
        raise _error("no-python", f"{executable} does not say whether it has PyTorch{output}", hint)
    return executable


def _folder_of(script: str) -> str:
    """The folder from which it imports first."""
    path = Path(script)
    return os.fspath(path.absolute() if path.is_dir() else path.resolve().parent)


def _check_script(name: str) -> None:
    """Errors: InputError."""
    path = Path(name)
    try:
        if path.is_file() and path.suffix != ".py" and not path.stat().st_size:
            raise _error("no-script", f"{name} is empty: it is no recording, and no script")
        if path.is_file() or (path / "__main__.py").is_file():
            return
        what = "a directory without __main__.py" if path.is_dir() else "no regular file" if path.exists() else None
    except (OSError, ValueError) as error:
        raise _error("no-script", f"{name} cannot be read: {error}") from None
    if what is not None:
        raise _error("no-script", f"{name} is {what}", "give a script, or a module: -m MODULE")
    raise _error("no-script", f"{name}: there is no such file", _hint(path))


def _hint(missing: Path) -> str | None:
    """Suggestion for a script that is not there: another one beside it, or a module."""
    try:
        beside = [path.name for path in islice(missing.parent.iterdir(), MAX_NAMES) if path.suffix == ".py"]
    except OSError:
        beside = []
    if close := similar(missing.name, beside):
        return did_you_mean([os.fspath(missing.with_name(script)) for script in close])
    name = os.fspath(missing)
    is_module = missing.suffix != ".py" and all(part.isidentifier() for part in name.split("."))
    return f"if it is a module, give -m {name}" if is_module else None


def _error(code: str, message: str, hint: str | None = None) -> InputError:
    return InputError((Problem(code, message, hint=hint),))
