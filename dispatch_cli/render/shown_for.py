"""Notes on standard error about answers for conditional registrations, and about registrations that PyTorch refuses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatch_cli.answers.shared.shown_for import ShownFor
from dispatch_cli.model.declarations import RefusedDeclaration
from dispatch_cli.render.document import Block, Paragraph, Run, Tone
from dispatch_cli.render.words import plural

MAX_CONDITIONS = 6
"""Number of conditions that are named."""


def notes(refused: Sequence[RefusedDeclaration], conditions: ShownFor | None) -> Iterator[Block]:
    """A warning of what is refused, and the conditions for which the answer holds."""
    if refused:
        count, first = len(refused), refused[0]
        place = "" if first.span is None else f"; the first is at {first.span}"
        text = f": PyTorch refuses {plural(count, 'registration')} of the sources, left out here{place}"
        help_text = "; check-invariants lists " + ("it" if count == 1 else "them")
        yield Paragraph((Run("warning", Tone.WARN), Run(text + help_text)), hang=2)
    if conditions is not None:
        more = len(conditions.when) - MAX_CONDITIONS
        when = ", ".join(conditions.when[:MAX_CONDITIONS]) + (f" and {more} more" if more > 0 else "")
        others = f"; {plural(conditions.others, 'other combination')}: --when NAME=VALUE" if conditions.others else ""
        yield Paragraph(f"note: shown for: {when}{others}", hang=2)
