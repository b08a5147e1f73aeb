"""Words for slots, and for notes on them."""

from __future__ import annotations

from typing import Protocol

from dispatch_cli.answers.shared.notes import Note, NoteKind
from dispatch_cli.answers.shared.slot_row import Before, Otherwise, SlotRow, TableRow
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import some_of
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Run, Tone
from dispatch_cli.render.words import fallthrough_text, keys_label, not_built_sentence, short_kernel

STALE, CHANGED, BOTH = "!", "*", "#"
"""Marks behind a code."""


def mark_of(row: TableRow) -> str:
    """The mark behind the code of a slot."""
    if not row.stale:
        return "" if row.before is None else CHANGED
    return STALE if row.before is None else BOTH


class HasKernel(Protocol):
    """A row about a kernel: its text or None, the user's place, and how it is registered."""

    @property
    def kernel(self) -> str | None: ...
    @property
    def fallthrough(self) -> bool: ...
    @property
    def core_fallback(self) -> bool: ...
    @property
    def span(self) -> Span | None: ...


def kernel_label(row: HasKernel, short: bool = False) -> str:
    """A kernel, and whether it is PyTorch's own or a fallthrough."""
    if row.kernel is None:
        return "nothing"
    kernel = short_kernel(row.kernel) if short or row.core_fallback else row.kernel
    if row.core_fallback:
        kernel = f"PyTorch's own, {kernel}"
    if not row.fallthrough:
        return kernel
    return f"fallthrough {kernel}" if fallthrough_text(row.kernel, row.span) else "fallthrough"


def held_label(row: TableRow, short: bool) -> str:
    """A kernel in a table of keys: a dash for none, and PyTorch's own fallbacks as such."""
    if row.kernel is None:
        return "-"
    return "PyTorch's own" if row.core_fallback and (short or row.fallthrough) else kernel_label(row, short)


def kernel_phrase(row: TableRow) -> str:
    """A kernel inside a sentence."""
    if row.kernel is None:
        return "nothing"
    if row.fallthrough and not fallthrough_text(row.kernel, row.span):
        return "a fallthrough"
    if row.core_fallback:
        phrase = f"PyTorch's own fallback, {short_kernel(row.kernel)}"
    elif row.kernel.startswith("registered at "):
        place = short_kernel(row.kernel)
        phrase = f"the kernel of {place}" if place != row.kernel else f"the kernel {row.kernel}"
    else:
        phrase = f"the backend fallback {row.kernel}" if row.rule is Rule.FALLBACK else row.kernel
    return f"a fallthrough, {phrase}" if row.fallthrough else phrase


def answer_text(row: TableRow) -> str:
    """The kernel in a slot, the rule that chose it, and its source."""
    place = f", declared at {row.span}" if row.span is not None else ""
    rule = f"rule {row.rule_number}, {row.rule.dump_text}"
    if row.otherwise is not None:
        return f"What {row.key} holds is not known. {otherwise_text(row, row.otherwise)}"
    match row.rule:
        case Rule.MISSING:
            return f"{row.key} holds nothing ({rule})."
        case Rule.AMBIGUOUS:
            return f"{row.key} holds {row.kernel} ({rule}), which raises when it is called."
        case Rule.KERNEL | Rule.FALLBACK:
            return f"{row.key} holds {kernel_phrase(row)} ({rule}){place}."
        case _:
            return f"{row.key} holds {kernel_phrase(row)}, from {row.source} ({rule}){place}."


def otherwise_text(row: TableRow, otherwise: Otherwise) -> str:
    """Reason why it is not known what a slot holds, and its content without kernels that are not known."""
    held = "nothing"
    if otherwise.kernel is not None:
        known = row._replace(rule=otherwise.rule, kernel=otherwise.kernel, fallthrough=otherwise.fallthrough)
        source = f", from {otherwise.source}" if otherwise.source not in (None, row.key) else ""
        held = f"{kernel_phrase(known)}{source}"
    rule = f"rule {otherwise.rule_number}, {otherwise.rule.dump_text}"
    what = "kernel or backend fallback" if row.key in row.blockers else "kernel"
    return f"Unless PyTorch registers a {what} at {some_of(row.blockers)} by hand, it holds {held} ({rule})."


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


def source_label(row: SlotRow) -> str:
    """The key whose kernel fills the slot; nothing where it is the slot's own, or none."""
    return row.source if row.source is not None and row.rule is not Rule.KERNEL else ""


def source_cell(row: SlotRow, short: bool) -> Run:
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
