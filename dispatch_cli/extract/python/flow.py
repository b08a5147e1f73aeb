"""The end of a block of statements."""

from __future__ import annotations

from dataclasses import dataclass, field

from dispatch_cli.model.condition import Condition


@dataclass
class Flow:
    """End of a block. ends: the rest of the enclosing block is not reached. after: the conditions of the rest.

    leaves: ``return``, ``break``, ``continue``, ``raise``.
    """

    ends: bool = False
    after: list[Condition] = field(default_factory=list)
    leaves: str = ""
