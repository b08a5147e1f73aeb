"""The PyTorch version of a text: the one that it names, else the one that has its keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dispatch_cli.answers.errors.read import ErrorText
from dispatch_cli.answers.errors.reading.printed_keys import are_indices, is_old, key_named
from dispatch_cli.answers.errors.reading.printed_table import printed_table
from dispatch_cli.model.universe import Universe

_RELEASE = re.compile(
    r"(?i)(?<![\w.])(?:py|lib)?torch(?:[ _.]{0,3}version(?:__)?)?['\"]?(?: ?[:=]{1,2} ?| |-|/| v)['\"]?"
    r"([12])\.(\d{1,2})(?!\d)"
)
"""``PyTorch version: 2.4.1``, ``torch==2.4.1+cu121``, ``torch-2.4.1``, ``torch 2.4``."""


class TextVersion(NamedTuple):
    """The version of a text.

    release: major and minor number that the text names; None where it names none, or several. nearest: the embedded
    version nearest to the text; None where nothing tells it. fits: the versions that have its keys; none where it
    names too few to tell.
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
    by_keys = None if fits is None else (*fits, universes[-1].name)[0]
    return TextVersion(
        release=None if release is None else f"{release[0]}.{release[1]}",
        nearest=by_keys if release is None else _by_release(universes, release),
        fits=fits or (),
        older_than_all=fits == () if release is None else release < universes[-1].release,
    )


def _by_release(universes: Sequence[Universe], release: tuple[int, int]) -> str:
    """The newest version that is not newer than a release; the oldest, for an older one."""
    older = (universe.name for universe in universes if universe.release <= release)
    return next(older, universes[-1].name)


def version_fits(universes: Sequence[Universe], error: ErrorText) -> tuple[str, ...] | None:
    """The versions, given newest first, that have the keys of a text; None where it names too few to tell."""
    listed = error.available or ()
    names = {*((error.key,) if error.key else ()), *error.dump, *listed}
    if are_indices(listed) or any(map(is_old, names)):
        return ()
    known = {name for name in names if any(name in universe.slot for universe in universes)}
    with_keys = [universe for universe in universes if known <= universe.slot.keys()]
    whole = [universe for universe in universes if _is_whole(universe, error)]
    if not whole and len(with_keys) == len(universes):
        return None
    return tuple(universe.name for universe in with_keys if universe not in whole or _has_fallbacks(universe, names))


def _has_fallbacks(universe: Universe, names: Iterable[str]) -> bool:
    """True if a whole table or list names the keys of all of PyTorch's own fallbacks, as those of the version do."""
    there = {key_named(universe, name) for name in names}
    return all(fallback.key in there for fallback in universe.fallbacks)


def _is_whole(universe: Universe, error: ErrorText) -> bool:
    shown = printed_table(universe, error)
    return shown.whole_list or shown.whole_table
