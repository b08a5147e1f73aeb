"""Operators that the files' own changes of earlier registrations concern, with the changes and without them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from dispatch_cli.checks.view import View
from dispatch_cli.engine.history.changed import without_changes
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.declarations import OwnChange, Registrant
from dispatch_cli.model.names import OperatorName


def family_of(name: OperatorName) -> str:
    """Name that the overloads and the in-place and functional forms of an operator have in common."""
    return name.name.removesuffix("_")


def forms_of(view: View, names: Iterable[OperatorName]) -> list[OperatorName]:
    """The operators of these names that are there, with their overloads and in-place and functional forms, by name."""
    families = {family_of(name) for name in names}
    forms = (name for family in families for form in (family, f"{family}_") for name in view.overloads.get(form, ()))
    return sorted(forms, key=str)


class _Answerable(View):
    """A state for whose operators the user is to answer, whoever registered what."""

    def is_own(self, registration: Registration) -> bool:
        """True, but for PyTorch's fallbacks."""
        return registration.operator is not None or super().is_own(registration)

    def active(self, name: OperatorName) -> Mapping[str, Registration]:
        """As of any view; each is worked out once, since nothing is registered while two views are compared."""
        registrations = self._active.get(name)
        if registrations is None:
            registrations = self._active[name] = super().active(name)
        return registrations

    @cached_property
    def _active(self) -> dict[OperatorName, Mapping[str, Registration]]:
        return {}

    def registrant(self, registration: Registration) -> Registrant:  # noqa: ARG002 (everything is the user's)
        """The user."""
        return Registrant.USER

    @cached_property
    def own(self) -> frozenset[OperatorName]:
        """The operators of the view."""
        return frozenset(self.operators)

    def answers_for_schema(self, name: OperatorName) -> bool:  # noqa: ARG002 (everything is the user's)
        """True."""
        return True

    @cached_property
    def has_files(self) -> bool:
        """True."""
        return True

    @cached_property
    def changes(self) -> tuple[OwnChange, ...]:
        """None: they are compared from outside."""
        return ()


def with_and_without(view: View) -> tuple[View, View]:
    """The operators that changes concern, with and without the changes; made once."""
    if view.compared is None:
        view.compared = _answerable(view, view.state), _answerable(view, without_changes(view.state))
    return view.compared


def _answerable(view: View, state: State) -> View:
    of_fallbacks = any(change.operator is None for change in view.changes)
    everything = View(state, ())
    if of_fallbacks:  # these can fill slots of every operator
        names: Sequence[OperatorName] = everything.names
    else:
        names = forms_of(everything, (change.operator for change in view.changes if change.operator is not None))
    asked = view.guarded
    if asked is not None:
        names = [name for name in names if name in asked]
    is_whole = of_fallbacks and asked is None
    return _Answerable(state, names, None if is_whole else frozenset(names), first=view.first)
