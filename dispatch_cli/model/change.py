"""Changes of a history: a registration that is left out, or made at another time; and what they make of declarations.

A change names a registration by what is seen of it: operator, key, and where that leaves several, kernel, place and
number. It is found among the steps of the history and what a captured state has registered, as they are before any of
the changes that are made together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.captured import StateSource
from dispatch_cli.model.declarations import (
    WILDCARD,
    Block,
    CapturedRegistration,
    Declarations,
    Fallback,
    Implement,
    LibraryKind,
    OpenBlock,
    PythonKernel,
    Settle,
    Step,
)
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.suggest import did_you_mean, similar
from dispatch_cli.model.universe import CATCH_ALL, UNDEFINED

CATCH_ALL_WORD = "CatchAll"
"""How an addition says that it has no key."""
FALLTHROUGH = "fallthrough"
MOST_LISTED = 6
"""Registrations and keys that a hint lists."""


class RegistrationKind(Enum):
    """What is registered."""

    KERNEL = "kernel"
    """A kernel of an operator."""
    FALLBACK = "fallback"
    """A backend fallback."""
    PYTHON = "python-kernel"
    """A kernel of the Python dispatcher (``py_impl``)."""


class RegistrationName(NamedTuple):
    """Which registration is meant.

    operator: whose; None for a backend fallback. key: where it is registered. python: a kernel of the Python
    dispatcher. kernel: its name or debug text. place: ``FILE:LINE``. number: the first, second, … of those that fit
    the other fields, oldest first; None where there is only one.
    """

    operator: OperatorName | None
    key: str
    python: bool = False
    kernel: str | None = None
    place: str | None = None
    number: int | None = None

    @property
    def kind(self) -> RegistrationKind:
        """What is registered."""
        return (
            RegistrationKind.FALLBACK
            if self.operator is None
            else RegistrationKind.PYTHON
            if self.python
            else RegistrationKind.KERNEL
        )

    def __str__(self) -> str:
        whose = "the backend fallback" if self.operator is None else str(self.operator)
        words = "the Python kernel of " if self.python else ""
        rest = "".join(f", {word} {value}" for word, value in zip(_FURTHER, self[3:], strict=True) if value is not None)
        return f"{words}{whose} at {self.key}{rest}"


_FURTHER = ("kernel", "place", "number")


class Removal(NamedTuple):
    """A registration is left out, as if it had never been made."""

    which: RegistrationName


class Reordering(NamedTuple):
    """A registration of the files is made at another time: right before or right after another one.

    block: everything in its registration block moves with it.
    """

    which: RegistrationName
    before: RegistrationName | None = None
    after: RegistrationName | None = None
    block: bool = False


HistoryChange = Removal | Reordering


class Addition(NamedTuple):
    """A registration is made, after all others.

    operator: whose; None for a backend fallback. kernel: what is registered; of the Python dispatcher, its name.
    """

    operator: OperatorName | None
    key: str
    kernel: Kernel | str


Change = Addition | Removal | Reordering


class ChangeError(ValueError):
    """A change that cannot be made. hint: what may be meant."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


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


def registered(
    said: Declarations, source: StateSource | None, operator: OperatorName | None, python: bool = False
) -> list[NamedRegistration]:
    """All registrations of an operator, or all backend fallbacks, oldest first; those that are left out are not there.

    source: the captured state, whole.
    """
    found = [*_captured(said, source, operator, python)]
    if python:
        for one in said.python_kernels:
            if one.operator == operator:
                name = RegistrationName(operator, one.dispatch_key, True)
                found.append(NamedRegistration(name, one.kernel, None, False, one.span, one))
        return _numbered(found)
    for step in said.steps:
        if operator is None and isinstance(step, Fallback):
            key = step.dispatch_key
        elif operator is not None and isinstance(step, Implement) and operator_of(step) == operator:
            key = key_of(step)
        else:
            continue
        kernel = step.kernel
        name = RegistrationName(operator, key)
        found.append(NamedRegistration(name, kernel.debug, kernel.function, kernel.fallthrough, step.span, step))
    return _numbered(found)


