"""The sentence about findings that are counted but not listed; every format has it."""

from __future__ import annotations

from dispatch_cli.answers.findings.report import UnlistedFindings
from dispatch_cli.render.words import plural


def unlisted_sentence(rest: UnlistedFindings, way: str = "--full lists all") -> str:
    """Number and kind of the items, and the way to list them. way: of the viewer."""
    subject = "" if rest.reason is None else f"{rest.reason}: "
    listed = f" ({rest.listed:,} listed)" if rest.listed else ""
    verb = "is" if rest.findings == 1 else "are"
    return f"{subject}{plural(rest.findings, 'more finding')}{listed} {verb} not listed; {way}"
