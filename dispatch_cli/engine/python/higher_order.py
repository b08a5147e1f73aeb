"""Higher-order operators as PyTorch holds them: their tables, and what ``resolve_key`` makes of them.

Source: ``torch/_ops.py`` (``OperatorBase.py_impl``, ``HigherOrderOperator``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.python.table import decide_for, python_key_text, refusal_text
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.table.registration import Refusal
from dispatch_cli.model.higher_order import (
    FUNCTIONAL_MODE,
    HigherOrderImpl,
    HigherOrderOperator,
    ImplKind,
    ImplPlace,
)
from dispatch_cli.model.problem import Problem, Related
from dispatch_cli.model.text import printed_texts
from dispatch_cli.model.universe import AUTOGRAD, FRONT, FUNCTIONALIZE, PYTHON, UNDEFINED, Universe


def merged(operators: Iterable[HigherOrderOperator]) -> tuple[HigherOrderOperator, ...]:
    """The operators in effect: a later one takes the place of an earlier one of its name, or adds to it."""
    by_name: dict[str, HigherOrderOperator] = {}
    for operator in operators:
        earlier = by_name.get(operator.name)
        if earlier is not None and operator.adds:
            operator = earlier._replace(
                impls=earlier.impls + operator.impls,
                side_effect=earlier.side_effect or operator.side_effect,
                mutates=earlier.mutates or operator.mutates,
                is_own=earlier.is_own or operator.is_own,
                of_pytorch=earlier.of_pytorch or operator.of_pytorch,
                of_unknown=earlier.of_unknown or operator.of_unknown,
                span=earlier.span or operator.span,
            )
        by_name[operator.name] = operator
    return tuple(by_name.values())


def problems_of(
    declared: Iterable[HigherOrderOperator], captured: Iterable[HigherOrderOperator] = ()
) -> Iterator[Problem]:
    """PyTorch's refusals of declared operators, in its words; each names both places.

    captured: the operators that are there before.
    """
    taken = {operator.name: {place: impl for impl in operator.impls for place in places(impl)} for operator in captured}
    for operator in declared:
        if not operator.adds or operator.name not in taken:
            taken[operator.name] = {}
        places_of = taken[operator.name]
        for impl in operator.impls:
            yield from _refused(operator, impl, places_of)
            for place in places(impl):
                places_of.setdefault(place, impl)


def places(impl: HigherOrderImpl) -> tuple[ImplPlace, ...]:
    """Places at which an implementation is registered: three places for functionalization, one for everything else."""
    if impl.fallthrough:
        return ()
    if impl.kind is ImplKind.FUNCTIONALIZE:
        return (
            ImplPlace(ImplKind.DISPATCH, FUNCTIONALIZE),
            ImplPlace(ImplKind.MODE, FUNCTIONAL_MODE),
            ImplPlace(ImplKind.TRANSFORM, FUNCTIONALIZE),
        )
    if impl.kind is ImplKind.AUTOGRAD:
        return (ImplPlace(ImplKind.DISPATCH, AUTOGRAD),)
    return (ImplPlace(impl.kind, impl.name),)


def _refused(
    operator: HigherOrderOperator, impl: HigherOrderImpl, taken: dict[ImplPlace, HigherOrderImpl]
) -> Iterator[Problem]:
    for place in places(impl):
        earlier = taken.get(place)
        if place.kind is ImplKind.DISPATCH:
            message = refusal_text(operator.name, place.name, earlier is not None)
        else:
            table = "functorch_table" if place.kind is ImplKind.TRANSFORM else "python_key_table"
            message = None if earlier is None else f"{_key_text(place)} already registered in {table}"
        if message is not None:
            is_python = place == (ImplKind.DISPATCH, PYTHON)
            span = None if earlier is None or is_python else earlier.span
            related = (Related("the earlier implementation is here", span),) if span is not None else ()
            hint = "write the implementation under 'modes'" if is_python else None
            yield Problem(Refusal.PYTHON_KERNEL.value, message, impl.span, hint=hint, related=related)
            return


def _key_text(place: ImplPlace) -> str:
    """A key of a table as PyTorch prints it; the module of a class is not known here."""
    return f"TransformType.{place.name}" if place.kind is ImplKind.TRANSFORM else f"<class '{place.name}'>"


class Slot(Enum):
    """Outcome of a call at a slot of a higher-order operator."""

    IMPL = "impl"
    """An implementation runs."""
    MODES = "modes"
    """The Python key: modes and subclasses are asked."""
    TRANSFORMS = "transforms"
    """FuncTorchDynamicLayerFrontMode: the innermost functorch transform is asked."""
    FALLTHROUGH = "fallthrough"
    """No call arrives here: the key falls through."""
    NO_IMPL = "no-impl"
    """An error: only a backend fallback is there, and higher-order operators have none."""
    MISSING = "missing"
    """An error: nothing is there."""
    AMBIGUOUS = "ambiguous"
    """An error: the ambiguous AutogradOther."""


class HigherOrderEntry(NamedTuple):
    """One slot. decision: what ``resolve_key`` answers. rule: what runs there. error: of the slots that are one."""

    key: str
    slot: Slot
    decision: Decision
    impl: HigherOrderImpl | None = None
    error: str | None = None


class HigherOrderTable:
    """A higher-order operator in a universe.

    kernels: its implementations by dispatch key (``py_kernels``). modes, subclasses: ``python_key_table``. transforms:
    ``functorch_table``. fallbacks: bit *i* is set when slot *i* has a backend fallback.
    """

    def __init__(self, universe: Universe, operator: HigherOrderOperator, fallbacks: int) -> None:
        self.universe = universe
        self.operator = operator
        self._fallbacks = fallbacks
        tables: dict[ImplKind, dict[str, HigherOrderImpl]] = {kind: {} for kind in ImplKind}
        for impl in operator.impls:
            for place in places(impl):
                tables[place.kind].setdefault(place.name, impl)
        self.kernels = tables[ImplKind.DISPATCH]
        self.modes = tables[ImplKind.MODE]
        self.subclasses = tables[ImplKind.SUBCLASS]
        self.transforms = tables[ImplKind.TRANSFORM]

    @cached_property
    def non_fallthrough(self) -> DispatchKeySet:
        """The mask of a call (``non_fallthrough_keys``).

        To fall through is a matter of a functionality: with AutogradCPU all autograd keys of backends do. An
        implementation at such a key makes it one that does not.
        """
        mask = DispatchKeySet.full(self.universe)
        for key in self.universe.higher_order_fallthrough:
            mask = mask.remove(key)
        for impl in self.operator.impls:
            if impl.fallthrough:
                mask = mask.remove(impl.name)
                continue
            for place in places(impl):
                if place.kind is ImplKind.DISPATCH and not mask.has(place.name):
                    mask = mask.add(place.name)
        return mask

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """Answers of ``resolve_key`` for every slot."""
        return decide_for(self.universe, self.kernels, self._fallbacks)

    def falls_through(self, key: str) -> bool:
        """True if no call arrives at the slot of *key*."""
        return key != UNDEFINED and not self.non_fallthrough.has(key)

    def is_implemented(self, key: str) -> bool:
        """True if an implementation is in the slot of a key of a backend, and calls arrive there."""
        return self.decisions[self.universe.slot[key]].source is not None and not self.falls_through(key)

    def entry(self, key: str) -> HigherOrderEntry:
        """Entry that a call finds at a slot. Errors: KeyError for a key without a slot."""
        decision = self.decisions[self.universe.slot[key]]
        if self.falls_through(key):
            return HigherOrderEntry(key, Slot.FALLTHROUGH, decision, self._impl(decision))
        if key == PYTHON:
            return HigherOrderEntry(key, Slot.MODES, decision)
        if key == FRONT:
            return HigherOrderEntry(key, Slot.TRANSFORMS, decision)
        return self.resolved(key, decision)

    def resolved(self, key: str, decision: Decision) -> HigherOrderEntry:
        """Entry for a key, by ``resolve_key`` and the tables of implementations."""
        name = self.operator.name
        impl = self._impl(decision)
        if impl is not None:
            return HigherOrderEntry(key, Slot.IMPL, decision, impl)
        if decision.rule is Rule.AMBIGUOUS:
            return HigherOrderEntry(key, Slot.AMBIGUOUS, decision, error=printed_texts.AMBIGUOUS_IN_PYTHON)
        shown = python_key_text(key)
        if decision.rule is Rule.FALLBACK:
            message = (
                f"could not find kernel for HigherOrderOperator {name} at dispatch key {shown} (resolved from {shown})"
            )
            return HigherOrderEntry(key, Slot.NO_IMPL, decision, error=message)
        return HigherOrderEntry(
            key, Slot.MISSING, decision, error=f"could not find kernel for {name} at dispatch key {shown}"
        )

    def entries(self) -> Iterator[HigherOrderEntry]:
        """Every slot, in table order."""
        return map(self.entry, self.universe.slots)

    def _impl(self, decision: Decision) -> HigherOrderImpl | None:
        return None if decision.source is None else self.kernels[decision.source]
