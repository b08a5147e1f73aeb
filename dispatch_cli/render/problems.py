"""Problems, warnings and notes: where, what, the line itself with the word in question underlined, what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from dispatch_cli.answers.shared.source_lines import NEAR, line_at
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.problem import Problem, Related
from dispatch_cli.model.span import Span, cut_start
from dispatch_cli.render.document import Block, Excerpt, Gap, Paragraph, Run, Tone
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import plural

if TYPE_CHECKING:
    from dispatch_cli.answers.shared.conditions import ShownFor
    from dispatch_cli.answers.shared.report_parts import ProblemsReport

HANG = 4
"""Blanks before the further lines of a message."""
MAX_OVERRIDES = 3
"""Warnings of overridden kernels that are shown."""


MAX_CONDITIONS = 70
"""Characters of conditions that are named; the first one is, however long."""
_WORD = re.compile(r"[\w:.*?\[\]-]+")


def document(report: ProblemsReport) -> Iterator[Block]:
    """The report that takes the place of an answer."""
    return problems(report.problems)


def problems(listed: Sequence[Problem]) -> Iterator[Block]:
    """Every problem with its snippet, and a closing count."""
    for problem in listed:
        yield from _problem(problem)
    yield Paragraph(Run(f"{plural(len(listed), 'error')}; nothing was done.", Tone.BAD))


def sheet(report: ProblemsReport) -> Sheet:
    """A row for each problem of a report."""
    rows = ((problem.code, problem.message, problem.hint, problem.span) for problem in report.problems)
    return Sheet(("code", "message", "hint", "declared_at"), rows)


def overrides(registrations: Sequence[Registration], whole: str) -> Iterator[Block]:
    """A line for each registration that overrides another; the first are shown, and the others counted.

    whole: the command line that shows them all, with PyTorch's warning.
    """
    kind = Run("warning", Tone.WARN)
    for registration in registrations[:MAX_OVERRIDES]:
        kernel, earlier = registration.kernel, registration.overrides
        assert earlier is not None, "only registrations that override another are listed"
        place = "" if earlier.span is None else f" ({earlier.span})"
        text = f"{registration.operator} at {registration.key}: {kernel.label} overrides {earlier.label}{place}"
        yield _head(kernel.span, kind, f"[override]: {text}")
    more = len(registrations) - MAX_OVERRIDES
    if more > 0:
        text = f"[override]: {plural(more, 'registration')} more override another; `{whole}` shows all"
        yield _head(None, kind, text)


def _problem(problem: Problem) -> Iterator[Block]:
    first, *rest = problem.message.split("\n")
    yield _head(problem.span, Run("error", Tone.BAD), f"[{problem.code}]: {first}")
    for line in rest:
        yield Paragraph(line, HANG)
    yield from _excerpt(problem.span, problem.line_text)
    for related in problem.related:
        yield from _related(related)
    if problem.hint:
        yield Paragraph((Run("help: ", Tone.ALIAS), Run(problem.hint)), indent=2, hang=6)
    yield Gap()


def _head(span: Span | None, kind: Run, text: str) -> Paragraph:
    place = (Run(f"{span}: ", Tone.HEAD),) if span is not None else ()
    return Paragraph((*place, kind, Run(text)), hang=HANG)


def _related(related: Related) -> Iterator[Block]:
    note = (Run("note: ", Tone.ALIAS), Run(related.message), Run(f" ({related.span})", Tone.HEAD))
    yield Paragraph(note, indent=2, hang=6)
    yield from _excerpt(related.span)


def snippet(span: Span, mark: str | None, tone: Tone, indent: int = 0) -> Excerpt | None:
    """The line of a span, with *mark* underlined where it stands at the span, else the word that stands there.

    None where the file was not read, or has no such line.
    """
    whole = line_at(span)
    if whole is None:
        return None
    first = max(0, span.column - NEAR)  # of a very long line, the part that can be shown
    line = whole[first : span.column + NEAR].expandtabs(1)
    start = span.column - 1 - first
    length = _length(line, start, mark)
    left = len(line) - len(line.lstrip())
    shown = line[left:].rstrip()
    start = max(0, min(start - left, len(shown)))
    return Excerpt(span.line, shown, start, max(1, min(length, len(shown) - start)), tone, indent)


def _length(line: str, column: int, mark: str | None) -> int:
    """Length of the mark where it stands there, else of the word there."""
    if mark and line.startswith(mark, column):
        return len(mark)
    word = _WORD.match(line, column)
    return word.end() - column if word else 1


def _excerpt(span: Span | None, line: str | None = None) -> Iterator[Block]:
    """The line of a span. line: of a file that is not there any more, with its sign marked."""
    if span is None:
        return
    if line is None:
        excerpt = snippet(span, None, Tone.BAD, indent=2)
    else:
        column = span.column - 1 - cut_start(span.column)
        excerpt = Excerpt(span.line, line, column, 1 if 0 <= column <= len(line) else 0, Tone.BAD, indent=2)
    if excerpt is not None and excerpt.line.strip():
        yield excerpt


def notes_on_conditions(refused: Sequence[Problem], conditions: ShownFor | None, why: str) -> Iterator[Block]:
    """Registrations left out because PyTorch refuses them, and the conditions for which the answer holds.

    why: the command line that prints the reasons of the refusals.
    """
    if refused:
        count, first = len(refused), refused[0]
        place = "" if first.span is None else f"; the first is at {first.span}"
        text = f"note: PyTorch refuses {plural(count, 'registration')} of the sources, left out here{place}"
        yield Paragraph(f"{text}; `{why}` says why", hang=2)
    if conditions is not None:
        lengths = [*accumulate(len(when) + 2 for when in conditions.when)]
        count = max(1, sum(length <= MAX_CONDITIONS for length in lengths))
        more = len(lengths) - count
        when = ", ".join(conditions.when[:count]) + (f" and {more} more" if more > 0 else "")
        such = f"{':' if conditions.others == 1 else ', such as with'} --when {conditions.choice}"
        others = f"; {plural(conditions.others, 'other combination')}{such}" if conditions.choice is not None else ""
        yield Paragraph(f"note: shown for: {when}{others}", hang=2)
