"""The findings of one check at one place as one text, and places as CI systems name them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath

from dispatch_cli.answers.findings.report import grouped
from dispatch_cli.checks.check import Finding
from dispatch_cli.model.names import Severity
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from dispatch_cli.render.words import keys_label

STANDARD_INPUT = "-"
"""The file of a span that comes from standard input; no CI system can show it."""
MAX_SENTENCES = 10
"""Sentences of one text; more are counted."""


def relative_path(file: str, root: Path) -> str:
    """*file* relative to *root*, where it lies below it; otherwise the absolute path. Symbolic links are kept."""
    parts: list[str] = []
    absolute = PurePath(root, file)
    for part in absolute.parts:
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part != "..":
            parts.append(part)
    path = PurePath(*parts)
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def place_text(span: Span, root: Path) -> str:
    """File, line and column of a place."""
    file = span.file if span.file == STANDARD_INPUT else relative_path(span.file, root)
    return f"{file}:{span.line}:{span.column}"


def worst(group: Sequence[Finding]) -> Severity:
    """The worst severity of a group."""
    return min((finding.severity for finding in group), key=lambda severity: severity.rank)


def sentences(group: Sequence[Finding]) -> Iterator[str]:
    """Sentences about the findings at a place: one each, and the keys of those that share one."""
    alike = grouped(group)
    for position, some in enumerate(alike[:MAX_SENTENCES]):
        first = some[0]
        if position == 1:
            yield f"{len(alike) - 1} more here:"
        if len(some) == 1:
            yield first.message
        else:
            yield first.group_message or first.message
            yield f"at {keys_label(tuple(finding.key for finding in some if finding.key is not None))}"
    if len(alike) > MAX_SENTENCES:
        yield f"and {len(alike) - MAX_SENTENCES:,} more"


def text_lines(group: Sequence[Finding], place: Callable[[Span], str]) -> Iterator[str]:
    """Lines of a plain text: sentences, then what all of them have in common."""
    yield from sentences(group)
    yield from (f"{name}: {value}" for name, value in common_details(group))
    yield from (f"note: {note.message} ({place(note.span)})" for note in common_related(group))
    tip = common_tip(group)
    if tip is not None:
        yield f"tip: {tip}"


def common_details(group: Sequence[Finding]) -> list[tuple[str, str]]:
    """The facts that all of them have."""
    return [pair for pair in group[0].details if all(pair in finding.details for finding in group)]


def common_related(group: Sequence[Finding]) -> list[Related]:
    """The other places that all of them name."""
    return [note for note in group[0].related if all(note in finding.related for finding in group)]


def common_tip(group: Sequence[Finding]) -> str | None:
    """The tip, where it is that of all of them."""
    tip = group[0].tip
    return tip if all(finding.tip == tip for finding in group) else None
