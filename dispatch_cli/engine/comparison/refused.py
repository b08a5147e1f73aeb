"""What PyTorch refuses of one state and not of another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from dispatch_cli.engine.history.difference import ChangeKind
from dispatch_cli.engine.history.state import State
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
    gone = _without(old.refused, new.refused)
    came = _without(new.refused, old.refused)
    return (
        *(RefusedChange(ChangeKind.REMOVED, one) for one in gone),
        *(RefusedChange(ChangeKind.ADDED, one) for one in came),
    )


def _without(refused: Sequence[RefusedDeclaration], others: Sequence[RefusedDeclaration]) -> list[RefusedDeclaration]:
    """Those that are left when each of *others* takes one away."""
    left: dict[tuple[str, str | None, str], int] = {}
    for one in others:
        identity = _identity(one)
        left[identity] = left.get(identity, 0) + 1
    found = []
    for one in refused:
        identity = _identity(one)
        if left.get(identity):
            left[identity] -= 1
        else:
            found.append(one)
    return found


def _identity(one: RefusedDeclaration) -> tuple[str, str | None, str]:
    """What is compared: all but places, also in PyTorch's text."""
    text = one.message
    for span in (one.span, *(span for _, span in one.related)):
        if span is not None:
            text = text.replace(span.file, "")
    return one.code, one.operator, _PLACE.sub("", text)
