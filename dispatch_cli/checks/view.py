"""A state as the checks look at it: what they share is computed once, when it is first needed.

Operators with kernels at the same keys, of which the same fall through, make up a *pattern*. They share every decision,
so a check decides once per pattern (PyTorch 2.15 has some four hundred for 3,624 operators) and asks about single
operators only where it found something. Nothing here takes an operator in from a base but `View.kernels`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.checks.files import CORE_NAMESPACES, Files, Namespaces, UndecidedIndex
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import (
    OperatorHeader,
    Refusal,
    Registration,
    schema_text_returns_tensors,
    schema_text_takes_tensors,
)
from dispatch_cli.engine.table.table import Plan, plan
from dispatch_cli.model.declarations import Define, Implement
from dispatch_cli.model.names import OperatorName, parsed_names
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import AUTOGRAD, PRIVATE_USE1

if TYPE_CHECKING:
    from dispatch_cli.engine.dispatcher.operator import Operator
    from dispatch_cli.engine.dispatcher.seen import WaitingOperator
    from dispatch_cli.model.built import BuiltLibrary
    from dispatch_cli.model.higher_order import HigherOrderOperator
    from dispatch_cli.model.schema.model import FunctionSchema


class Pattern(NamedTuple):
    """Operators that the dispatcher cannot tell apart.

    keys: where they have a kernel, in the order of the enum. fallthrough: those whose active kernel falls through.
    registered: the same keys as bits (`Layout.registered_bit`). plan: the decision of every slot.
    operators: those of the view with this pattern, by name; none when only `View.pattern` led here.
    """

    keys: tuple[str, ...]
    fallthrough: frozenset[str]
    registered: int
    plan: Plan
    operators: tuple[OperatorName, ...]
    slot: Mapping[str, int]

    def has(self, key: str) -> bool:
        """True if a kernel is registered at exactly *key*."""
        return key in self.keys

    def decision(self, key: str) -> Decision:
        """Decision on what fills the slot of a runtime key or Undefined, and why."""
        return self.plan.decisions[self.slot[key]]

    def rule(self, key: str) -> Rule:
        """The rule that fills the slot of a runtime key or Undefined."""
        return self.plan.decisions[self.slot[key]].rule

    def falls_through(self, key: str, fallbacks: Mapping[str, Registration]) -> bool:
        """True if dispatch skips the slot. fallbacks: the backend fallbacks in effect."""
        decision = self.decision(key)
        if decision.source is not None:
            return decision.source in self.fallthrough
        return decision.rule is Rule.FALLBACK and fallbacks[key].kernel.fallthrough


class View(Files):
    """State and operators that the checks look at.

    state: everything that is there. operators: those to report on, by name.
    guarded: the operators that guards may report on; None for all, which makes the view a whole one.
    higher_order: the higher-order operators to report on.
    built: what a library registers in a running PyTorch, where one was asked.
    first: the view of the first variant of conditional registrations, which has all operators; mostly this one.
    """

    def __init__(
        self,
        state: State,
        operators: Iterable[OperatorName],
        guarded: frozenset[OperatorName] | None = None,
        higher_order: Iterable[HigherOrderOperator] = (),
        built: BuiltLibrary | None = None,
        first: View | None = None,
    ) -> None:
        super().__init__(state)
        self.universe = state.dispatcher.universe
        self.layout = state.dispatcher.layout
        self.operators = tuple(operators)
        self.guarded = guarded
        self.higher_order = tuple(higher_order)
        self.built = built
        self.first = first or self
        self._pattern_of: dict[OperatorName, Pattern] = {}
        self._shapes: dict[tuple[int, frozenset[str]], Pattern] = {}
        self._seen: dict[OperatorName, Operator | WaitingOperator] = {}
        self._headers: dict[OperatorName, OperatorHeader] = {}

    @property
    def is_whole(self) -> bool:
        """True if the run checks everything in its files, and not only some operators."""
        return self.guarded is None

    @cached_property
    def own_places(self) -> Mapping[str, Span]:
        """The first place where the user's files say something of an operator, by its name."""
        declared = self.state.declarations
        steps = declared.own_steps
        places = [(step.block.qualified(step.operator), step.span) for step in steps if isinstance(step, Implement)]
        places += [(step.schema.name, step.span) for step in steps if isinstance(step, Define)]
        places += [(kernel.operator, kernel.span) for kernel in declared.own_python_kernels]
        return {str(name): span for name, span in reversed(places) if span is not None}

    # the operators

    @cached_property
    def touched(self) -> tuple[OperatorName, ...]:
        """The view's operators of which something was registered in the run; the others are as a base has them."""
        return tuple(name for name in self.operators if not self.dispatcher.is_untouched(name))

    @cached_property
    def implementations(self) -> Mapping[OperatorName, Sequence[Implement]]:
        """The steps that register kernels, in order, by operator."""
        by_operator: dict[OperatorName, list[Implement]] = {}
        for step in self.state.declarations.steps:
            if isinstance(step, Implement) and (name := step.block.qualified(step.operator)) is not None:
                by_operator.setdefault(name, []).append(step)
        return by_operator

    @cached_property
    def extracted(self) -> frozenset[OperatorName]:
        """The operators with kernels that were read from sources, where equal names mean the same function."""
        return frozenset(
            name for name, steps in self.implementations.items() if any(step.block.extracted for step in steps)
        )

    @cached_property
    def extends_backend(self) -> bool:
        """True if sources have kernels at PrivateUse1, and none of PyTorch's own operators: another library is the
        backend there, and may register fallbacks for it.
        """
        steps = [(name, step) for name, steps in self.implementations.items() for step in steps]
        at_backend = {
            name.namespace
            for name, step in steps
            if step.block.extracted and (step.dispatch_key or step.block.dispatch_key) == PRIVATE_USE1
        }
        return bool(at_backend) and at_backend.isdisjoint(CORE_NAMESPACES)

    @cached_property
    def linked_in_any_order(self) -> frozenset[OperatorName]:
        """The operators with kernels from several source files, whose order nobody knows before they are linked."""
        files = {
            name: {step.span.file for step in steps if step.block.extracted and step.span is not None}
            for name, steps in self.implementations.items()
        }
        return frozenset(name for name, places in files.items() if len(places) > 1)

    @cached_property
    def autograd(self) -> frozenset[str]:
        """The keys at which kernels for autograd are: the alias, and what it covers."""
        return frozenset((AUTOGRAD, *self.universe.covered_by(AUTOGRAD)))

    def autograd_kernels(self, pattern: Pattern) -> list[str]:
        """The keys at which the operators of a pattern have kernels for autograd, without fallthroughs."""
        return [key for key in pattern.keys if key in self.autograd and key not in pattern.fallthrough]

    @cached_property
    def namespaces(self) -> Namespaces:
        """The namespaces of the run, and whose they are."""
        return self.first.namespaces if self.first is not self else Namespaces(self.state, self.pytorch_namespaces)

    @cached_property
    def undecided(self) -> UndecidedIndex:
        """Registrations in sources that are not decided."""
        return UndecidedIndex(self.state.declarations.undecided, self.state.declarations.unread)

    @cached_property
    def refused_kernels(self) -> Mapping[str, Span | None]:
        """The places of kernels in sources that PyTorch refuses, by their operators."""
        of_kernels = (Refusal.SIGNATURE_MISMATCH.value, Refusal.UNKNOWN_KEY.value)
        return {item.operator: item.span for item in self.state.refused if item.operator and item.code in of_kernels}

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The view's operators by pattern, in the order of their first operators."""
        members: dict[tuple[int, frozenset[str]], list[OperatorName]] = {}
        for name in self.operators:
            members.setdefault(self._shape(name), []).append(name)
        by_shape = {shape: self._pattern(shape) for shape in members}
        for shape, names in members.items():
            self._pattern_of.update(dict.fromkeys(names, by_shape[shape]))
        return tuple(by_shape[shape]._replace(operators=tuple(names)) for shape, names in members.items())

    def pattern(self, name: OperatorName) -> Pattern:
        """The pattern of any operator of the state, inside the view or not. Errors: Refused for an unknown one."""
        own_pattern = self._pattern_of.get(name)
        if own_pattern is None:
            own_pattern = self._pattern_of[name] = self._pattern(self._shape(name))
        return own_pattern

    @cached_property
    def names(self) -> tuple[OperatorName, ...]:
        """Every operator of the state, by name."""
        return parsed_names(self._name_texts)

    @cached_property
    def overloads(self) -> Mapping[str, Sequence[OperatorName]]:
        """Every operator of the state by its name without the overload (``aten::add``), for looking up siblings."""
        return _overloads(self._name_texts)

    @cached_property
    def keys_with_kernels(self) -> frozenset[str]:
        """The keys at which any operator of the state has a kernel, or one of the captured state that it continues."""
        source, dispatcher = self.state.source, self.dispatcher
        captured = () if source is None else (source.header(name).kernels for name in source.names)
        registered = (dispatcher.active(name) for name in dispatcher.present() if name in dispatcher)
        return frozenset[str]().union(*captured, *registered)

    # one operator

    def active(self, name: OperatorName) -> Mapping[str, Registration]:
        """The active registration of every key that has one."""
        return self._see(name).active_kernels()

    def registration(self, name: OperatorName, key: str) -> Registration | None:
        """The active registration at a key; None where there is none."""
        return self._see(name).active(key)

    def kernels(self, name: OperatorName) -> Mapping[str, Sequence[Registration]]:
        """All its registrations, newest first; takes the operator in, so only for what was touched or found."""
        return self.dispatcher.operator(name).kernels

    def place(self, name: OperatorName, key: str) -> Span | None:
        """Place of its active kernel at *key*; None where there is none, or it is in no file."""
        registration = self.registration(name, key)
        return registration.kernel.span if registration is not None else None

    def schema_text(self, name: OperatorName) -> str | None:
        """Its schema as text; None when it is dangling. Cheap."""
        return self._header(name).schema

    def is_unknown(self, name: OperatorName) -> bool:
        """True if the operator is defined, and its schema is not known."""
        return not self._header(name).is_known

    def defined_at(self, name: OperatorName) -> Span | None:
        """Place of the definition of an operator, of either kind; None where there is none, or it is in no file."""
        if name in self.dispatcher:
            return self._header(name).span
        operator = self.state.higher_order_operator(str(name))
        return None if operator is None else operator.span

    def overridden(self, name: OperatorName) -> tuple[str, ...]:
        """The keys with more than one kernel of it. Cheap."""
        return self._header(name).overridden

    def schema(self, name: OperatorName) -> FunctionSchema | None:
        """Its schema; None when it is dangling, or not known.

        Reading one of a base takes some 60 µs: look at the text first.
        """
        return self._see(name).schema

    def takes_tensors(self, name: OperatorName) -> bool | None:
        """True if a call can bring dispatch keys along: the schema has a tensor argument, optional or in a list.

        None when there is no schema, or when it is not known.
        """
        text = self.schema_text(name)
        return None if text is None or self.is_unknown(name) else schema_text_takes_tensors(text)

    def returns_tensors(self, name: OperatorName) -> bool | None:
        """True if the operator returns a tensor, or a list of some. None where the schema is not known."""
        text = self.schema_text(name)
        return None if text is None or self.is_unknown(name) else schema_text_returns_tensors(text)

    def python_keys(self, name: OperatorName) -> Set[str]:
        """The keys at which the Python dispatcher has a kernel of the operator, captured or declared. Cheap."""
        captured = self.state.captured_python_kernels(str(name)).keys()
        declared = self.state.declared_python_kernels.get(name)
        return captured | {kernel.dispatch_key for kernel in declared} if declared else captured

    # what the files say

    def concerns(self, name: OperatorName, keys: Iterable[str]) -> bool:
        """True if the kernels at *keys* are the user's responsibility: all that a state has, where there are no files;
        with files, those that these register.
        """
        if not self.has_files:
            return True
        active = self.active(name)
        return any(key in active and self.is_own(active[key]) for key in keys)

    def is_defined_by_files(self, name: OperatorName) -> bool:
        """True if the operator is defined by a file that the user named, or by a what-if."""
        defined = self.defined_at(name)
        if defined is None:  # of a what-if, or of a base
            return self.state.source is None and self.registers and self.schema_text(name) is not None
        return defined in self._own_places

    def answers_for_schema(self, name: OperatorName) -> bool:
        """Returns whether the user declares the schema; without files, every schema counts."""
        return not self.has_files or self.is_defined_by_files(name)

    def own_keys(self, name: OperatorName) -> tuple[str, ...]:
        """The keys at which the operator's active kernel is the user's own, in the order of the enum."""
        return self._keys_of(name, self.is_own)

    def written_keys(self, name: OperatorName) -> tuple[str, ...]:
        """The keys at which the operator's active kernel is the user's own, and not part of a snapshot."""
        return self._keys_of(name, self.is_written)

    # inside

    @cached_property
    def _name_texts(self) -> tuple[str, ...]:
        return tuple(self.dispatcher.names())

    def _header(self, name: OperatorName) -> OperatorHeader:
        header = self._headers.get(name)
        if header is None:
            header = self._headers[name] = self._see(name).header
        return header

    def _keys_of(self, name: OperatorName, is_asked: Callable[[Registration], bool]) -> tuple[str, ...]:
        """The keys at which the active kernel is one of the user's that is asked for, in the order of the enum."""
        if not self.has_files:
            return ()
        keys = [key for key, registration in self.active(name).items() if is_asked(registration)]
        return tuple(sorted(keys, key=self.universe.ids.__getitem__))

    def _see(self, name: OperatorName) -> Operator | WaitingOperator:
        """The operator, whose registrations nothing changes while checks run."""
        seen = self._seen.get(name)
        if seen is None:
            seen = self._seen[name] = self.dispatcher.seen(name)
        return seen

    def _shape(self, name: OperatorName) -> tuple[int, frozenset[str]]:
        seen = self._see(name)
        return seen.registered, seen.falling

    def _pattern(self, shape: tuple[int, frozenset[str]]) -> Pattern:
        pattern = self._shapes.get(shape)
        if pattern is None:
            registered, fallthrough = shape
            decisions = plan(self.layout, registered, self.dispatcher.fallback_bits)
            keys = self.dispatcher.keys_in(registered)
            pattern = Pattern(keys, fallthrough, registered, decisions, (), self.universe.slot)
            self._shapes[shape] = pattern
        return pattern


@lru_cache(maxsize=2)
def _overloads(names: tuple[str, ...]) -> Mapping[str, Sequence[OperatorName]]:
    by_name: dict[str, list[OperatorName]] = {}
    for name in parsed_names(names):
        by_name.setdefault(name.name, []).append(name)
    return by_name
