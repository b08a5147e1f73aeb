"""How key sets, and what is said about keys, are put into words."""

from __future__ import annotations

from dispatch_cli.engine.keys.notes import ExpressionNote, ExpressionNoteKind
from dispatch_cli.report.key_groups import KeyGroup, KeyGroups

FEW = 3
"""So many keys are named one by one."""


def groups_label(groups: KeyGroups, nothing: str = "nothing") -> str:
    """A set of slots: ``Dense, Sparse at 14 backends (not XLA, Lazy); FPGA, MkldnnCPU``."""
    if not groups.keys:
        return nothing
    if len(groups.keys) <= FEW:
        return ", ".join(groups.keys)
    parts = [_group_label(group) for group in groups.groups]
    if groups.others:
        parts.append(", ".join(groups.others))
    return "; ".join(parts)


def _group_label(group: KeyGroup) -> str:
    if len(group.keys) <= FEW:
        return ", ".join(group.keys)
    names = ", ".join(group.functionalities)
    if not group.missing:
        return f"{names} at all {len(group.backends)} backends"
    if len(group.missing) < len(group.backends):
        return f"{names} at {len(group.backends)} backends (not {', '.join(group.missing)})"
    return f"{names} at {', '.join(group.backends)}"


def expression_note_text(note: ExpressionNote) -> str:
    """A note on a key-set expression as a sentence."""
    keys = ", ".join(note.keys)
    several = len(note.keys) > 1
    match note.kind:
        case ExpressionNoteKind.ADDS_NOTHING:
            has = "have no bits and add" if several else "has no bits and adds"
            return f"{keys} {has} nothing to a key set; runtime(ALIAS) is what an alias key covers"
        case ExpressionNoteKind.BACKENDS_STAY:
            return f"a - b takes functionality bits away, never backend bits: {keys} {'stay' if several else 'stays'}"
        case ExpressionNoteKind.OTHERS_GO:
            return f"a - b takes a functionality away from every backend: {keys} {'go' if several else 'goes'} too"
        case ExpressionNoteKind.CROSS_PRODUCT:
            are = "are" if several else "is"
            return f"a set does not keep functionalities and backends in pairs: {keys} {are} in it too"
        case ExpressionNoteKind.NO_FUNCTIONALITY:
            return f"{keys} {'name' if several else 'names'} no key without a functionality that is per backend"
        case ExpressionNoteKind.NO_BACKEND:
            return f"{keys} {'name' if several else 'names'} no key without a backend bit"


def hexadecimal(bits: int) -> str:
    """64 bits as PyTorch's ``raw_repr``, in hexadecimal."""
    return f"0x{bits:016x}"
