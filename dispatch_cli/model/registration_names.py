"""Registrations by their names: what is seen of them, and where that leaves several, their numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.model.captured import StateSource
from dispatch_cli.model.change import ChangeError, RegistrationName
from dispatch_cli.model.declarations import (
    CapturedRegistration,
    Declarations,
    Fallback,
    Implement,
    PythonKernel,
    Step,
)
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.suggest import did_you_mean, similar
from dispatch_cli.model.universe import CATCH_ALL, UNDEFINED

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
        """The same for the same registration after changes of others."""
        return self.captured or id(self.step)

    def fits(self, wanted: RegistrationName) -> bool:
        """Whether the name can mean it, its number aside."""
        if wanted.kernel is not None:
            names = (self.kernel, self.function, FALLTHROUGH if self.fallthrough else None)
            if wanted.kernel not in names:
                return False
        if wanted.place is None:
            return True
        place = None if self.span is None else f"{self.span.file}:{self.span.line}"
        return place is not None and (place == wanted.place or place.endswith(f"/{wanted.place}"))


def key_of(step: Implement) -> str:
    """The key at which a kernel stands."""
    key = step.dispatch_key or step.block.dispatch_key
    return CATCH_ALL if key is None or key == UNDEFINED else key


def operator_of(step: Implement) -> OperatorName:
    """The operator, with the namespace of its block."""
    return step.block.qualified(step.operator) or step.operator


class RegistrationIndex:
    """All registrations of declarations and of the captured state that they continue, which is given whole."""

    def __init__(self, said: Declarations, source: StateSource | None) -> None:
        self._said = said
        self._source = source
        self._found: dict[_Owner, list[NamedRegistration]] = {}

    def of(self, operator: OperatorName | None, python: bool = False) -> list[NamedRegistration]:
        """Those of an operator, or all backend fallbacks, oldest first; what is left out is not there."""
        owner = operator, python
        found = self._found.get(owner)
        if found is None:
            captured = _captured(self._said, self._source, operator, python, self._captured_names)
            found = self._found[owner] = _numbered([*captured, *self._declared.get(owner, ())])
        return found

    def find(self, wanted: RegistrationName) -> NamedRegistration:
        """The registration that a name means. Errors: ChangeError where it means none, or more than one."""
        candidates = self.of(wanted.operator, wanted.python)
        there = [one for one in candidates if one.name.key == wanted.key]
        fitting = [one for one in there if one.fits(wanted)]
        if wanted.number is not None:
            if 0 < wanted.number <= len(fitting):
                return fitting[wanted.number - 1]
        elif len(fitting) == 1:
            return fitting[0]
        elif fitting:
            listed = "; ".join(_label(one) for one in fitting[:MOST_LISTED])
            raise ChangeError(
                f"{len(fitting)} registrations fit {wanted}", f"add 'kernel', 'place' or 'number': they are {listed}"
            )
        raise ChangeError(f"there is no registration of {wanted}", self._instead(wanted, candidates, there))

    @cached_property
    def _captured_names(self) -> frozenset[str]:
        return frozenset(() if self._source is None else self._source.names)

    @cached_property
    def _declared(self) -> dict[_Owner, list[NamedRegistration]]:
        found: dict[_Owner, list[NamedRegistration]] = {}
        for step in self._said.steps:
            if isinstance(step, Fallback):
                name = RegistrationName(None, step.dispatch_key)
            elif isinstance(step, Implement):
                name = RegistrationName(operator_of(step), key_of(step))
            else:
                continue
            kernel = step.kernel
            one = NamedRegistration(name, kernel.debug, kernel.function, kernel.fallthrough, step.span, step)
            found.setdefault((name.operator, False), []).append(one)
        for python in self._said.python_kernels:
            name = RegistrationName(python.operator, python.dispatch_key, True)
            one = NamedRegistration(name, python.kernel, None, False, python.span, python)
            found.setdefault((name.operator, True), []).append(one)
        return found

    def _instead(
        self, wanted: RegistrationName, candidates: Sequence[NamedRegistration], there: Sequence[NamedRegistration]
    ) -> str | None:
        """What may be meant instead."""
        if there:
            labels = [_label(one) for one in there]
            word = "there it is" if len(labels) == 1 else "there are"
            near = did_you_mean(similar(wanted.kernel or "", [one.kernel for one in there]))
            return near or f"{word} {'; '.join(labels[:MOST_LISTED])}"
        keys = [*dict.fromkeys(one.name.key for one in candidates)]
        if keys:
            return did_you_mean(similar(wanted.key, keys)) or f"it is registered at {', '.join(keys[:MOST_LISTED])}"
        if wanted.operator is None:
            return "there is no backend fallback"
        known = {str(operator) for operator, _ in self._declared if operator is not None}
        known.update(() if self._source is None else self._source.names)
        return did_you_mean(similar(str(wanted.operator), sorted(known)))


def _numbered(found: Sequence[NamedRegistration]) -> list[NamedRegistration]:
    counts: dict[str, int] = {}
    numbered = []
    for one in found:
        key = one.name.key
        number = counts[key] = counts.get(key, 0) + 1
        numbered.append(one._replace(name=one.name._replace(number=number)))
    return numbered


def _captured(
    said: Declarations,
    source: StateSource | None,
    operator: OperatorName | None,
    python: bool,
    names: Collection[str],
) -> Iterator[NamedRegistration]:
    without = frozenset(said.without)
    text = None if operator is None else str(operator)
    kernels: Sequence[tuple[str, str, bool]]
    if text is None:
        kernels = [
            (one.key, one.debug, one.fallthrough) for one in (said.universe.fallbacks if said.core_fallbacks else ())
        ]
    elif source is None or text not in names:
        return
    elif python:
        kernels = [(key, kernel, False) for key, kernel in source.python_kernels(text)]
    else:
        kernels = source.listing(text).kernels
    counts: dict[str, int] = {}
    for key, debug, fallthrough in kernels:
        number = counts[key] = counts.get(key, 0) + 1
        captured = CapturedRegistration(text, key, number, python)
        if captured not in without:
            name = RegistrationName(operator, key, python)
            yield NamedRegistration(name, debug, None, fallthrough, None, None, captured)


def short_name(candidates: Sequence[NamedRegistration], wanted: NamedRegistration) -> RegistrationName:
    """The shortest name that means one of these registrations and no other."""
    there = [one for one in candidates if one.name.key == wanted.name.key]
    place = None if wanted.span is None else f"{wanted.span.file}:{wanted.span.line}"
    kernel = FALLTHROUGH if wanted.fallthrough else wanted.kernel
    bare = wanted.name._replace(number=None)
    names = [bare, bare._replace(kernel=kernel)]
    if place is not None:
        names += [bare._replace(place=place), bare._replace(kernel=kernel, place=place)]
    for name in names:
        fitting = [one for one in there if one.fits(name)]
        if len(fitting) == 1:
            return name
    return names[-1]._replace(number=1 + [one.identity for one in fitting].index(wanted.identity))


def _label(one: NamedRegistration) -> str:
    return one.kernel if one.span is None else f"{one.kernel} ({one.span.file}:{one.span.line})"
