"""Registrations are switched off on trial, on again, and moved; advice is taken on trial."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dispatch_cli.answers.explain.report import explain_slot
from dispatch_cli.answers.explain.rule_steps import Concerned, Role
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.model.changes.change import Action, Addition, Change, Edit, RegistrationName, Removal
from dispatch_cli.model.changes.registration_names import NamedRegistration
from dispatch_cli.model.declarations import Fallback, Implement
from dispatch_cli.model.span import Span
from dispatch_cli.render.words import short_kernel


def switch_off(session: Session, spot: Spot, concerned: Concerned) -> None:
    """Leave a registration of the operator at a spot, or a backend fallback, out on trial.

    Errors: Refused, where it cannot be left out.
    """
    there = session.whatif.registrations(None if concerned.backend_fallback else spot.operator)
    registration = registration_of(there, concerned)
    if registration is not None:
        session.whatif.apply(Removal(registration.name))


def take_advice(session: Session, edits: Iterable[Edit]) -> None:
    """Make an advised change on trial, as one step. Errors: Refused."""
    from dispatch_cli.answers.explain.trial import kernel_of

    changes: list[Change] = []
    for edit in edits:
        if edit.action is Action.REMOVE:
            there = [item for item in session.whatif.registrations(edit.operator) if item.name.key == edit.key]
            changes += [Removal(item.name) for item in there[-1:]]
        else:
            changes.append(Addition(edit.operator, edit.key, kernel_of(edit, session.state.dispatcher)))
    session.whatif.apply(*changes)


def registration_of(registrations: Sequence[NamedRegistration], concerned: Concerned) -> NamedRegistration | None:
    """The registration that an explanation names. registrations: oldest first."""
    at_key = [item for item in registrations if item.name.key == concerned.key]
    if concerned.role is Role.OVERRIDDEN:
        at_key = at_key[:-1]
    fitting = [
        item for item in at_key if _place(item) == concerned.span and concerned.kernel in (item.kernel, item.function)
    ]
    fitting = fitting or [item for item in at_key if _place(item) == concerned.span]
    return fitting[-1] if fitting else None


def _place(item: NamedRegistration) -> Span | None:
    """The place of the kernel, which an explanation names."""
    return item.step.kernel.span if isinstance(item.step, Implement | Fallback) else item.span


def filling(session: Session, spot: Spot) -> Concerned | None:
    """The registration that fills the slot at a spot; None where there is none."""
    dispatcher = session.state.dispatcher
    if spot.operator is None or spot.key is None or spot.key not in dispatcher.universe.slot:
        return None
    if spot.operator not in dispatcher:
        return None  # files that were read again may lack it
    roles = (Role.FILLS, Role.IN_CONFLICT)
    concerned = explain_slot(session.state, spot.operator, spot.key).registrations
    return next((row for row in concerned if row.role in roles), None)


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
    there: Sequence[NamedRegistration], item: NamedRegistration, by: int
) -> NamedRegistration | None:
    """The next registration of the files, before or after one."""
    declared = [item for item in there if isinstance(item.step, Implement | Fallback)]
    at = next((number for number, other in enumerate(declared) if other.identity == item.identity), None)
    if at is None:
        return None
    others = declared[:at][::-1] if by < 0 else declared[at + 1 :]
    return next(iter(others), None)


def change_text(change: Change) -> str:
    """A change in words."""
    if isinstance(change, Addition):
        kernel = change.kernel
        name = kernel if isinstance(kernel, str) else "a fallthrough" if kernel.fallthrough else kernel.debug
        if not isinstance(kernel, str) and kernel.fake is not None:
            return f"add the fake implementation {short_kernel(name)} of {change.operator}"
        whose = "the backend fallback" if change.operator is None else str(change.operator)
        return f"add {short_kernel(name)} at {change.key} of {whose}"
    if isinstance(change, Removal):
        return f"without {name_text(change.which)}"
    word = "after" if change.is_after else "before"
    return f"move {name_text(change.which)} {word} {name_text(change.target)}"


def name_text(name: RegistrationName) -> str:
    """Name of a registration; with its number if it is not the first one."""
    return str(name if (name.number or 1) > 1 else name._replace(number=None))
