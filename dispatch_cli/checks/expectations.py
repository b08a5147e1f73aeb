"""What guards can ask for: the fields that speak of slots or of calls, and how texts match globs."""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache

from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.guard import GuardField

COMPUTING = frozenset({Rule.KERNEL, Rule.DEFAULT, Rule.NESTED, Rule.MATH})
"""The rules by which a backend has an operator."""
OF_SLOTS = frozenset(
    {
        GuardField.RULE,
        GuardField.NOT,
        GuardField.KERNEL,
        GuardField.NOT_KERNEL,
        GuardField.FALLTHROUGH,
        GuardField.SAME_AS,
    }
)
OF_CALLS = (GuardField.END, GuardField.RAN, GuardField.AT, GuardField.ERROR)


@lru_cache(maxsize=256)
def matcher(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))


def matches(text: str, globs: tuple[str, ...]) -> bool:
    return any(text == glob or matcher(glob).match(text) is not None for glob in globs)
