"""Error texts about a place of a higher-order operator: the place, the facts, and steps for who calls the operator."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from dispatch_cli.answers.errors.kinds import TextKind
from dispatch_cli.answers.errors.read import ErrorText
from dispatch_cli.engine.call.higher_order.place import AtPlace
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.higher_order import (
    AUTOGRAD_NOT_IMPLEMENTED,
    HigherOrderImpl,
    HigherOrderOperator,
    ImplKind,
    ImplPlace,
)
from dispatch_cli.model.universe import AUTOGRAD, PYTHON, Universe
from dispatch_cli.render.explain_higher_order_wording import place_label
from dispatch_cli.report.explain_higher_order import ExplainHigherOrderReport, explain_higher_order

KINDS = frozenset({TextKind.NO_IMPL, TextKind.NO_PYTHON_KERNEL})
"""The kinds that are about a place of a higher-order operator, where the operator has no namespace."""
NOT_DECLARED = "not declared"
_CLASS = re.compile(r"(?P<class><class )?['<]?(?P<name>[\w.<>]{1,300}?)(?:'>| object\b|\(|$)")
_DEFAULT = "CompositeExplicitAutograd"


class PlaceAnswer(NamedTuple):
    """The answer for a place. reproduced: the state lacks it, too; None for an operator that is not declared."""

    says: str
    means: str
    user: str
    reproduced: bool | None
    explained: ExplainHigherOrderReport


def answer_for_place(state: State, error: ErrorText, name: str, over_assumed: bool) -> PlaceAnswer | None:
    """The answer to a text about a higher-order operator; None for a dispatch key that the universe does not have."""
    universe, place = state.dispatcher.universe, place_of(error)
    if place.kind is ImplKind.DISPATCH and place.name not in universe.slot:
        return None
    operator = state.higher_order_operator(name)
    known = operator or assumed_operator(universe, name, place)
    explained = explain_higher_order(state, known, place, over_assumed)
    found = None if explained.answer is None else explained.answer.found
    asked = found is AtPlace.MODES  # modes and subclasses are asked, so that the text names no single place
    here = operator is not None and found not in (None, AtPlace.MODES, AtPlace.ERROR)
    return PlaceAnswer(
        says=f"{name} has no implementation for a mode or a tensor in the call"
        if asked
        else f"the higher-order operator {name} fails {place_label(explained)}",
        means=_means(asked, here, operator is not None),
        user=_step(explained, asked, here),
        reproduced=None if operator is None else not here,
        explained=explained if operator is not None else replace(explained, impls=()),
    )


def place_of(error: ErrorText) -> ImplPlace:
    """The mode, the subclass or the dispatch key that a text names; Python where it names no more."""
    shown = error.detail("object")
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


def _means(asked: bool, here: bool, declared: bool) -> str:
    unknown = "" if declared else " It is not declared: the files or the capture that declare it show the others."
    if asked:
        return (
            f"All modes and subclasses that PyTorch asked returned NotImplemented, or there was none to ask.{unknown}"
        )
    if here:
        return "These declarations have an implementation there; the PyTorch that raised the error has none."
    return (
        "It has no implementation there. Higher-order operators have only Python implementations, one per key, mode, "
        f"tensor subclass and transform, and do not use backend fallbacks.{unknown}"
    )


def _step(report: ExplainHigherOrderReport, asked: bool, here: bool) -> str:
    """The step for a user of the operator who does not change it."""
    if here:
        return "Use the version of PyTorch, or of the library, that these declarations describe."
    if asked:
        return "Call it outside of the mode, or with plain tensors."
    if report.kind is ImplKind.MODE:
        return f"Call it where {report.name} is not active, such as outside of torch.compile and torch.export."
    if report.kind is ImplKind.SUBCLASS:
        return f"Call it with plain tensors instead of a {report.name}."
    if report.kind is ImplKind.TRANSFORM:
        return f"Call it outside of the transform {report.name}."
    if report.name.startswith(AUTOGRAD):
        return (
            "If no gradient is needed, call it with inference tensors under `torch.inference_mode()`, which excludes "
            "the autograd keys."
        )
    return "A caller cannot fix this. Show this text to the authors of the operator."
