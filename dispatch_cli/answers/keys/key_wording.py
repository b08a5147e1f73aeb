"""Wording of sets of keys, and of facts about keys."""

from __future__ import annotations

from collections.abc import Iterable

from dispatch_cli.engine.keys.expression import ExpressionNote, ExpressionNoteKind
from dispatch_cli.model.universe import UNDEFINED, Universe

FEW = 3
"""Number of keys that are named one by one."""


def groups_label(universe: Universe, keys: tuple[str, ...], nothing: str = "nothing") -> str:
    """A set of slots: ``Dense, Sparse at 14 backends (not XLA, Lazy); FPGA, MkldnnCPU``.

    Functionalities that have the same backends are named together, then the keys that are not per backend.
    """
    if len(keys) <= FEW:
        return ", ".join(keys) or nothing
    chosen = set(keys)
    alike: dict[tuple[str, ...], list[str]] = {}
    for functionality in universe.functionalities:
        of_backends = zip(universe.backends, universe.per_backend.get(functionality, ()), strict=False)
        backends = tuple(backend for backend, key in of_backends if key in chosen)
        if backends:
            alike.setdefault(backends, []).append(functionality)
    parts = [_group_label(universe, names, backends, chosen) for backends, names in alike.items()]
    others = [key for key in keys if key == UNDEFINED or universe.runtime_parts[key][1] is None]
    return "; ".join([*parts, *([", ".join(others)] if others else [])])


def _group_label(universe: Universe, functionalities: list[str], backends: tuple[str, ...], chosen: set[str]) -> str:
    keys = [key for name in functionalities for key in universe.per_backend[name] if key in chosen]
    if len(keys) <= FEW:
        return ", ".join(keys)
    names = ", ".join(functionalities)
    missing = [backend for backend in universe.backends if backend not in backends]
    if not missing:
        return f"{names} at all {len(backends)} backends"
    if len(missing) < len(backends):
        return f"{names} at {len(backends)} backends (not {', '.join(missing)})"
    return f"{names} at {', '.join(backends)}"


def listed(names: Iterable[str], nothing: str = "nothing") -> str:
    """Names one after the other."""
    return ", ".join(names) or nothing


def expression_note_text(note: ExpressionNote) -> str:
    """A note on a key-set expression as a sentence."""
    keys = ", ".join(note.keys)
    several = len(note.keys) > 1
    match note.kind:
        case ExpressionNoteKind.ADDS_NOTHING:
            has = "have no bits and add" if several else "has no bits and adds"
            return f"{keys} {has} nothing to a key set; runtime(ALIAS) has the keys that an alias key covers"
        case ExpressionNoteKind.BACKENDS_STAY:
            return f"a - b removes functionality bits, never backend bits: {keys} {'stay' if several else 'stays'}"
        case ExpressionNoteKind.OTHERS_GO:
            return f"a - b removes a functionality from every backend: {keys} {'go' if several else 'goes'} too"
        case ExpressionNoteKind.CROSS_PRODUCT:
            are = "are" if several else "is"
            return f"a key set stores functionalities and backends separately: {keys} {are} in it too"
        case ExpressionNoteKind.NO_FUNCTIONALITY:
            return f"{keys} {'make' if several else 'makes'} no key without a per-backend functionality"
        case ExpressionNoteKind.NO_BACKEND:
            return f"{keys} {'make' if several else 'makes'} no key without a backend bit"
