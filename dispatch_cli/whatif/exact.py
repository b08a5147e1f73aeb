"""Changes that leave no doubt which registrations they mean, whatever is added or left out later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dispatch_cli.engine.dispatcher.refusal import Refusal, Refused
from dispatch_cli.engine.history.apply import refusal_of
from dispatch_cli.model.change import (
    Addition,
    Change,
    ChangeError,
    HistoryChange,
    RegistrationName,
    Removal,
    Reordering,
)
from dispatch_cli.model.declarations import Declarations, Fallback, Implement
from dispatch_cli.whatif.tried import TriedChanges


def exact(change: Change, now: TriedChanges) -> Change:
    """A change that names registrations by their numbers, so that later additions leave no doubt.

    Errors: Refused, for a change of what is not there.
    """
    if isinstance(change, Addition):
        return _completed(change, now.added)
    try:
        return _with_names(change, lambda name: now.names.find(name).name)
    except ChangeError as error:
        raise refusal_of(error) from None


def without_registration(changes: Iterable[Change], gone: RegistrationName) -> Iterator[Change]:
    """Changes where one of the registrations that they add is not there. Errors: Refused where another means that."""
    for change in changes:
        yield change if isinstance(change, Addition) else _with_names(change, lambda name: _without(name, gone))


def _completed(change: Addition, declarations: Declarations) -> Addition:
    """An addition that goes on with a call as its function does elsewhere: kernels of one name are one function."""
    kernel = change.kernel
    if isinstance(kernel, str) or kernel.function is None or kernel.fallthrough:
        return change
    for step in declarations.steps:
        if isinstance(step, Implement | Fallback) and step.kernel.function == kernel.function:
            return change._replace(kernel=kernel._replace(redispatches=step.kernel.redispatches))
    return change


def _with_names(change: HistoryChange, rename: Callable[[RegistrationName], RegistrationName]) -> HistoryChange:
    if isinstance(change, Removal):
        return Removal(rename(change.which))
    before, after = (None if name is None else rename(name) for name in (change.before, change.after))
    return Reordering(rename(change.which), before, after, change.block)


def _without(name: RegistrationName, gone: RegistrationName) -> RegistrationName:
    """A name where a registration is not there. Errors: Refused where it means that one."""
    if name == gone:
        raise Refused(Refusal.NO_KERNEL, f"another change needs the registration of {gone}")
    same = name._replace(number=None) == gone._replace(number=None)
    shifted = same and name.number is not None and gone.number is not None and name.number > gone.number
    return name._replace(number=name.number - 1) if shifted and name.number is not None else name
