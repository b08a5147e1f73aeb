"""Registrations and namespaces by their owners: the files that the user named, PyTorch, other libraries.

Registrations in sources may exist that are not known: where a namespace, name or key depends on something that is not
known, such as a macro that the build sets, the registration is listed as undecided and not run. A check that finds that
something of an operator is missing is not sure then: what is missing may be there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cached_property

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.declarations import (
    Define,
    Fallback,
    Implement,
    LibraryKind,
    NotUnderstood,
    OpenBlock,
    OwnChange,
    Registrant,
    Settle,
    Step,
    Undecided,
)
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.suggest import is_one_edit_away

CORE_NAMESPACES = frozenset({"aten", "prims"})
"""The namespaces of PyTorch's own operators and of the primitives that they decompose into."""
MIN_LETTERS = 3
"""The length of the shortest namespace that another one can be a misspelling of; many are near a shorter one."""
MANY = 5
"""Operators of a namespace without a definition, from which on another library may define them."""
DEFINITIONS = frozenset({"definition", "custom_op", "triton_op"})
_DEFINES = re.compile(r"([\w.]+)\.def(?:ine)?\(\s*[fr]?['\"]+([\w.]+(?:::[\w.]+)?)\s*\(", re.ASCII)
"""A definition by a library that is an expression: ``lib.define("name(…``."""
_IMPLEMENTS = re.compile(r"([\w.]+)\.impl\(\s*['\"]+([\w.]+(?:::[\w.]+)?)['\"]", re.ASCII)
"""A kernel that a library which is an expression registers: ``m.impl("name", …``."""
NO_KERNELS = frozenset({"block", "definition", "fallback"})


class Files:
    """A state, as far as it says who registered what."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.dispatcher: Dispatcher = state.dispatcher

    @cached_property
    def _captured(self) -> tuple[tuple[Step, Registrant], ...]:
        """The steps that captures have, without those marked as the user's, and whose they are."""
        steps = self.state.declarations.steps
        return tuple((step, by) for step in steps if (by := registrant_of(step)) not in (None, Registrant.USER))

    @cached_property
    def _captured_places(self) -> Mapping[Span, Registrant]:
        """The places of captured registrations, and whose they are."""
        return {span: by for step, by in self._captured for span in _places((step,))}

    @cached_property
    def unknown_operators(self) -> frozenset[OperatorName]:
        """The operators of which captures do not say who registered them."""
        return frozenset(names_of(step for step, by in self._captured if by is Registrant.UNKNOWN))

    @cached_property
    def own(self) -> frozenset[OperatorName]:
        """The operators that the files named by the user register something for, or change registrations of."""
        return frozenset(self.state.own_operators())

    def is_own(self, registration: Registration) -> bool:
        """True if the registration is by a file that the user named, not by one that it extends, or by a base.

        Those of a what-if, which are in no file, are the user's own too.
        """
        span = registration.kernel.span
        return self._is_of_what_if(registration) if span is None else span in self._own_places

    def is_written(self, registration: Registration) -> bool:
        """True if the registration is the user's own, and it is known that it is: no capture leaves that open."""
        return self.is_own(registration) and self.registrant(registration) is Registrant.USER

    def registrant(self, registration: Registration) -> Registrant:
        """Author of a registration; what has no place in a file and is not the user's own is PyTorch's."""
        span = registration.kernel.span
        if span is None:
            return Registrant.USER if self._is_of_what_if(registration) else Registrant.PYTORCH
        return self._captured_places.get(span, Registrant.USER)

    def is_captured(self, registration: Registration) -> bool:
        """True if a registration is part of a captured state, which has an order of its own; whoever made it."""
        return Files.registrant(self, registration) is not Registrant.USER

    @cached_property
    def own_steps(self) -> tuple[Step, ...]:
        """The steps of the files that the user named."""
        return self.state.declarations.own_steps

    @cached_property
    def written_steps(self) -> tuple[Step, ...]:
        """The user's own steps, without those of a capture that does not say whose they are."""
        return tuple(step for step in self.own_steps if registrant_of(step) is Registrant.USER)

    @cached_property
    def pytorch_namespaces(self) -> frozenset[str]:
        """The namespaces that are PyTorch's: those of the operators of its state. Of a capture that does not say who
        registered what, only those that every PyTorch has.
        """
        namespaces = {name.partition("::")[0] for name in self.pytorch_operators}
        namespaces.update(name.namespace for name in self.unknown_operators if name.namespace in CORE_NAMESPACES)
        return frozenset(namespaces)

    @cached_property
    def pytorch_operators(self) -> frozenset[str]:
        """The names of the operators that PyTorch registers something for: those of its state."""
        source, captured = self.state.source, names_of(step for step, by in self._captured if by is Registrant.PYTORCH)
        return frozenset(map(str, captured)).union(source.names if source is not None else ())

    @cached_property
    def own_fallbacks(self) -> Mapping[str, Registration]:
        """The backend fallbacks that the user's own files register, by runtime key."""
        return {key: fallback for key, fallback in self.dispatcher.fallbacks.items() if self.is_own(fallback)}

    @cached_property
    def has_pytorch(self) -> bool:
        """True if the operators of a PyTorch state are there: an embedded one, or a snapshot."""
        steps = self.state.declarations.steps
        return self.state.source is not None or any(isinstance(step, Settle) for step in steps)

    @cached_property
    def has_files(self) -> bool:
        """True if the user's own files register something, or change what was registered before."""
        return self.registers or bool(self.changes)

    @cached_property
    def registers(self) -> bool:
        """True if the user's own files register something."""
        declared = self.state.declarations
        return (
            any(not isinstance(step, Settle) for step in self.own_steps)
            or any(operator.is_own for operator in declared.higher_order_operators)
            or bool(declared.own_python_kernels)
        )

    @cached_property
    def changes(self) -> tuple[OwnChange, ...]:
        """Changes of earlier registrations by the user's own files."""
        changes = self.state.declarations.changes
        return () if changes is None else changes.made

    # inside

    def _is_of_what_if(self, registration: Registration) -> bool:
        """True if a kernel without a place is one of a what-if; a base's, and PyTorch's fallbacks, have none either."""
        return registration.operator is not None and self.state.source is None and self.registers

    @cached_property
    def _own_places(self) -> frozenset[Span]:
        return frozenset(_places(self.own_steps))


