"""Registrations by their names: their visible properties, and where several share these, their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.model.captured import StateSource
from dispatch_cli.model.changes.change import ChangeError, RegistrationName, key_of, operator_of
from dispatch_cli.model.declarations import CapturedRegistration, Declarations, Fallback, Implement, PythonKernel, Step
from dispatch_cli.model.names import OperatorName, some_of
from dispatch_cli.model.span import Span

FALLTHROUGH = "fallthrough"
MOST_LISTED = 6
"""Registrations and keys that a hint lists."""
_Owner = tuple[OperatorName | None, bool]
"""An operator, or None for the backend fallbacks; and whether its kernels in Python are meant."""


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
    def label(self) -> str:
        """Its kernel and its place, for messages."""
        return self.kernel if self.span is None else f"{self.kernel} ({self.span.file}:{self.span.line})"


class RegistrationIndex:
    """All registrations of declarations and of the captured state that they continue."""

    def __init__(self, declarations: Declarations, source: StateSource | None) -> None:
        self._said = declarations
        self._source = source
        self._without = frozenset(declarations.without)
        self._found: dict[_Owner, list[NamedRegistration]] = {}

    def of(self, operator: OperatorName | None, python: bool = False) -> list[NamedRegistration]:
        """Registrations of an operator, or all backend fallbacks, oldest first, without those that are left out."""
        owner = operator, python
        registrations = self._found.get(owner)
        if registrations is None:
            registrations, counts = [], Counter[str]()
            captured = (entry for entry in self._captured(operator, python) if entry.captured not in self._without)
            for entry in (*captured, *self._declared.get(owner, ())):
                counts[entry.name.key] += 1
                registrations.append(entry._replace(name=entry.name._replace(number=counts[entry.name.key])))
            self._found[owner] = registrations
        return registrations

    def find(self, wanted: RegistrationName) -> NamedRegistration:
        """The registration that a name means. Errors: ChangeError where it means none, or more than one."""
        fitting = self._fitting(wanted)
        if wanted.number is not None:
            if 0 < wanted.number <= len(fitting):
                return fitting[wanted.number - 1]
        elif len(fitting) == 1:
            return fitting[0]
        elif fitting:
            hint = f"add 'kernel' or 'number': they are {some_of([entry.label for entry in fitting], MOST_LISTED)}"
            raise ChangeError(f"{len(fitting):,} registrations fit {wanted}", hint, "ambiguous-registration")
        message = f"there is no registration of {wanted}"
        raise ChangeError(message, self._instead(wanted), "unknown-registration")

    def short_name(self, wanted: NamedRegistration) -> RegistrationName:
        """The shortest name that means one of these registrations and no other."""
        kernel = FALLTHROUGH if wanted.fallthrough else wanted.kernel
        bare = wanted.name._replace(number=None)
        for name in (bare, bare._replace(kernel=kernel)):
            fitting = self._fitting(name)
            if len(fitting) == 1:
                return name
        return name._replace(number=1 + [registration.identity for registration in fitting].index(wanted.identity))

    def _fitting(self, wanted: RegistrationName) -> Sequence[NamedRegistration]:
        """Registrations that a name can mean, its number aside, oldest first."""
        there = (entry for entry in self.of(wanted.operator, wanted.python) if entry.name.key == wanted.key)
        if wanted.kernel is None:
            return list(there)
        fallthroughs = wanted.kernel == FALLTHROUGH
        return [it for it in there if wanted.kernel in (it.kernel, it.function) or (fallthroughs and it.fallthrough)]

    @cached_property
    def _captured_names(self) -> frozenset[str]:
        return frozenset(() if self._source is None else self._source.names)

    @cached_property
    def _declared(self) -> dict[_Owner, list[NamedRegistration]]:
        by_owner: dict[_Owner, list[NamedRegistration]] = {}
        for step in self._said.steps:
            if isinstance(step, Fallback):
                name = RegistrationName(None, step.dispatch_key)
            elif isinstance(step, Implement):
                name = RegistrationName(operator_of(step), key_of(step))
            else:
                continue
            kernel = step.kernel
            span = kernel.span or step.span
            registration = NamedRegistration(name, kernel.debug, kernel.function, kernel.fallthrough, span, step)
            by_owner.setdefault((name.operator, False), []).append(registration)
        for python in self._said.python_kernels:
            name = RegistrationName(python.operator, python.dispatch_key, True)
            registration = NamedRegistration(name, python.kernel, None, False, python.span, python)
            by_owner.setdefault((name.operator, True), []).append(registration)
        return by_owner

    def _captured(self, operator: OperatorName | None, python: bool) -> Iterator[NamedRegistration]:
        """Registrations of the captured state, or PyTorch's own fallbacks."""
        text = None if operator is None else str(operator)
        kernels: Sequence[tuple[str, str, bool]]
        if text is None:
            core = self._said.universe.fallbacks if self._said.core_fallbacks else ()
            kernels = [(fallback.key, fallback.debug, fallback.fallthrough) for fallback in core]
        elif self._source is None or text not in self._captured_names:
            return
        elif python:
            kernels = [(key, kernel, False) for key, kernel in self._source.python_kernels(text)]
        else:
            kernels = self._source.listing(text).kernels
        counts: Counter[str] = Counter()
        for key, debug, fallthrough in kernels:
            counts[key] += 1
            captured = CapturedRegistration(text, key, counts[key], python)
            name = RegistrationName(operator, key, python)
            yield NamedRegistration(name, debug, None, fallthrough, None, None, captured)

    def _instead(self, wanted: RegistrationName) -> str | None:
        """Hint at the registration or key that may be meant instead."""
        if there := self._fitting(wanted._replace(kernel=None)):
            return f"at this key there is {some_of([entry.label for entry in there], MOST_LISTED)}"
        keys = list(dict.fromkeys(entry.name.key for entry in self.of(wanted.operator, wanted.python)))
        return f"it is registered at {some_of(keys, MOST_LISTED)}" if keys else None
