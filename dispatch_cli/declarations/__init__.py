"""Declaration files: what they say, and everything that is wrong with them.

Reading them is imported when it is asked for: wording and limits alone are wanted by commands that read none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dispatch_cli.declarations.loader import load

__all__ = ["load"]


def __getattr__(name: str) -> Any:
    if name != "load":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dispatch_cli.declarations.loader import load

    return load