def registrant_of(step: Step) -> Registrant | None:
    """Author of a step; None for the end of a snapshot."""
    return None if isinstance(step, Settle) else step.block.by


def names_of(steps: Iterable[Step]) -> Iterator[OperatorName]:
    """The operators that steps register something for."""
    for step in steps:
        if isinstance(step, Define):
            yield step.schema.name
        elif isinstance(step, Implement):
            yield step.operator


def _places(steps: Iterable[Step]) -> Iterator[Span]:
    for step in steps:
        if isinstance(step, Implement | Fallback) and step.kernel.span is not None:
            yield step.kernel.span
        elif isinstance(step, Define) and step.span is not None:
            yield step.span


class NamespaceOwner(Enum):
    """The one that defines the operators of a namespace.

    PROJECT: the user's files. PYTORCH: the captured PyTorch, or any PyTorch. MISSPELT: nobody, and the name is one edit
    from one of these. ANOTHER: nobody here, so it is another library's.
    """

    PROJECT = "project"
    PYTORCH = "pytorch"
    MISSPELT = "misspelt"
    ANOTHER = "another"


class Namespaces:
    """The namespaces of a run.

    pytorchs: those of PyTorch. projects: those in which the user's files define operators, under whatever conditions.
    whole: those with a ``TORCH_LIBRARY`` block of the user's; others may be extended by another library, too.
    mostly_implemented: others in which the files have kernels of `MANY` operators that they do not define, and of more
        than they define.
    in_sources: those of blocks in sources.
    """

    def __init__(self, state: State, pytorchs: frozenset[str]) -> None:
        declared = state.declarations if state.variants is None else state.variants.declarations
        steps = [step for step in declared.own_steps if not isinstance(step, Settle)]
        defining = (
            step.block.namespace
            for step in steps
            if isinstance(step, Define) or (isinstance(step, OpenBlock) and step.block.kind is LibraryKind.DEF)
        )
        self.pytorchs = pytorchs | CORE_NAMESPACES
        undecided = (item.namespace for item in declared.undecided if item.registers in DEFINITIONS and item.namespace)
        self.projects = frozenset((*defining, *undecided)) - self.pytorchs
        self.whole = frozenset(
            step.block.namespace for step in steps if step.block.kind is LibraryKind.DEF and not step.block.implicit
        )
        defined = {step.schema.name for step in steps if isinstance(step, Define)}
        implemented = {step.block.qualified(step.operator) for step in steps if isinstance(step, Implement)} - defined
        undefined = Counter(name.namespace for name in implemented if name is not None)
        own = Counter(name.namespace for name in defined)
        many = (namespace for namespace, count in undefined.items() if count >= max(MANY, own[namespace] + 1))
        self.mostly_implemented = frozenset(many) - self.whole
        self.in_sources = frozenset(step.block.namespace for step in steps if step.block.extracted)

    def owner(self, namespace: str) -> NamespaceOwner:
        """The one that defines the operators of a namespace."""
        if namespace in self.projects:
            return NamespaceOwner.PROJECT
        if namespace in self.pytorchs:
            return NamespaceOwner.PYTORCH
        return NamespaceOwner.ANOTHER if self.meant(namespace) is None else NamespaceOwner.MISSPELT

    def meant(self, namespace: str) -> str | None:
        """The known namespace that is one edit from this one, the project's before PyTorch's; None for none."""
        known = (*sorted(self.projects), *sorted(self.pytorchs))
        near = (other for other in known if len(other) >= MIN_LETTERS and is_one_edit_away(namespace, other))
        return next(near, None)


