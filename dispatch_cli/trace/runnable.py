"""Check that a script can be run, as far as that is known before."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.suggest import did_you_mean, similar

MAX_NAMES = 1000
"""Files that are looked at for one with a similar name."""


def check_script(name: str) -> None:
    """Refuse what is no script. Errors: InputError."""
    path = Path(name)
    try:
        if path.is_file() and path.suffix != ".py" and not path.stat().st_size:
            raise _error(f"{name} is empty: it is no recording, and no script")
        if path.is_file() or (path / "__main__.py").is_file():
            return
        what = "a directory without __main__.py" if path.is_dir() else "no regular file" if path.exists() else None
    except (OSError, ValueError) as error:
        raise _error(f"{name} cannot be read: {error}") from None
    if what is not None:
        raise _error(f"{name} is {what}", "give a script, or a module: -m MODULE")
    raise _error(f"{name}: there is no such file", _hint(path))


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


def _error(message: str, hint: str | None = None) -> InputError:
    return InputError((Problem("no-script", message, hint=hint),))
