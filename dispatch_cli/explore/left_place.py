"""The last view, kept for the next start in the folder that XDG_STATE_HOME names, or its usual place."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_LARGEST = 10_000


class LeftPlace(NamedTuple):
    """The id of a view, the name of an operator, a theme; each can be of another version, or of another state."""

    view: str = ""
    operator: str = ""
    theme: str = ""


def _file() -> Path:
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state", "dispatch-cli", "explore.json")


def read() -> LeftPlace:
    """The last note; nothing where it cannot be read."""
    with suppress(OSError, ValueError, RuntimeError):
        file = _file()
        if not file.is_file():  # a pipe would be waited for
            return LeftPlace()
        with file.open("rb") as opened:
            noted = json.loads(opened.read(_LARGEST))
        if isinstance(noted, dict):
            return LeftPlace(*(str(noted.get(name, "")) for name in LeftPlace._fields))
    return LeftPlace()


def note(place: LeftPlace) -> None:
    """Note a place; where that cannot be written, the next time begins anew."""
    with suppress(OSError, RuntimeError):
        file = _file()
        file.parent.mkdir(parents=True, exist_ok=True)
        written = file.with_suffix(".new")
        written.write_text(json.dumps(place._asdict()), encoding="utf-8")
        written.replace(file)  # whole or not at all, and never through a link
