"""The sentence about findings that are counted but not listed; every format has it."""

from __future__ import annotations

from dispatch_cli.answers.findings.report import UnlistedFindings
from dispatch_cli.render.words import plural


def unlisted_sentence(one: UnlistedFindings, way: str = "--full lists all") -> str:
    """Number and kind of the items, and the way to list them. way: of the viewer."""
    subject = "" if one.reason is None else f"{one.reason}: "
    listed = f" ({one.listed:,} listed)" if one.listed else ""
    verb = "is" if one.findings == 1 else "are"
    return f"{subject}{plural(one.findings, 'more finding')}{listed} {verb} not listed; {way}"
