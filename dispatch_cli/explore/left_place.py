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
        text = _file().read_bytes()[:_LARGEST]
        noted = json.loads(text)
        if isinstance(noted, dict):
            return LeftPlace(*(str(noted.get(name, "")) for name in LeftPlace._fields))
    return LeftPlace()


def note(place: LeftPlace) -> None:
    """Note a place; where that cannot be written, the next time begins anew."""
    with suppress(OSError, RuntimeError):
        file = _file()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(place._asdict()), encoding="utf-8")
