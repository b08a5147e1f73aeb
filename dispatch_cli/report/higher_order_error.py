"""What an error text says of a higher-order operator: at which place a call failed, and what it was like."""

from __future__ import annotations

import re

from dispatch_cli.model.higher_order import (
    AUTOGRAD_NOT_IMPLEMENTED,
    HigherOrderImpl,
    HigherOrderOperator,
    ImplKind,
    ImplPlace,
)
from dispatch_cli.model.universe import AUTOGRAD, PYTHON, Universe
from dispatch_cli.report.error_text import ErrorText
from dispatch_cli.report.messages.kinds import TextKind

OF_HIGHER_ORDER = frozenset({TextKind.NO_IMPL, TextKind.NO_PYTHON_KERNEL})
"""The kinds that are about a place of a higher-order operator, where the operator has no namespace."""
NOT_DECLARED = "not declared"
_CLASS = re.compile(r"(?P<class><class )?['<]?(?P<name>[\w.<>]{1,300}?)(?:'>| object\b|\(|$)")
_DEFAULT = "CompositeExplicitAutograd"


def place_of(error: ErrorText) -> ImplPlace:
    """The mode, the subclass or the dispatch key that a text names; Python where it names no more."""
    shown = dict(error.details).get("object")
    if error.kind is not TextKind.NO_IMPL or shown is None:
        return ImplPlace(ImplKind.DISPATCH, error.key or PYTHON)
    match = _CLASS.match(shown)
    name = "" if match is None else match["name"].rpartition(".")[2]
    if match is None or not name.isidentifier():
        return ImplPlace(ImplKind.DISPATCH, PYTHON)
    return ImplPlace(ImplKind.SUBCLASS if match["class"] else ImplKind.MODE, name)


def assumed_operator(universe: Universe, name: str, place: ImplPlace) -> HigherOrderOperator:
    """An operator that is not declared: it has what most have, and nothing at the place in question."""
    impls = []
    if place.name not in universe.covered_by(_DEFAULT):
        impls.append(HigherOrderImpl(ImplKind.DISPATCH, _DEFAULT, NOT_DECLARED))
    if place.name not in universe.covered_by(AUTOGRAD):
        impls.append(HigherOrderImpl(ImplKind.AUTOGRAD, "", AUTOGRAD_NOT_IMPLEMENTED, deferred_error=True))
    return HigherOrderOperator(name, tuple(impls))
