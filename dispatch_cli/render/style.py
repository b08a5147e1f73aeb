"""How a text for people goes out. Apart from `console`, so that machine formats do without rich."""

from __future__ import annotations

from typing import NamedTuple


class Style(NamedTuple):
    """width: in columns, None where nothing limits it. color: whether in colour."""

    width: int | None = None
    color: bool = False
