"""Values that depend on the version of PyTorch, and the conditions that tests of them become.

Such a value is worked out for each version that PyTorch may have. So all spellings of a test, such as
``Version(torch.__version__.split("+")[0]) < Version("2.4")`` and ``TORCH_MINOR < 4``, become the same condition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dispatch_cli.model.conditions.condition import And, Atom, Condition, Or, negated
from dispatch_cli.model.conditions.worlds import TORCH_VERSION

VERSION_CLASSES = frozenset(
    (
        *("packaging.version.Version", "packaging.version.parse", "pkg_resources.parse_version"),
        *("torch.torch_version.TorchVersion", "distutils.version.LooseVersion", "looseversion.LooseVersion"),
    )
)
"""Functions that make a version of a text."""
_VERSION = re.compile(r"v?(\d{1,4}(?:\.\d{1,4}){0,3})(?:[._-]?([a-z]{1,7})[._-]?(\d{0,18}))?(?:\+.*)?")
_PHASES = {"dev": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "c": -1, "rc": -1, "pre": -1, None: 0, "post": 1}
_BOUND = f"{TORCH_VERSION} >= "


class Version(str):
    """A version: a text that is compared as one, as ``torch.__version__`` is."""

    __slots__ = ()

    @property
    def release(self) -> tuple[int, ...]:
        """The numbers of the version; none of a text that is no version."""
        match = _VERSION.fullmatch(self)
        return () if match is None else tuple(map(int, match[1].split(".")))

    @property
    def key(self) -> tuple[Any, ...]:
        """An order of versions: one before a release, such as 2.8.0a0, is before it. Empty for no version."""
        match = _VERSION.fullmatch(self)
        if match is None or match[2] not in _PHASES:
            return ()
        return (*self.release, 0, 0, 0)[:4], _PHASES[match[2]], int(match[3] or 0)

    def attribute(self, name: str) -> Any:
        """An attribute of a version of `packaging`; None for others."""
        if name in ("base_version", "public"):
            return ".".join(map(str, self.release))
        major, minor, micro = (*self.release, 0, 0, 0)[:3]
        return {"release": self.release, "major": major, "minor": minor, "micro": micro}.get(name)


def comparable(*sides: Any) -> tuple[Any, ...]:
    """Values that are compared with a version, as what decides the order; as they are where one is no version."""
    texts = [Version(".".join(map(str, side)) if isinstance(side, list | tuple) else str(side)) for side in sides]
    return tuple(text.key for text in texts) if all(text.key for text in texts) else tuple(map(str, texts))


@dataclass(eq=False)
class ByVersion:
    """A value that depends on the version of PyTorch. values: for each of `_VERSIONS`, then of `_BUILDS`, in order."""

    values: tuple[Any, ...]


_VERSIONS = tuple(
    Version(f"{major}.{minor}.{patch}")
    for major, count in ((1, 14), (2, 30))
    for minor in range(count)
    for patch in (0, 1)
)
"""Versions that PyTorch may have, as far as projects tell them apart."""
_BUILDS = tuple(
    Version(f"{_VERSIONS[-1]}{build}")
    for build in ("+cpu", "+cu130", "+rocm7.0", "+xpu", "+git0a1b2c3", "a0+git0a1b2c3", ".dev20260101+cu130", "rc1")
)
"""Builds of the last of them: a test that tells these apart is not about the version."""
VERSION_OF_TORCH = ByVersion(_VERSIONS + _BUILDS)
"""``torch.__version__``"""


def condition_of(values: Sequence[Any], decided: Callable[[Any], bool]) -> bool | Condition | None:
    """The condition that holds for those of `_VERSIONS` for which *values* are true; None where it is not known."""
    truths = [bool(value) if decided(value) else None for value in values]
    builds, truths = truths[len(_VERSIONS) :], truths[: len(_VERSIONS)]
    if None in truths or not {*builds} <= {truths[-1], None}:
        return None
    ranges: list[Condition] = []
    bounds: list[Condition] = []
    for place, truth in enumerate(truths):
        if truth is (place > 0 and truths[place - 1]):
            continue
        bound = Atom(f"{_BOUND}{_VERSIONS[place].removesuffix('.0')}")
        if truth:
            bounds = [bound] if place else []
            continue
        bounds.append(negated(bound))
        ranges.append(bounds[0] if len(bounds) == 1 else And(tuple(bounds)))
    if truths[-1]:
        if not bounds:
            return True
        ranges.append(bounds[0])
    return False if not ranges else ranges[0] if len(ranges) == 1 else Or(tuple(ranges))
