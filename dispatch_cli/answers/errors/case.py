"""The case of a call that ended at a slot: what the text shows, and what the loaded state has there."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.answers.errors.messages import MESSAGES, NOT_ON_DEVICE
from dispatch_cli.answers.errors.printed import PrintedTable
from dispatch_cli.answers.errors.read import ErrorText
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.keys.autograd import autograd_key_of
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import BACKEND_SELECT, META, NON_FUNCTIONAL, UNDEFINED, UNNAMED_BACKEND, Universe

EMPTY = OperatorName("aten::empty", "memory_format")
FACTORIES = frozenset({EMPTY, OperatorName("aten::empty_strided")})
"""Operators with kernels of every backend: they make its tensors."""
MKLDNN = "MkldnnCPU"
"""The one key of a kind of CPU tensors that is not per backend."""
NO_KERNEL_RULES = (Rule.MISSING, Rule.FALLBACK, Rule.AMBIGUOUS, Rule.NOT_KNOWN)
"""The rules by which a slot has no kernel of the operator, or none that is known."""


class Case(NamedTuple):
    """Knowledge of the slot where a call ended.

    functionality: the kind of tensors that bring the key, or which part of a call it is. backend: their device; None
    for keys of no one device. backend_name: the name of PrivateUse1 in the text. over: the names of the loaded state.
    own: the given files define the operator. kernels: the backend keys with a kernel of the operator; None where that
    is not known. in_text: the text shows them. partial: of other backend keys it is not known whether they have one.
    meta: a kernel at Meta is possible. autograd: the text shows a kernel at autograd keys. pytorchs: the operator is
    PyTorch's own. rule: the rule of its slot in the state; None where the state lacks the operator. by_out: the kernel
    there makes the functional form from the out= form, so it fails where that does. declared: a file of the user has
    that kernel. built: the state is of a build with that backend. factory: every backend has the operator. makes: the
    call is told where its result is to be. tags: its tags.
    """

    universe: Universe
    text: ErrorText
    operator: str
    key: str
    functionality: str
    backend: str | None
    backend_name: str | None
    over: str
    own: bool
    kernels: tuple[str, ...] | None
    in_text: bool
    partial: bool
    meta: bool
    autograd: bool
    pytorchs: bool
    rule: Rule | None
    by_out: bool
    declared: bool
    built: bool
    factory: bool
    makes: bool
    tags: tuple[str, ...]

    @property
    def reproduced(self) -> bool:
        """True if the state holds at the slot what the text says; of a fallback that raises, that it is there."""
        called = self.text.kind != NOT_ON_DEVICE or self.rule is not Rule.MISSING
        return called and self.rule in MESSAGES[self.text.kind].rules

    @property
    def here(self) -> bool:
        """True if the state has a kernel there, where the text says that there is none."""
        return self.rule is not None and not self.by_out and self.rule not in NO_KERNEL_RULES

    @property
    def is_backend(self) -> bool:
        """True for a key that tensors of a device bring, and that is no part of a call above the kernels."""
        return self.key != UNDEFINED and autograd_key_of(self.universe, self.key) is not None

    def devices(self, functionality: str) -> tuple[str, ...]:
        """The backends, but Meta, where there is a kernel for tensors of one kind."""
        parts = (self.universe.runtime_parts[key] for key in self.kernels or ())
        return tuple(backend for kind, backend in parts if kind == functionality and backend not in (None, META))

    def other_kinds(self) -> tuple[str, ...]:
        """The kinds of tensors for which there are kernels on the same device."""
        if self.backend is None:
            return ()
        others = (key for key in self.kernels or () if key != self.key)
        same = (key for key in others if device_of(self.universe, key) == self.backend)
        return tuple(self.universe.runtime_parts[key][0] for key in same)


def case_of(
    state: State, name: OperatorName, key: str, text: ErrorText, shown: PrintedTable, backend: str | None
) -> Case:
    """The case of a text about a slot. backend: the text's name of PrivateUse1."""
    dispatcher = state.dispatcher
    universe, known = dispatcher.universe, name in dispatcher
    own = str(name) in {str(operator) for operator in state.own_operators()} and not _is_pytorchs(state, name)
    definition = dispatcher.operator(name).definition if known else None
    table = dispatcher.table(name) if known else None
    entry = None if table is None else table[key]
    rule = dispatcher.operator(name).live[key].rule if known else None
    kernels = shown.kernels(universe)
    in_text = kernels is not None
    if kernels is None and table is not None and rule in MESSAGES[text.kind].rules:
        filled = (slot for slot in universe.runtime if table[slot].rule not in NO_KERNEL_RULES)
        kernels = tuple(slot for slot in filled if autograd_key_of(universe, slot) is not None)
    declared = entry is not None and (not state.over or (entry.kernel is not None and entry.kernel.span is not None))
    return Case(
        universe=universe,
        text=text,
        operator=str(name),
        key=key,
        functionality=UNDEFINED if key == UNDEFINED else universe.runtime_parts[key][0],
        backend=device_of(universe, key),
        backend_name=backend or (None if universe.backend_name == UNNAMED_BACKEND else universe.backend_name),
        over=" with ".join(state.over) if state.over and not own else "The state of the given files",
        own=own,
        kernels=kernels,
        in_text=in_text,
        partial=in_text and not shown.shows_backends(universe),
        meta=in_text and shown.may_have(META),
        autograd=shown.has_autograd(universe),
        pytorchs=_is_pytorchs(state, name),
        rule=rule,
        by_out=entry is not None and entry.decision.source == NON_FUNCTIONAL,
        declared=declared,
        built=device_of(universe, key) in built_backends(dispatcher),
        factory=name in FACTORIES,
        makes=table is not None and BACKEND_SELECT in table.active,
        tags=() if definition is None else definition.tags,
    )


def device_of(universe: Universe, key: str) -> str | None:
    """The backend of a key's tensors; None for keys of no one device."""
    return "CPU" if key == MKLDNN else None if key == UNDEFINED else universe.runtime_parts[key][1]


def built_backends(dispatcher: Dispatcher) -> tuple[str, ...]:
    """The backends that a state has: those that can make tensors."""
    if EMPTY not in dispatcher:
        return ()
    table = dispatcher.table(EMPTY)
    return tuple(backend for backend in dispatcher.universe.backends if table[backend].rule is Rule.KERNEL)


def _is_pytorchs(state: State, name: OperatorName) -> bool:
    """True for an operator of PyTorch, and not of a library or a file, by its namespace."""
    own = {str(name), *map(str, state.own_operators())}
    names = (other for other in state.dispatcher.names() if other not in own) if state.over else ()
    return name.namespace == "aten" or any(OperatorName.parse(other).namespace == name.namespace for other in names)