class MissingPart(Enum):
    """A part that an operator lacks where a check finds something; an undecided registration may be that."""

    DEFINITION = "definition"
    KERNEL = "kernel"


class UndecidedIndex:
    """The undecided registrations, by the operators that they may be of.

    unread: statements that were not understood; some define or implement operators in a library that is not known.
    why_unread: why each was not understood, by its place.
    """

    def __init__(self, undecided: Iterable[Undecided], unread: Iterable[NotUnderstood] = ()) -> None:
        # by namespace and own name, overload included; None where it is not known
        self._found: dict[tuple[str | None, str | None, MissingPart], Undecided] = {}
        unread = tuple(unread)
        self.why_unread = {statement.at: statement.why for statement in unread}
        for registration in (*undecided, *_named(unread)):
            if registration.registers in DEFINITIONS:
                self._found.setdefault((*operator_parts(registration), MissingPart.DEFINITION), registration)
            if registration.registers not in NO_KERNELS:
                self._found.setdefault((*operator_parts(registration), MissingPart.KERNEL), registration)

    def may_be_there(self, operator: OperatorName, lack: MissingPart) -> Undecided | None:
        """An undecided registration that may be what the operator lacks; the first of the most certain ones."""
        if not self._found:
            return None
        namespace, own = operator.namespace, str(operator).rpartition("::")[2]
        for known in ((namespace, own), (None, own), (namespace, None), (None, None)):
            if (match := self._found.get((*known, lack))) is not None:
                return match
        return None


def _named(unread: Iterable[NotUnderstood]) -> Iterator[Undecided]:
    """The definitions and kernels among statements that were not understood whose operators they name."""
    for statement in unread:
        for registers, pattern in (("definition", _DEFINES), ("kernel", _IMPLEMENTS)):
            match = pattern.match(statement.text)
            if match is not None:
                yield Undecided(registers, statement.at, (("library", match[1]),), name=match[2])


def operator_parts(registration: Undecided) -> tuple[str | None, str | None]:
    """Namespace and own name of the operator, as far as they are known."""
    unknown = dict(registration.unknown)
    name = registration.name or (registration.schema or "").partition("(")[0].strip() or None
    namespace = registration.namespace
    if name is None and "name" in unknown and "namespace" in unknown:
        # of NAMESPACE::name only the namespace is not known
        before, separator, own = unknown["name"].rpartition("::")
        name = own if separator and before == unknown["namespace"] and own.replace(".", "_").isidentifier() else None
    if name is not None and "::" in name:
        before, _, name = name.rpartition("::")
        namespace = namespace or before
    return namespace, name
