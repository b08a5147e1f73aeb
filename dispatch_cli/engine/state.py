"""The state after a history of registrations."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.captured import captured_python_kernels
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import OWN, Origin

if TYPE_CHECKING:
    from collections.abc import Callable

    from dispatch_cli.engine.python.higher_order import HigherOrderTable
    from dispatch_cli.engine.variants import Variants
    from dispatch_cli.model.calls.fake_tensor import FakeRules
    from dispatch_cli.model.captured import StateSource
    from dispatch_cli.model.declarations import Declarations, PythonKernel, Undecided
    from dispatch_cli.model.higher_order import HigherOrderOperator, ModeType
    from dispatch_cli.model.problem import Problem
    from dispatch_cli.model.span import Span


class State:
    """A dispatcher after a history.

    overrides: the registrations that took the place of another, in order, where PyTorch warns of it.
    base: the dispatcher as it was where the files named by the user begin; None when nothing was before them, or
        nothing came after it.
    source: the captured state that the history continues.
    refused: what PyTorch refuses of what was extracted from sources.
    variants: the states that the declarations can lead to, of which this is the first, where they have conditions.
    over_assumed: that state is the newest embedded one, because no option or file named one.
    unchanged: the state without the changes that led to it, where that is known; `without_changes` works it out.
    elsewhere: gives the name of another captured state that has an operator, where nobody named this one.
    named_files: the files, as the user named them.
    """

    over_assumed = False
    named_files: tuple[str, ...] = ()
    elsewhere: Callable[[str], str | None] | None = None
    variants: Variants | None = None
    unchanged: State | None = None

    def __init__(
        self,
        dispatcher: Dispatcher,
        overrides: tuple[Registration, ...] = (),
        base: Dispatcher | None = None,
        source: StateSource | None = None,
        declarations: Declarations | None = None,
        refused: tuple[Problem, ...] = (),
    ) -> None:
        self.dispatcher = dispatcher
        self.overrides = overrides
        self.base = base
        self.source = source
        self._declarations = declarations
        self.refused = refused

    def start_as(self, other: State) -> None:
        """Take over how the captured state was chosen, from another state over it."""
        self.over_assumed = other.over_assumed
        self.elsewhere = other.elsewhere

    @cached_property
    def declarations(self) -> Declarations:
        """Content of the files; empty where a captured state was asked for alone."""
        from dispatch_cli.model.declarations import Declarations

        return self._declarations or Declarations(self.dispatcher.universe)

    @property
    def over(self) -> tuple[str, ...]:
        """The names of the captured states that the history continues."""
        declared = self._declarations.bases if self._declarations is not None else ()
        return declared or (() if self.source is None else self.source.parts)

    @property
    def undecided(self) -> tuple[Undecided, ...]:
        """The registrations in sources of which something is not known."""
        return () if self._declarations is None else self._declarations.undecided

    @property
    def over_files(self) -> tuple[str, ...]:
        """The files below those that the user named, which extend them, in order."""
        inherited = self._declarations.inherited if self._declarations is not None else ()
        return tuple(file.name for file in inherited if not file.is_state)

    def python_kernels(self, name: OperatorName) -> list[PythonKernel]:
        """The kernels that the Python dispatcher has for an operator, one a key: the captured, then the declared ones.

        One that replaces an earlier one at its key goes to the end, as in ``OpOverload.py_kernels``.
        """
        from dispatch_cli.model.declarations import PythonKernel

        captured = self.captured_python_kernels(str(name))
        by_key = {key: PythonKernel(name, key, kernel) for key, kernel in captured.items()}
        for declared in self.declared_python_kernels.get(name, ()):
            by_key.pop(declared.dispatch_key, None)
            by_key[declared.dispatch_key] = declared
        return [*by_key.values()]

    def captured_python_kernels(self, name: str) -> dict[str, str]:
        """The functions that the Python dispatcher has for an operator of the captured state, by dispatch key."""
        if self.source is None or name not in self._captured:
            return {}
        without = () if self._declarations is None else self._declarations.without
        return captured_python_kernels(self.source, name, without)

    def fake_rules(self, name: OperatorName) -> FakeRules:
        """Facts about an operator that ``FakeTensorMode`` asks for, beside its kernels: declared, else captured."""
        from dispatch_cli.model.calls.fake_tensor import NO_FAKE_RULES

        declared = self._declared_fake_rules.get(name)
        if declared is None and self.source is not None and str(name) in self._captured:
            return self.source.fake_rules(str(name))
        return declared or NO_FAKE_RULES

    @cached_property
    def _captured(self) -> frozenset[str]:
        """The names of the operators of the captured state."""
        return frozenset(() if self.source is None else self.source.names)

    def is_as_before(self, name: OperatorName) -> bool:
        """True if nothing concerns an operator that is registered, or left out, since the state that files continue.

        It can be as before where this is not so, too.
        """
        dispatcher, other = self.dispatcher, self.base
        if other is None or not (dispatcher.is_as_captured(name) and other.is_as_captured(name)):
            return False
        return dispatcher.fallback_bits == other.fallback_bits

    def own_operators(self) -> list[OperatorName]:
        """The operators that the files named by the user register something for, or change registrations of, by name.

        Not those of which everything was refused, as can be with sources. A backend fallback is of no operator.
        """
        if self._declarations is None:
            return []
        from dispatch_cli.model.declarations import Define, Implement

        names = set()
        for step in self.declarations.own_steps:
            if isinstance(step, Define):
                names.add(step.schema.name)
            elif isinstance(step, Implement):
                names.add(step.operator)
        names.update(kernel.operator for kernel in self.declarations.own_python_kernels)
        if (changes := self.declarations.changes) is not None:
            names.update(change.operator for change in changes.made if change.operator is not None)
        return sorted((name for name in names if name in self.dispatcher), key=str)

    @cached_property
    def higher_order_operators(self) -> tuple[HigherOrderOperator, ...]:
        """The higher-order operators: the captured ones, then the declared ones that do not take the place of one."""
        captured = self.source.higher_order_operators if self.source is not None else ()
        declared = self._declarations.higher_order_operators if self._declarations is not None else ()
        if not declared:
            return tuple(captured)
        from dispatch_cli.engine.python.higher_order import merged

        return merged((*captured, *declared))

    @property
    def higher_order_names(self) -> frozenset[str]:
        """The names of all of them; no operator is read for it."""
        captured = self.source.higher_order_names if self.source is not None else ()
        declared = self._declarations.higher_order_operators if self._declarations is not None else ()
        return frozenset([*captured, *(operator.name for operator in declared)])

    def own_higher_order_operators(self) -> tuple[HigherOrderOperator, ...]:
        """Higher-order operators that the files named by the user declare, or add to."""
        if self._declarations is None or not self._declarations.higher_order_operators:
            return ()
        return tuple(operator for operator in self.higher_order_operators if operator.is_own)

    @cached_property
    def inherited_higher_order_operators(self) -> dict[str, HigherOrderOperator]:
        """The higher-order operators without the user's own files, by name."""
        from dispatch_cli.engine.python.higher_order import merged

        captured = self.source.higher_order_operators if self.source is not None else ()
        inherited = (operator for operator in self.declarations.higher_order_operators if not operator.is_own)
        return {operator.name: operator for operator in merged((*captured, *inherited))}

    def higher_order_operator(self, name: str) -> HigherOrderOperator | None:
        """The higher-order operator of that name, or None."""
        if "::" in name:  # they have no namespace
            return None
        return next((operator for operator in self.higher_order_operators if operator.name == name), None)

    def higher_order_table(self, operator: HigherOrderOperator) -> HigherOrderTable:
        """A higher-order operator with its tables of implementations."""
        from dispatch_cli.engine.python.higher_order import HigherOrderTable

        return HigherOrderTable(self.dispatcher.universe, operator, self.dispatcher.fallback_bits)

    @cached_property
    def modes(self) -> dict[str, ModeType]:
        """Known types of modes, by name; declared ones take precedence over captured ones."""
        captured = self.source.modes if self.source is not None else ()
        declared = self._declarations.modes if self._declarations is not None else ()
        return {mode.name: mode for mode in (*captured, *declared)}

    def origin(self, registration: Registration) -> Origin:
        """Origin of a registration, beyond its place."""
        if not registration.captured or self.source is None:
            return self._state_origin if registration.captured else self.origin_of(registration.kernel.span)
        return self._origin_in(self.source.part_of(str(registration.operator), registration.key))

    def operator_origin(self, name: OperatorName) -> Origin:
        """Origin of an operator's schema, beyond its place. Errors: Refused for an unknown operator."""
        header = self.dispatcher.header(name)
        return self._state_origin if header.captured else self.origin_of(header.span)

    def origin_of(self, span: Span | None) -> Origin:
        """Origin of the declaration at a place."""
        return OWN if span is None else self._origins.get(span.file, OWN)

    @cached_property
    def _origins(self) -> dict[str, Origin]:
        """Origin of every file that the user did not name."""
        if self._declarations is None:
            return {}
        return {file.name: Origin(None, file.through) for file in self._declarations.inherited if not file.is_state}

    @cached_property
    def _state_origin(self) -> Origin:
        """Origin of captured registrations."""
        return OWN if self.source is None else self._origin_in(self.source.name)

    def _origin_in(self, part: str) -> Origin:
        """Origin of registrations captured in a state or an overlay of that name."""
        origin = self._origins_in.get(part)
        if origin is None:
            inherited = self._declarations.inherited if self._declarations is not None else ()
            through = next((file.through for file in inherited if file.is_state and file.name == part), ())
            origin = self._origins_in[part] = Origin(part, through)
        return origin

    @cached_property
    def _origins_in(self) -> dict[str, Origin]:
        return {}

    @cached_property
    def _declared_fake_rules(self) -> dict[OperatorName, FakeRules]:
        return {rule.operator: rule.rules for rule in self.declarations.fake_rules}

    @cached_property
    def declared_python_kernels(self) -> dict[OperatorName, list[PythonKernel]]:
        """The kernels of the Python dispatcher that files declare, by operator."""
        kernels: dict[OperatorName, list[PythonKernel]] = {}
        for kernel in self.declarations.python_kernels:
            kernels.setdefault(kernel.operator, []).append(kernel)
        return kernels
