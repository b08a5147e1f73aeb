"""The PyTorch version of a text: the one that it names, else the one that has its keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.answers.errors.read import ErrorText
from dispatch_cli.answers.errors.reading.printed_keys import are_indices, is_old, key_named
from dispatch_cli.answers.errors.reading.printed_table import Shown, printed_table
from dispatch_cli.model.universe import Universe

_RELEASE = re.compile(
    r"(?i)(?<![\w.])(?:py|lib)?torch(?:[ _.]{0,3}version(?:__)?)?['\"]?(?: ?[:=]{1,2} ?| |-|/| v)['\"]?"
    r"([12])\.(\d{1,2})(?!\d)"
)
"""``PyTorch version: 2.4.1``, ``torch==2.4.1+cu121``, ``torch-2.4.1``, ``torch 2.4``."""


class Fit(Enum):
    """Fit of the keys of a text to a version; the value is the name in machine formats.

    OLDER: the text lacks keys that every table of the version has, or names keys that only older ones have.
    NEWER: it names keys that only newer versions have.
    """

    FITS = "fits"
    OLDER = "older"
    NEWER = "newer"
    UNKNOWN = "unknown"


class TextVersion(NamedTuple):
    """The version of a text.

    release: major and minor number that the text names; None where it names none, or several. nearest: the embedded
    version nearest to the text; None where nothing tells it. fits: the versions that the keys of the text fit.
    older_than_all: the text is older than each of them.
    """

    release: str | None
    nearest: str | None
    fits: tuple[str, ...]
    older_than_all: bool


def version_of(text: str, error: ErrorText, universes: Sequence[Universe]) -> TextVersion:
    """The version of an error in a text. universes: the embedded ones, newest first, with that of the state."""
    releases = {(int(match[1]), int(match[2])) for match in _RELEASE.finditer(text)}
    release = min(releases) if len(releases) == 1 else None
    fits = version_fits(universes, error)
    return TextVersion(
        release=None if release is None else f"{release[0]}.{release[1]}",
        nearest=_by_release(universes, release) if release is not None else _by_keys(universes, fits),
        fits=tuple(universe.name for universe, fit in zip(universes, fits, strict=True) if fit is Fit.FITS),
        older_than_all={*fits} == {Fit.OLDER} if release is None else release < universes[-1].release,
    )


def version_fits(universes: Sequence[Universe], error: ErrorText) -> tuple[Fit, ...]:
    """The fit of each version, given newest first; UNKNOWN where the text names too few keys to tell."""
    return tuple(_fit(universes, at, error) for at in range(len(universes)))


def _by_release(universes: Sequence[Universe], release: tuple[int, int]) -> str:
    """The newest version that is not newer than a release; the oldest, for an older one."""
    older = (universe.name for universe in universes if universe.release <= release)
    return next(older, universes[-1].name)


def _by_keys(universes: Sequence[Universe], fits: Sequence[Fit]) -> str | None:
    """The newest version that the keys fit, else the newest that is not too new, else the oldest; None if unknown."""
    if {*fits} == {Fit.UNKNOWN}:
        return None
    at = next((fits.index(fit) for fit in (Fit.FITS, Fit.UNKNOWN) if fit in fits), len(fits) - 1)
    return universes[at].name


def _fit(universes: Sequence[Universe], at: int, error: ErrorText) -> Fit:
    universe, listed = universes[at], error.available or ()
    printed = [*dict.fromkeys((*((error.key,) if error.key else ()), *error.dump, *listed))]
    if are_indices(listed) or any(map(is_old, printed)):
        return Fit.OLDER
    names = [name for name in printed if name.isidentifier()]
    strange = [name for name in names if name not in universe.slot]
    if any(name in newer.slot for newer in universes[:at] for name in strange):
        return Fit.NEWER
    shown = printed_table(universe, error)
    whole = Shown.WHOLE in (shown.keys, shown.table)
    there = {key_named(universe, name) for name in names}
    lacks = whole and any(fallback.key not in there for fallback in universe.fallbacks)
    if lacks or any(_is_older(universes, at, name) for name in strange):
        return Fit.OLDER
    return Fit.FITS if whole else Fit.UNKNOWN


def _is_older(universes: Sequence[Universe], at: int, name: str) -> bool:
    """True for a key of an older version that the universe does not have."""
    if any(name in universe.slot for universe in universes[at + 1 :]):
        return True
    return key_named(universes[at], name) not in (None, name)
