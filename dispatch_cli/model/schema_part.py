"""A part of a schema that differs from that of another schema; `dispatch_cli.model.schema.changes` finds them."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class SchemaPart(Enum):
    """Part of a schema that differs; the value is the name in machine formats."""

    ARGUMENT = "argument"
    ORDER = "order"
    """The arguments that both have come in another order, or become keyword-only or positional."""
    RETURN = "return"


class SchemaPartChange(NamedTuple):
    """One part that differs.

    before, after: as PyTorch prints it; None where it is not there. Of `SchemaPart.ORDER` the names of the arguments
    that both have, with ``*`` before the keyword-only ones.
    """

    part: SchemaPart
    before: str | None
    after: str | None
