"""Declarations that PyTorch refuses in one state and not in another."""

from __future__ import annotations

import re
from typing import NamedTuple

from dispatch_cli.engine.comparison.kind import ChangeKind
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.beyond import beyond
from dispatch_cli.model.declarations import RefusedDeclaration

_PLACE = re.compile(r"\S*:\d+")


class RefusedChange(NamedTuple):
    """A registration that PyTorch refuses, and that is in one state only. change: ADDED or REMOVED."""

    change: ChangeKind
    refused: RefusedDeclaration


def compare_refused(old: State, new: State) -> tuple[RefusedChange, ...]:
    """The refused registrations that one state has alone: those of *old*, then those of *new*.

    Two are the same if they are about the same operator and refused for the same reason; places do not count.
    """
    gone = beyond(old.refused, new.refused, _identity)
    came = beyond(new.refused, old.refused, _identity)
    return (
        *(RefusedChange(ChangeKind.REMOVED, declaration) for declaration in gone),
        *(RefusedChange(ChangeKind.ADDED, declaration) for declaration in came),
    )


def _identity(declaration: RefusedDeclaration) -> tuple[str, str | None, str]:
    """The part that is compared: all but places, also in PyTorch's text."""
    text = declaration.message
    for span in (declaration.span, *(span for _, span in declaration.related)):
        if span is not None:
            text = text.replace(span.file, "")
    return declaration.code, declaration.operator, _PLACE.sub("", text)
