"""What the traceback of an error adds to its text: which of two kinds it is, and whether its tensors are fake."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from dispatch_cli.model.universe import META
from dispatch_cli.report.error_chain import chain_places
from dispatch_cli.report.error_matches import Match
from dispatch_cli.report.messages.kinds import TextKind
from dispatch_cli.report.messages.table import MESSAGES

_FAKE = re.compile(
    r"torch[/\\]_subclasses[/\\]fake_tensor\.py|torch\._subclasses\.fake_tensor\.|torch\._dynamo\.exc\.|"
    r"torch[/\\]_inductor[/\\]|torch[/\\]_?export[/\\]|calling torch\.export\.export"
)
"""What the traceback of a call shows that was made with fake tensors. Frames of ``_dynamo/eval_frame.py`` are in others
too: a function that is kept out of compilation has them."""


def with_frames(text: str, found: Iterable[Match]) -> Iterator[Match]:
    """The matches in a text, each with what the tracebacks that are linked to it show."""
    matches = list(found)
    chains = [place.chain for place in chain_places(text, [match.start for match in matches])]
    fake = _chains_with(text, _FAKE)
    framed = {kind: _chains_with(text, pattern) for kind, pattern in _frames()}
    for match, chain in zip(matches, chains, strict=True):
        kinds = (kind for kind, those in framed.items() if chain in those and MESSAGES[kind].instead_of is match.kind)
        shown = match._replace(kind=next(kinds, match.kind))
        if shown.key == META and chain in fake and "fake" not in dict(shown.details):
            shown = shown._replace(details=(*shown.details, ("fake", "")))
        yield shown


@cache
def _frames() -> tuple[tuple[TextKind, re.Pattern[str]], ...]:
    """The kinds that are told by a file in the traceback."""
    return tuple(
        (kind, re.compile(re.escape(one.frame).replace("/", r"[/\\]"))) for kind, one in MESSAGES.items() if one.frame
    )


def _chains_with(text: str, pattern: re.Pattern[str]) -> set[int]:
    """The numbers of the chains of tracebacks that have what a pattern finds."""
    return {place.chain for place in chain_places(text, [one.start() for one in pattern.finditer(text)])}
