"""Parts of an incomplete state that are not compared: unknown ones, and kernels that it has by name only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import NOT_KNOWN_TEXT

UNKNOWN_LINE = f"{NOT_KNOWN_TEXT} [{Rule.NOT_KNOWN.dump_text}]"
"""Text of our table dump for a slot that is not known, after its key."""

Difference = tuple[str, str | None, str | None]
"""A slot, or the title of a line, and what the two sides have there."""


def known(differences: Iterable[Difference], incomplete: tuple[str, ...]) -> Iterator[Difference]:
    """Without those that may come from what the state lacks.

    incomplete: the keys at which it lacks kernels; a kernel that it has there is known by name, not by its debug text.
    """
    for title, ours, theirs in differences:
        if ours == UNKNOWN_LINE:
            continue
        if title.partition(" ")[0] in incomplete:
            if ours is None:
                continue
            if theirs is not None and _rule(ours) == _rule(theirs):
                continue
        yield title, ours, theirs


def _rule(line: str) -> str:
    """The rule in the brackets of a line of a table; nothing of a line about a registration."""
    return "" if " :: " in line else line.rpartition(" [")[2]
