"""The registrations at one key of an operator, found by what a name says of them, however many there are."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.model.change import RegistrationName
from dispatch_cli.model.debug_text import registered_place
from dispatch_cli.model.declarations import CapturedRegistration, PythonKernel, Step
from dispatch_cli.model.span import Span

FALLTHROUGH = "fallthrough"
_NO_PLACE = "\0"


class NamedRegistration(NamedTuple):
    """A registration that a change can name.

    name: by its number at the key. kernel: its debug text. span: where it is declared.
    step: the declared one; captured: the one of a state, or of PyTorch's own fallbacks.
    """

    name: RegistrationName
    kernel: str
    function: str | None
    fallthrough: bool
    span: Span | None
    step: Step | PythonKernel | None = None
    captured: CapturedRegistration | None = None

    @property
    def identity(self) -> object:
        """The same for the same registration after changes of others."""
        return self.captured or id(self.step)

    @property
    def kernel_names(self) -> frozenset[str]:
        """What a name can call its kernel."""
        names = (self.kernel, self.function, FALLTHROUGH if self.fallthrough else None)
        return frozenset(name for name in names if name is not None)

    @property
    def place(self) -> str | None:
        """``FILE:LINE`` where it is declared; of a captured one, where PyTorch says that it is registered."""
        return registered_place(self.kernel) if self.span is None else f"{self.span.file}:{self.span.line}"

    @property
    def label(self) -> str:
        """Its kernel and its place, for messages."""
        return self.kernel if self.span is None else f"{self.kernel} ({self.place})"

    def fits(self, wanted: RegistrationName) -> bool:
        """Whether the name can mean it, its number aside."""
        if wanted.kernel is not None and wanted.kernel not in self.kernel_names:
            return False
        return wanted.place is None or f"/{self.place or _NO_PLACE}".endswith(f"/{wanted.place}")


class RegistrationsAtKey:
    """Those of one owner at one key, oldest first. They are looked through once for each kernel and place asked for."""

    def __init__(self, found: Sequence[NamedRegistration]) -> None:
        self.all = found
        self._fitting: dict[tuple[str | None, str | None], Sequence[NamedRegistration]] = {}

    def fitting(self, wanted: RegistrationName) -> Sequence[NamedRegistration]:
        """Those that a name can mean, its number aside, oldest first."""
        asked = wanted.kernel, wanted.place
        found = self._fitting.get(asked)
        if found is None:
            found = self._fitting[asked] = [one for one in self._candidates(wanted) if one.fits(wanted)]
        return found

    def _candidates(self, wanted: RegistrationName) -> Sequence[NamedRegistration]:
        """Few of them, among which are all that fit."""
        lists = [self.all]
        if wanted.kernel is not None:
            lists.append(self._by_kernel.get(wanted.kernel, []))
        if wanted.place is not None:
            # what ends with "/a.py:3" begins with "3:yp.a/" when it is read backwards; "0" is the sign after "/"
            start = wanted.place[::-1]
            first, last = (bisect_left(self._backwards, (f"{start}{sign}", -1)) for sign in "/0")
            lists.append([self.all[number] for number in sorted(number for _, number in self._backwards[first:last])])
        return min(lists, key=len)

    @cached_property
    def _by_kernel(self) -> dict[str, list[NamedRegistration]]:
        found: dict[str, list[NamedRegistration]] = {}
        for one in self.all:
            for name in one.kernel_names:
                found.setdefault(name, []).append(one)
        return found

    @cached_property
    def _backwards(self) -> list[tuple[str, int]]:
        places = ((one.place, number) for number, one in enumerate(self.all))
        return sorted((f"/{place}"[::-1], number) for place, number in places if place is not None)
