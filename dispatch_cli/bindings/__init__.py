"""``torch._C``'s dispatcher functions without PyTorch.

``from dispatch_cli import bindings as C`` gives ``C._dispatch_library``, ``C._dispatch_dump``, ``C.DispatchKey`` and
the others over one dispatcher of the newest embedded universe; it is made when the first of them is asked for.
``Bindings(universe)`` makes an independent set of all of them for any universe.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dispatch_cli import universes
from dispatch_cli.bindings.functions import Bindings

__all__ = ["Bindings", "default"]


@lru_cache(maxsize=1)
def default() -> Bindings:
    """The bindings behind this module's own functions."""
    return Bindings(universes.load(universes.default_name()))


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(default(), name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *(name for name in dir(default()) if not name.startswith("__"))})
