"""The parts of a comparison but for the slots, and changes of schemas in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.answers.diff.rows import (
    DiffFallback,
    DiffHigherOrder,
    DiffImpl,
    DiffKernel,
    DiffKey,
    DiffMove,
    DiffOperator,
    DiffPythonKernel,
    DiffRefused,
    DiffRegistration,
    DiffRename,
    DiffSchema,
    DiffSide,
)
from dispatch_cli.engine.comparison.operators import certain_renames
from dispatch_cli.engine.comparison.sides import ChangeKind, KernelView, Side
from dispatch_cli.engine.comparison.states import StatesChange
from dispatch_cli.model.conditions.simplify import text_of_all
from dispatch_cli.model.schema import SchemaError, parse_printed_schema
from dispatch_cli.model.schema.changes import schema_changes
from dispatch_cli.model.schema_part import SchemaPart, SchemaPartChange

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


def renamed(change: StatesChange) -> tuple[DiffRename, ...]:
    """The operators that have another name."""
    return tuple(DiffRename(*rename) for rename in certain_renames(change.operators))


def alone(change: StatesChange, kind: ChangeKind, renamed: Collection[DiffRename]) -> Iterator[DiffOperator]:
    """The operators that one side has alone, without those that were renamed. kind: ADDED or REMOVED."""
    known = {name for rename in renamed for name in rename}
    side = change.new if kind is ChangeKind.ADDED else change.old
    source = side.state.source
    for operator in change.operators:
        view = operator.after if kind is ChangeKind.ADDED else operator.before
        if operator.change is kind and view is not None and operator.name not in known:
            captured = source is not None and side.dispatcher.is_untouched(side.names[operator.name])
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


def moved(change: StatesChange, chosen: DiffChoice) -> Iterator[DiffMove]:
    """The kernels that are registered at other keys of their operators."""
    for operator in change.operators:
        for each in operator.moves:
            if any(map(chosen.has_key, (*each.old_keys, *each.new_keys))):
                yield DiffMove(operator.name, each.old_keys, each.new_keys, kernel_of(change.new, each.kernel))


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
        names = (
            side.names
            if chosen.operators is None
            else [operator for operator in side.names if operator in chosen.operators]
        )
        for name in names:
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
