"""Declaration files: what they say, and everything that is wrong with them."""

from __future__ import annotations

from dispatch_cli.declarations.loader import load

__all__ = ["load"]
