"""What files declare, beside what a built library has registered: where the two differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.checks.view import View
from dispatch_cli.engine.python.higher_order import places
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.built import BuiltLibrary, BuiltOperator
from dispatch_cli.model.declarations import Define
from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplKind, ImplPlace
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import Universe


class DeclaredOperator(NamedTuple):
    """An operator of the user's files, and what the library has of it; None where it has nothing.

    defined_at: where the files define it; None where they only register kernels for it.
    """

    name: OperatorName
    defined_at: Span | None
    built: BuiltOperator | None


class DriftComparison:
    """The user's declarations of a view, and the library."""

    def __init__(self, view: View, library: BuiltLibrary) -> None:
        self.view = view
        self.library = library

    @cached_property
    def operators(self) -> tuple[DeclaredOperator, ...]:
        """The operators of the view that the files define or register kernels for."""
        own, found = self.view.own, self.library.operators
        return tuple(
            DeclaredOperator(name, self._defined.get(name), found.get(str(name)))
            for name in self.view.operators
            if name in own
        )

    def kernels(self, operator: DeclaredOperator) -> Iterator[tuple[str, Registration]]:
        """The active kernels that the files register for it, by key."""
        active = self.view.active(operator.name)
        yield from ((key, active[key]) for key in self.view.own_keys(operator.name))

    def python_kernels(self, operator: DeclaredOperator) -> Mapping[str, Span | None]:
        """The keys at which the files declare a kernel of the Python dispatcher, with their places."""
        through = self.view.state.declarations.through
        kernels = self.view.state.declarations.python_kernels
        return {
            one.dispatch_key: one.span for one in kernels if one.operator == operator.name and not through(one.span)
        }

    @cached_property
    def higher_order(self) -> tuple[tuple[HigherOrderOperator, HigherOrderOperator | None], ...]:
        """The higher-order operators that the files declare, and what the library has of each."""
        return tuple((one, self.library.higher_order.get(one.name)) for one in self.view.higher_order if one.is_own)

    @cached_property
    def namespaces(self) -> Mapping[str, Span]:
        """The namespaces in which the files define operators, and where they first do."""
        found: dict[str, Span] = {}
        for name, span in self._defined.items():
            if span is not None and name.namespace is not None:
                found.setdefault(name.namespace, span)
        return found

    @cached_property
    def _defined(self) -> Mapping[OperatorName, Span | None]:
        steps = self.view.state.declarations.own_steps
        return {step.schema.name: step.span for step in steps if isinstance(step, Define)}


def place_words(place: ImplPlace) -> str:
    """What an implementation of a higher-order operator is registered for, in a sentence."""
    if place.kind is ImplKind.FUNCTIONALIZE:
        return "functionalization"
    word = "key" if place.kind is ImplKind.DISPATCH else place.kind.value
    return f"the {word} {place.name}" if place.name else word


def places_of(operator: HigherOrderOperator, universe: Universe | None = None) -> Mapping[ImplPlace, HigherOrderImpl]:
    """The implementations of a higher-order operator by where they are registered, and the keys that fall through.

    universe: to take all keys of a functionality with the one that is said to fall through, as PyTorch does.
    """
    found: dict[ImplPlace, HigherOrderImpl] = {}
    for impl in operator.impls:
        for place in (ImplPlace(impl.kind, impl.name),) if impl.fallthrough else places(impl):
            found.setdefault(place, impl)
    if universe is not None:
        parts = universe.runtime_parts
        for impl in (one for one in operator.impls if one.fallthrough and one.name in parts):
            functionality = parts[impl.name][0]
            for key in universe.per_backend.get(functionality, ()):
                found.setdefault(ImplPlace(impl.kind, key), impl)
    return found