def _numbered(found: Sequence[NamedRegistration]) -> list[NamedRegistration]:
    counts: dict[str, int] = {}
    numbered = []
    for one in found:
        key = one.name.key
        number = counts[key] = counts.get(key, 0) + 1
        numbered.append(one._replace(name=one.name._replace(number=number)))
    return numbered


def _captured(
    said: Declarations, source: StateSource | None, operator: OperatorName | None, python: bool
) -> Iterator[NamedRegistration]:
    without = frozenset(said.without)
    text = None if operator is None else str(operator)
    kernels: Sequence[tuple[str, str, bool]]
    if text is None:
        kernels = [
            (one.key, one.debug, one.fallthrough) for one in (said.universe.fallbacks if said.core_fallbacks else ())
        ]
    elif source is None or text not in source.names:
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


def find(said: Declarations, source: StateSource | None, wanted: RegistrationName) -> NamedRegistration:
    """The registration that a name means. Errors: ChangeError where it means none, or more than one."""
    candidates = registered(said, source, wanted.operator, wanted.python)
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
            f"{len(fitting)} registrations fit {wanted}", f"add 'kernel', 'at' or 'number': they are {listed}"
        )
    raise ChangeError(f"there is no registration of {wanted}", _instead(said, source, wanted, candidates, there))


def _label(one: NamedRegistration) -> str:
    return one.kernel if one.span is None else f"{one.kernel} ({one.span.file}:{one.span.line})"


def _instead(
    said: Declarations,
    source: StateSource | None,
    wanted: RegistrationName,
    candidates: Sequence[NamedRegistration],
    there: Sequence[NamedRegistration],
) -> str | None:
    """What may be meant instead."""
    if there:
        names = [_label(one) for one in there]
        word = "there it is" if len(names) == 1 else "there are"
        return did_you_mean(similar(wanted.kernel or "", [one.kernel for one in there])) or (
            f"{word} {'; '.join(names[:MOST_LISTED])}"
        )
    keys = [*dict.fromkeys(one.name.key for one in candidates)]
    if keys:
        return did_you_mean(similar(wanted.key, keys)) or f"it is registered at {', '.join(keys[:MOST_LISTED])}"
    if wanted.operator is None:
        return "there is no backend fallback"
    known = {str(operator_of(step)) for step in said.steps if isinstance(step, Implement)}
    known.update(() if source is None else source.names)
    return did_you_mean(similar(str(wanted.operator), sorted(known)))


class _ResolvedChange(NamedTuple):
    """A change with the registrations that it names. target: of a move, the one that it is moved to."""

    change: HistoryChange
    which: NamedRegistration
    target: NamedRegistration | None = None


def change_history(said: Declarations, source: StateSource | None, changes: Sequence[HistoryChange]) -> Declarations:
    """Declarations after changes, all of which name registrations as they are before the first.

    source: the captured state, whole. Errors: ChangeError.
    """
    for one in [_found(said, source, change) for change in changes]:
        said = _removed(said, one.which) if one.target is None else _moved(said, one)
    return said


def _found(said: Declarations, source: StateSource | None, change: HistoryChange) -> _ResolvedChange:
    which = find(said, source, change.which)
    if isinstance(change, Removal):
        return _ResolvedChange(change, which)
    anchor = change.before or change.after
    if anchor is None:
        raise ChangeError("a registration is moved before another one, or after it")
    target = find(said, source, anchor)
    for one in (which, target):
        if one.captured is not None:
            raise ChangeError(
                f"{one.name} is part of a captured state, whose registrations have no order",
                "only registrations of files can be moved",
            )
        if isinstance(one.step, PythonKernel):
            raise ChangeError("kernels of the Python dispatcher are not moved: their order makes no difference")
    return _ResolvedChange(change, which, target)


