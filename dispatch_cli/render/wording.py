"""How keys, rules, kernels and places are put into words. Reasons are enums elsewhere; their wording is here."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.span import Span
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


def place_label(span: Span | None, short: bool = False) -> str:
    """A place, or nothing; the short form is the file's name and the line."""
    if span is None:
        return ""
    return f"{span.file.rpartition('/')[2]}:{span.line}" if short else str(span)


def before_label(before: Before, short: bool = False) -> str:
    """What a slot held before: the kernel and the rule."""
    if before.kernel is None:
        return before.rule.dump_text
    kernel = short_kernel(before.kernel) if short else before.kernel
    return f"{'fallthrough ' if before.fallthrough else ''}{kernel} [{before.rule.dump_text}]"


def source_label(row: TableRow) -> str:
    """The alias key whose kernel fills the slot; nothing where it is the key's own, or none."""
    return row.source if row.source is not None and row.rule is not Rule.KERNEL else ""


def reasons(rows: Iterable[TableRow]) -> list[str]:
    """Sentences about the slots that a kernel elsewhere has changed: ambiguous ones, and math kernels displaced."""
    sentences: dict[tuple[bool, tuple[str, ...]], list[str]] = {}
    for row in rows:
        if row.blockers:
            sentences.setdefault((row.rule is Rule.AMBIGUOUS, row.blockers), []).append(row.key)
    return [_reason(ambiguous, keys, blockers) for (ambiguous, blockers), keys in sentences.items()]


def _reason(ambiguous: bool, keys: list[str], blockers: tuple[str, ...]) -> str:
    label, culprits = keys_label(tuple(keys)), ", ".join(blockers)
    has = "has a kernel" if len(blockers) == 1 else "have kernels"
    if ambiguous:
        return f"{label}: ambiguous, because CompositeImplicitAutograd has a kernel and {culprits} {has} too"
    return f"{label}: not the math kernel, because {culprits} {has}"
