"""The registrations at one key of an operator, found by what a name says of them, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.model.change import RegistrationName
from dispatch_cli.model.declarations import CapturedRegistration, PythonKernel, Step
from dispatch_cli.model.span import Span

FALLTHROUGH = "fallthrough"


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
        """Identity of the registration, which stays the same when others change."""
        return self.captured or id(self.step)

    @property
    def kernel_names(self) -> frozenset[str]:
        """Names by which its kernel can be called."""
        names = (self.kernel, self.function, FALLTHROUGH if self.fallthrough else None)
        return frozenset(name for name in names if name is not None)

    @property
    def label(self) -> str:
        """Its kernel and its place, for messages."""
        return self.kernel if self.span is None else f"{self.kernel} ({self.span.file}:{self.span.line})"


class RegistrationsAtKey:
    """Registrations of one owner at one key, oldest first, and by the names of their kernels."""

    def __init__(self, registrations: Sequence[NamedRegistration]) -> None:
        self.all = registrations

    def fitting(self, wanted: RegistrationName) -> Sequence[NamedRegistration]:
        """Registrations that a name can mean, its number aside, oldest first."""
        return self.all if wanted.kernel is None else self._by_kernel.get(wanted.kernel, ())

    @cached_property
    def _by_kernel(self) -> dict[str, list[NamedRegistration]]:
        by_kernel: dict[str, list[NamedRegistration]] = {}
        for registration in self.all:
            for name in registration.kernel_names:
                by_kernel.setdefault(name, []).append(registration)
        return by_kernel