def _removed(said: Declarations, which: NamedRegistration) -> Declarations:
    if which.captured is not None:
        if which.captured in said.without:
            raise ChangeError(f"the registration of {which.name} is removed twice")
        return said._replace(without=(*said.without, which.captured))
    if isinstance(which.step, PythonKernel):
        left = tuple(one for one in said.python_kernels if one is not which.step)
        if len(left) == len(said.python_kernels):
            raise ChangeError(f"the registration of {which.name} is removed twice")
        return said._replace(python_kernels=left)
    steps = [step for step in said.steps if step is not which.step]
    if len(steps) == len(said.steps):
        raise ChangeError(f"the registration of {which.name} is removed twice")
    return with_steps(said, steps)


def moving_steps(said: Declarations, which: NamedRegistration, change: Reordering) -> list[Step]:
    """The steps that move with a registration."""
    assert isinstance(which.step, Implement | Fallback), "only these are named"
    if not change.block:
        return [step for step in said.steps if step is which.step]
    block = which.step.block
    return [step for step in said.steps if not isinstance(step, Settle) and step.block == block]


def _moved(said: Declarations, found: _ResolvedChange) -> Declarations:
    assert isinstance(found.change, Reordering) and found.target is not None, "the change is a move"
    moving = moving_steps(said, found.which, found.change)
    gone = frozenset(map(id, moving))
    rest = [step for step in said.steps if id(step) not in gone]
    position = next((n for n, step in enumerate(rest) if step is found.target.step), None)
    if id(found.target.step) in gone:
        raise ChangeError("a registration cannot be moved before or after itself")
    if not moving or position is None:
        name = found.which.name if not moving else found.target.name
        raise ChangeError(f"the registration of {name} is removed, and nothing can be moved to it or from it")
    position += found.change.before is None
    return with_steps(said, [*rest[:position], *moving, *rest[position:]])


def with_steps(said: Declarations, steps: Sequence[Step]) -> Declarations:
    """Declarations with other steps, those that are inherited in their new order."""
    inherited = frozenset(map(id, said.inherited_steps))
    return said._replace(steps=tuple(steps), inherited_steps=tuple(step for step in steps if id(step) in inherited))


def added(said: Declarations, change: Addition, place: str, line: int) -> Declarations:
    """Declarations after a registration is added, which says that it is at *line* of *place*."""
    span = Span(place, line, 1)
    operator, key, kernel = change
    if isinstance(kernel, str):
        if operator is None:
            raise ChangeError("a backend fallback is not a kernel of the Python dispatcher")
        one = PythonKernel(operator, key, kernel, span)
        return said._replace(python_kernels=(*said.python_kernels, one))
    namespace = WILDCARD if operator is None else operator.namespace or ""
    kind = LibraryKind.IMPL if operator is None else LibraryKind.FRAGMENT
    block = Block(kind, namespace, key if operator is None else None, place, line, span, implicit=True)
    kernel = kernel._replace(span=span)
    if operator is None:
        step: Step = Fallback(block, key, kernel, span)
    else:
        step = Implement(block, operator, None if key == CATCH_ALL_WORD else key, kernel, span)
    return said._replace(steps=(*said.steps, OpenBlock(block), step))


def declared(said: Declarations, source: StateSource | None, changes: Sequence[Change], place: str) -> Declarations:
    """Declarations after changes: first what is added, then the other changes in order.

    source: the captured state, whole. place: stands for the file that the changes are written to. Errors: ChangeError.
    """
    said = with_added(said, changes, place)
    return change_history(said, source, [change for change in changes if not isinstance(change, Addition)])


def with_added(said: Declarations, changes: Sequence[Change], place: str) -> Declarations:
    """Declarations with what changes add. place: as of `declared`."""
    line = 0
    for change in changes:
        if isinstance(change, Addition):
            line += 1
            said = added(said, change, place, line)
    return said
