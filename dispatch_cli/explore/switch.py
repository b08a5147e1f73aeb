"""Registrations are switched off on trial, on again, and moved; advice is taken on trial."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.change import Addition, Change, Removal
from dispatch_cli.model.declarations import Fallback, Implement
from dispatch_cli.model.edit import Action
from dispatch_cli.model.registrations_at_key import NamedRegistration
from dispatch_cli.model.span import Span
from dispatch_cli.report.advice import Change as AdvisedChange
from dispatch_cli.report.explain import explain_slot
from dispatch_cli.report.explain_rules import Concerned, Role


def switch_off(session: Session, spot: Spot, concerned: Concerned) -> None:
    """Leave a registration of the operator at a spot, or a backend fallback, out on trial.

    Errors: Refused, where it cannot be left out.
    """
    operator = None if concerned.backend_fallback else spot.operator
    found = registration_of(session.whatif.registrations(operator), concerned)
    if found is not None:
        session.whatif.apply(Removal(found.name))


def take_advice(session: Session, advised: AdvisedChange) -> None:
    """Make an advised change on trial, as one step. Errors: Refused."""
    from dispatch_cli.report.trial import kernel_of

    changes: list[Change] = []
    for edit in advised.edits:
        if edit.action is Action.REMOVE:
            there = [one for one in session.whatif.registrations(edit.operator) if one.name.key == edit.key]
            changes += [Removal(one.name) for one in there[-1:]]
        else:
            changes.append(Addition(edit.operator, edit.key, kernel_of(edit, session.state.dispatcher)))
    session.whatif.apply(*changes)


def registration_of(registrations: Sequence[NamedRegistration], concerned: Concerned) -> NamedRegistration | None:
    """The registration that an explanation names. registrations: oldest first."""
    at_key = [one for one in registrations if one.name.key == concerned.key]
    if concerned.role is Role.OVERRIDDEN:
        at_key = at_key[:-1]
    fitting = [
        one for one in at_key if _place(one) == concerned.span and concerned.kernel in (one.kernel, one.function)
    ]
    fitting = fitting or [one for one in at_key if _place(one) == concerned.span]
    return fitting[-1] if fitting else None


def _place(one: NamedRegistration) -> Span | None:
    """The place of the kernel, which an explanation names."""
    return one.step.kernel.span if isinstance(one.step, Implement | Fallback) else one.span


def filling(session: Session, spot: Spot) -> Concerned | None:
    """The registration that fills the slot at a spot; None where there is none."""
    if spot.operator is None or spot.key is None or spot.key not in session.state.dispatcher.universe.slot:
        return None
    roles = (Role.FILLS, Role.IN_CONFLICT)
    concerned = explain_slot(session.state, spot.operator, spot.key).registrations
    return next((one for one in concerned if one.role in roles), None)


def switch_at(session: Session, spot: Spot) -> bool:
    """Leave out on trial what a key without a slot has, an alias key or a functionality; where that is done, take it
    back. Whether there is something to do. Errors: Refused.
    """
    there = [one for one in session.whatif.registrations(spot.operator) if one.name.key == spot.key]
    off = [number for number, removal in switched_off(session, spot) if removal.which.key == spot.key]
    if there:
        session.whatif.apply(Removal(there[-1].name))
    elif off:
        session.whatif.take_back(off[-1])
    return bool(there or off)


def switched_off(session: Session, spot: Spot) -> tuple[tuple[int, Removal], ...]:
    """The registrations of the operator, and the backend fallbacks at the key, that are left out on trial."""
    if not session.has_tried:
        return ()
    return tuple(
        (number, change)
        for number, change in enumerate(session.whatif.changes, start=1)
        if isinstance(change, Removal)
        and (change.which.operator == spot.operator if change.which.operator else change.which.key == spot.key)
    )


def registration_beside(
    there: Sequence[NamedRegistration], item: NamedRegistration, by: int, block: bool
) -> NamedRegistration | None:
    """The next registration of the files, before or after one; for a block, one of another block."""
    declared = [one for one in there if isinstance(one.step, Implement | Fallback)]
    at = next((number for number, one in enumerate(declared) if one.identity == item.identity), None)
    if at is None:
        return None
    others = declared[:at][::-1] if by < 0 else declared[at + 1 :]
    return next((one for one in others if not block or _block(one) != _block(item)), None)


def _block(one: NamedRegistration) -> object:
    return one.step.block if isinstance(one.step, Implement | Fallback) else None
