"""Which PyTorch a text comes from, by the keys that it names: each version adds some, and drops others."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.universe import Universe
from dispatch_cli.report.error_text import ErrorText
from dispatch_cli.report.printed_keys import UNNAMED, are_indices, is_old, key_named
from dispatch_cli.report.printed_table import Shown, printed_table


class Fit(Enum):
    """How the keys of a text fit a version; the value is the name in machine formats.

    OLDER: the text lacks keys that every table of the version has, or names keys that only older ones have.
    NEWER: it names keys that only newer versions have.
    """

    FITS = "fits"
    OLDER = "older"
    NEWER = "newer"
    UNKNOWN = "unknown"


class VersionFit(NamedTuple):
    """How a text fits a version.

    because: names in the text by which that is told, and lacks: keys that the text lacks; up to three of each.
    """

    version: str
    fit: Fit
    because: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


MOST = 3


def version_fits(universes: Sequence[Universe], text: ErrorText) -> tuple[VersionFit, ...]:
    """How a text fits each of some versions, given newest first; UNKNOWN where it names too few keys to tell."""
    named = [*dict.fromkeys((*((text.key,) if text.key else ()), *text.dump, *(text.available or ())))]
    old = [name for name in named if is_old(name)] or ([UNNAMED] if are_indices(text.available or ()) else [])
    names = [name for name in named if name.isidentifier()]
    return tuple(_fit(universes, position, text, names, old) for position in range(len(universes)))


def _fit(universes: Sequence[Universe], at: int, text: ErrorText, names: list[str], old: list[str]) -> VersionFit:
    universe = universes[at]
    if old:
        return VersionFit(universe.name, Fit.OLDER, tuple(old[:MOST]))
    strange = [name for name in names if name not in universe.slot]
    newer = [name for name in strange if any(name in one.slot for one in universes[:at])]
    gone = [name for name in strange if _is_older(universes, at, name)]
    shown = printed_table(universe, text)
    there = {key_named(universe, name) for name in names}
    whole = Shown.WHOLE in (shown.keys, shown.table)
    lacking = [one.key for one in universe.fallbacks if whole and one.key not in there]
    if newer:
        return VersionFit(universe.name, Fit.NEWER, tuple(newer[:MOST]))
    if gone or lacking:
        return VersionFit(universe.name, Fit.OLDER, tuple(gone[:MOST]), tuple(lacking[:MOST]))
    return VersionFit(universe.name, Fit.FITS if whole else Fit.UNKNOWN)


def _is_older(universes: Sequence[Universe], at: int, name: str) -> bool:
    """Whether a key that the universe does not have is one of an older version."""
    if any(name in one.slot for one in universes[at + 1 :]):
        return True
    return key_named(universes[at], name) not in (None, name)
