"""The rows of a comparison of two states, but for the slots: plain data, and how they are made."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.engine.comparison.sides import ChangeKind, KernelView, Side
from dispatch_cli.engine.comparison.slots import Answer, SlotCause
from dispatch_cli.engine.comparison.states import StatesChange
from dispatch_cli.model.conditions.simplify import text_of_all
from dispatch_cli.model.higher_order import ImplKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.cursor import SchemaError
from dispatch_cli.model.schema.parser import parse_printed_schema
from dispatch_cli.model.schema_changes import SchemaPart, SchemaPartChange, schema_changes
from dispatch_cli.model.span import Span


class DiffSide(NamedTuple):
    """A state that is compared. named: as the command line names it. over: the embedded states that it continues.

    operators: how many it has.
    """

    named: tuple[str, ...]
    universe: str
    over: tuple[str, ...]
    operators: int


class DiffCounts(NamedTuple):
    """Numbers of differences. schemas, tags, alias_analysis: operators. slots: of *slot_operators*."""

    operators_added: int = 0
    operators_removed: int = 0
    schemas: int = 0
    tags: int = 0
    alias_analysis: int = 0
    registrations_added: int = 0
    registrations_removed: int = 0
    registrations_replaced: int = 0
    slots: int = 0
    slot_operators: int = 0
    python_kernels: int = 0
    higher_order_operators: int = 0
    fallbacks: int = 0
    keys: int = 0
    refused_added: int = 0
    refused_removed: int = 0
    cells: int = 0


class DiffKernel(NamedTuple):
    """A kernel. state: the embedded state that it is from. when: the conditions of its registration."""

    kernel: str
    fallthrough: bool
    span: Span | None
    state: str | None
    when: str | None


class DiffOperator(NamedTuple):
    """An operator that one side has alone. schema: None where it has none. state: as in `DiffKernel`."""

    operator: str
    schema: str | None
    span: Span | None
    state: str | None


class DiffSchema(NamedTuple):
    """A definition that differs.

    changes: what is different in the schema, one sentence each; none where tags or alias analysis differ alone.
    old_alias_analysis, new_alias_analysis: where they differ.
    """

    operator: str
    old_schema: str | None
    new_schema: str | None
    changes: tuple[str, ...]
    tags_added: tuple[str, ...]
    tags_removed: tuple[str, ...]
    old_alias_analysis: str | None
    new_alias_analysis: str | None
    old_declared_at: Span | None
    new_declared_at: Span | None


class DiffRegistration(NamedTuple):
    """Change at a key of an operator that both sides have. before, after: the kernels there, newest first."""

    operator: str
    key: str
    change: ChangeKind
    before: tuple[DiffKernel, ...]
    after: tuple[DiffKernel, ...]


class DiffFallback(NamedTuple):
    """A backend fallback that came, went or is another one."""

    key: str
    change: ChangeKind
    before: DiffKernel | None
    after: DiffKernel | None


class DiffPythonKernel(NamedTuple):
    """A kernel of the Python dispatcher that came, went or is another function."""

    operator: str
    key: str
    change: ChangeKind
    before: str | None
    after: str | None


class DiffImpl(NamedTuple):
    """An implementation of a higher-order operator. name: the key, mode, subclass or transform that it is for."""

    kind: ImplKind
    name: str
    before: str | None
    after: str | None


class DiffHigherOrder(NamedTuple):
    """A higher-order operator that came, went or is another one. impls: of one that both sides have."""

    name: str
    change: ChangeKind
    impls: tuple[DiffImpl, ...]


class DiffKey(NamedTuple):
    """A key that one universe has alone. side: which. operators: those that have a registration at it."""

    key: str
    side: str
    alias: bool
    operators: tuple[str, ...]
    fallback: DiffKernel | None


class DiffRefused(NamedTuple):
    """A registration that PyTorch refuses, and that one side has alone. code, message: why.

    operator: None where it is not known, and of a fallback. when: the conditions of the registration.
    """

    change: ChangeKind
    operator: str | None
    code: str
    message: str
    span: Span | None
    when: str | None


class DiffSlotOperator(NamedTuple):
    """An operator of a group. before, after: the kernel in the slots; None for a fallback, and where there is none.

    because: for each cause the registration or fallback, that of the old state where it was removed.
    """

    operator: str
    before: DiffKernel | None
    after: DiffKernel | None
    because: tuple[DiffKernel | None, ...]


class DiffSlots(NamedTuple):
    """Slots that give another answer, in the same way and for the same reason in all of the operators."""

    keys: tuple[str, ...]
    before: Answer
    after: Answer
    causes: tuple[SlotCause, ...]
    operators: tuple[DiffSlotOperator, ...]


_SCHEMA_PARTS = {SchemaPart.ARGUMENT: "argument", SchemaPart.RETURN: "return", SchemaPart.ORDER: "order of arguments"}
CELLS = "cells"
PARTS = ("schemas", "registrations", "slots", CELLS)
"""Parts of an answer: operators and their schemas; registrations, fallbacks, implementations in Python, and
keys; slots; cells of the support matrix."""


def schema_sentences(old: str | None, new: str | None) -> tuple[str, ...]:
    """One sentence for each change; none where one side has no schema, or one that cannot be read."""
    if old is None or new is None or old == new:
        return ()
    try:
        before, after = parse_printed_schema(old), parse_printed_schema(new)
    except SchemaError:
        return ()
    return tuple(map(_schema_sentence, schema_changes(before, after)))


def _schema_sentence(change: SchemaPartChange) -> str:
    part = _SCHEMA_PARTS[change.part]
    if change.before is None:
        return f"{part} added: {change.after}"
    if change.after is None:
        return f"{part} removed: {change.before}"
    return f"{part}: {change.before} → {change.after}"


class DiffChoice(NamedTuple):
    """Choice of what is compared. operators, higher_order, keys: by name; None for all. parts: of `PARTS`."""

    operators: Collection[str] | None = None
    higher_order: Collection[str] | None = None
    keys: Collection[str] | None = None
    parts: Collection[str] = PARTS

    def has_key(self, key: str) -> bool:
        """True if a key is chosen."""
        return self.keys is None or key in self.keys


EVERYTHING = DiffChoice()


def side(state: Side, named: Sequence[str]) -> DiffSide:
    """A state as the report names it."""
    return DiffSide(tuple(named), state.universe.name, state.state.over, len(state.dispatcher))


def kernel_of(side: Side, kernel: KernelView) -> DiffKernel:
    """A kernel of a side, with its place or state."""
    base = side.state.source
    state = base.name if kernel.captured and base is not None else None
    return DiffKernel(kernel.label, kernel.fallthrough, kernel.span, state, kernel.when)


def alone(change: StatesChange, kind: ChangeKind) -> Iterator[DiffOperator]:
    """The operators that one side has alone. kind: ADDED or REMOVED."""
    side = change.new if kind is ChangeKind.ADDED else change.old
    source = side.state.source
    for operator in change.operators:
        view = operator.after if kind is ChangeKind.ADDED else operator.before
        if operator.change is kind and view is not None:
            captured = source is not None and side.dispatcher.is_untouched(OperatorName.parse(operator.name))
            state = source.name if captured and source is not None else None
            yield DiffOperator(operator.name, view.schema, view.span, state)


def schemas(change: StatesChange) -> Iterator[DiffSchema]:
    """The definitions that differ."""
    for operator in change.operators:
        schema = operator.schema
        if schema is not None and operator.before is not None and operator.after is not None:
            yield DiffSchema(
                operator.name,
                schema.old,
                schema.new,
                schema_sentences(schema.old, schema.new),
                schema.tags_added,
                schema.tags_removed,
                schema.alias_analysis and schema.alias_analysis[0],
                schema.alias_analysis and schema.alias_analysis[1],
                operator.before.span,
                operator.after.span,
            )


def registrations(change: StatesChange, chosen: DiffChoice) -> Iterator[DiffRegistration]:
    """The registrations that came, went or are other ones, at keys that both universes have."""
    alone = {*change.only_old, *change.only_new}
    for operator in change.operators:
        for each in operator.registrations:
            if each.key not in alone and chosen.has_key(each.key):
                before = tuple(kernel_of(change.old, kernel) for kernel in each.before)
                after = tuple(kernel_of(change.new, kernel) for kernel in each.after)
                yield DiffRegistration(operator.name, each.key, each.change, before, after)


def fallbacks(change: StatesChange, chosen: DiffChoice) -> Iterator[DiffFallback]:
    """The backend fallbacks that differ, where all operators are looked at."""
    for fallback in change.fallbacks if chosen.operators is None else ():
        if chosen.has_key(fallback.key):
            before = None if fallback.before is None else kernel_of(change.old, fallback.before)
            after = None if fallback.after is None else kernel_of(change.new, fallback.after)
            yield DiffFallback(fallback.key, fallback.change, before, after)


def python_kernels(change: StatesChange, chosen: DiffChoice) -> Iterator[DiffPythonKernel]:
    """The kernels of the Python dispatcher that differ."""
    for operator in change.operators:
        for each in operator.python_kernels:
            if chosen.has_key(each.key):
                yield DiffPythonKernel(operator.name, each.key, each.change, each.before, each.after)


def higher_order(change: StatesChange, chosen: DiffChoice) -> Iterator[DiffHigherOrder]:
    """The higher-order operators that differ; none where keys are chosen."""
    for operator in change.higher_order if chosen.keys is None else ():
        if chosen.higher_order is None or operator.name in chosen.higher_order:
            impls = [
                DiffImpl(
                    each.place.kind,
                    each.place.name,
                    each.before and each.before.kernel,
                    each.after and each.after.kernel,
                )
                for each in operator.impls
            ]
            yield DiffHigherOrder(operator.name, operator.change, tuple(impls))


def refused(change: StatesChange, chosen: DiffChoice) -> Iterator[DiffRefused]:
    """Registrations that PyTorch refuses of one side alone; none where keys are chosen."""
    for kind, refusal in change.refused if chosen.keys is None else ():
        if chosen.operators is None or refusal.operator in chosen.operators:
            message, when = " ".join(refusal.message.split()), text_of_all(refusal.when) or None
            yield DiffRefused(kind, refusal.operator, refusal.code, message, refusal.span, when)


def keys_alone(change: StatesChange, chosen: DiffChoice) -> Iterator[DiffKey]:
    """The keys that one universe has alone, with what is registered there."""
    for side, keys in ((change.old, change.only_old), (change.new, change.only_new)):
        at: dict[str, list[str]] = {key: [] for key in keys if chosen.has_key(key)}
        if not at:
            continue
        chosen_operators = chosen.operators
        for name in side.dispatcher.names():
            if chosen_operators is not None and name not in chosen_operators:
                continue
            view = side.view(name)
            for key in at.keys() & view.kernels.keys() if view is not None else ():
                at[key].append(name)
        for key, operators in at.items():
            fallback = side.fallbacks.get(key) if chosen.operators is None else None
            if chosen.operators is None or operators:
                yield DiffKey(
                    key,
                    side.universe.name,
                    side.universe.is_alias(key),
                    tuple(operators),
                    None if fallback is None else kernel_of(side, fallback),
                )
