"""How keys, rules, kernels and places are put into words. Reasons are enums elsewhere; their wording is here."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.origin import Origin
from dispatch_cli.model.span import Span
from dispatch_cli.report.notes import Note, NoteKind
from dispatch_cli.report.table import Before, TableRow


def keys_label(keys: tuple[str, ...], short: bool = False) -> str:
    """One key, two keys, or a run: ``CUDA … Meta (14 keys)``; short, the count alone in the brackets."""
    if len(keys) <= 2:
        return ", ".join(keys)
    return f"{keys[0]} … {keys[-1]} ({len(keys)}{'' if short else ' keys'})"


def runs_label(runs: Iterable[tuple[str, ...]]) -> str:
    """Keys in runs of neighbours; long runs by their ends."""
    return ", ".join(keys_label(run, short=True) if len(run) > 3 else ", ".join(run) for run in runs)


def short_kernel(debug: str) -> str:
    """A kernel's text for a narrow place: of ``registered at DIRECTORIES/FILE:LINE`` the file and the line."""
    return re.sub(r"^registered at (?:.*/)?([^/]+:\d+)(?= \[|$)", r"\1", debug, count=1)


def short_function(name: str) -> str:
    """A Python function for a narrow place: without its module; a function inside one keeps the outer one's name."""
    parts = name.split(".")
    start = parts.index("<locals>") - 1 if "<locals>" in parts[1:] else len(parts) - 1
    return ".".join(parts[start:])


def place_label(span: Span | None, short: bool = False) -> str:
    """A place, or nothing; the short form is the file's name and the line."""
    if span is None:
        return ""
    return f"{span.file.rpartition('/')[2]}:{span.line}" if short else str(span)


def origin_place(span: Span | None, origin: Origin, short: bool = False) -> str:
    """A place or, of what has none, the embedded state that it is from."""
    return place_label(span, short) or origin.state or ""


def inherited_lines(found: Iterable[tuple[Span | None, Origin]]) -> list[str]:
    """For each file that the user did not name: through what it came; of a state, where no file of the user says it."""
    names: dict[str, Origin] = {}
    for span, origin in found:
        if span is not None and origin.through:
            names[span.file] = origin
        elif origin.state is not None and len(origin.through) > 1:
            names[origin.state] = origin
    return [f"{name}: through {_extends(origin.through)}" for name, origin in names.items()]


def _extends(through: tuple[Span, ...]) -> str:
    return ", ".join(f"extends of {span}" for span in reversed(through))


def before_label(before: Before, short: bool = False) -> str:
    """What a slot held before: the kernel and the rule."""
    if before.kernel is None:
        return before.rule.dump_text
    kernel = short_kernel(before.kernel) if short else before.kernel
    return f"{'fallthrough ' if before.fallthrough else ''}{kernel} [{before.rule.dump_text}]"


def source_label(row: TableRow) -> str:
    """The alias key whose kernel fills the slot; nothing where it is the key's own, or none."""
    return row.source if row.source is not None and row.rule is not Rule.KERNEL else ""


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
            counts = f"; one at {note.detail} would take the slot away" if note.detail else ""
            return f"{keys}: the math kernel, although {culprits} {has}{counts}"
        case NoteKind.SHADOWED:
            return f"{keys}: the backend fallback {note.detail} is not asked, because {culprits} {has}"
        case NoteKind.UNREACHABLE:
            return f"no tensor arguments: a call ends at {keys}, where nothing is; {culprits} can not be reached"
        case NoteKind.UNCOVERED:
            reach = "does not cover" if len(note.culprits) == 1 else "do not cover"
            return f"{keys}: missing; {culprits} {has}, but {reach} {'it' if len(note.keys) == 1 else 'them'}"
        case _:
            raise AssertionError(f"{note.kind} is said of one slot, not of a table")
