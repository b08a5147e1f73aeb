"""Words for slots, and for notes on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dispatch_cli.answers.shared.notes import Note, NoteKind
from dispatch_cli.answers.shared.slot_row import Before, Otherwise, TableRow
from dispatch_cli.engine.rules import Rule
from dispatch_cli.render.document import Run, Tone
from dispatch_cli.render.words import keys_label, not_built_sentence, short_kernel

if TYPE_CHECKING:
    from dispatch_cli.answers.table.higher_order.report import HigherOrderRow
    from dispatch_cli.answers.table.python.report import PythonRow


def otherwise_label(otherwise: Otherwise, short: bool = False) -> str:
    """Words for the content of a slot that is not known, if there is no kernel but those that are known."""
    if otherwise.kernel is None:
        return "nothing"
    kernel = short_kernel(otherwise.kernel) if short else otherwise.kernel
    source = f" from {otherwise.source}" if otherwise.source is not None else ""
    return f"{'fallthrough ' if otherwise.fallthrough else ''}{kernel}{source}"


def before_label(before: Before, short: bool = False) -> str:
    """Former content of a slot: the kernel and the rule."""
    if before.kernel is None:
        return before.rule.dump_text
    kernel = short_kernel(before.kernel) if short else before.kernel
    return f"{'fallthrough ' if before.fallthrough else ''}{kernel} [{before.rule.dump_text}]"


def source_label(row: TableRow | PythonRow | HigherOrderRow) -> str:
    """The key whose kernel fills the slot; nothing where it is the slot's own, or none."""
    return row.source if row.source is not None and row.rule is not Rule.KERNEL else ""


def source_cell(row: TableRow | PythonRow | HigherOrderRow, short: bool) -> Run:
    """The key whose kernel fills the slot, in a table; short, where it may have a line of its own."""
    source = source_label(row)
    return Run(f"from {source}" if source and short else source, Tone.ALIAS)


def note_text(note: Note) -> str:
    """A note as a sentence."""
    keys, culprits = keys_label(note.keys), ", ".join(note.culprits)
    has = "has a kernel" if len(note.culprits) == 1 else "have kernels"
    match note.kind:
        case NoteKind.AMBIGUOUS:
            return f"{keys}: ambiguous, because CompositeImplicitAutograd has a kernel and {culprits} {has} too"
        case NoteKind.DISPLACED:
            return f"{keys}: not the math kernel, because {culprits} {has}"
        case NoteKind.BYPASSED:
            counts = f"; one at {note.detail} would displace it" if note.detail else ""
            return f"{keys}: the math kernel, although {culprits} {has}{counts}"
        case NoteKind.SHADOWED:
            return f"{keys}: the backend fallback {note.detail} is not used, because {culprits} {has}"
        case NoteKind.UNREACHABLE:
            return f"no tensor arguments: a call goes to {keys}, which is empty; {culprits} cannot be reached"
        case NoteKind.UNCOVERED:
            reach = "does not cover" if len(note.culprits) == 1 else "do not cover"
            return f"{keys}: missing; {culprits} {has}, but {reach} {'it' if len(note.keys) == 1 else 'them'}"
        case NoteKind.INCOMPLETE:
            return f"{note.detail} is incomplete: it lacks what PyTorch registers by hand at {culprits}"
        case NoteKind.NOT_BUILT:
            return not_built_sentence(keys, note.detail)
        case _:
            raise AssertionError(f"{note.kind} is a note on one slot, not on a table")
