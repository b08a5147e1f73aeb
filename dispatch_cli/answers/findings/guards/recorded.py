"""Guards made from what is true now: one for each thing that the kernels of an operator do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from glob import escape
from typing import NamedTuple

from dispatch_cli.checks.guarding import holds
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.engine.table.table import Table
from dispatch_cli.engine.variants import unit_of
from dispatch_cli.model.calls.guard import Expectation, Guard, GuardField
from dispatch_cli.model.kernel import Kernel, WrapKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import UNDEFINED, Universe

LEAST = 3
"""An alias key takes the place of so many keys at least."""
_PLACE = re.compile(r"registered at (?:.*[/\\])?([^/\\]+):\d+", re.DOTALL)


class KeyTerms(NamedTuple):
    """The fields ``key`` and ``except`` of a guard: names and alias keys."""

    keys: tuple[str, ...]
    excepted: tuple[str, ...] = ()


def key_terms(universe: Universe, keys: Iterable[str], alias: str | None) -> KeyTerms:
    """Terms that mean exactly these slots in the universe.

    alias: the alias key whose kernel fills them, which then stands for them in other universes, too; None where a
    kernel is registered at each of them.
    """
    slots = sorted(set(keys), key=universe.slot.__getitem__)
    if alias is not None:
        covered = universe.covered_by(alias)
        beyond = [key for key in slots if key not in covered]
        excepted = _terms(universe, [key for key in covered if key not in slots])
        if len(beyond) + 1 + len(excepted) < len(slots) or not excepted:
            return KeyTerms((*beyond, alias), excepted)
    return KeyTerms(_terms(universe, slots))


def _terms(universe: Universe, slots: Sequence[str]) -> tuple[str, ...]:
    """An alias key that covers exactly these slots; else all names."""
    for alias, covered in universe.aliases.items():
        if len(covered) == len(slots) >= LEAST and {*covered} == {*slots}:
            return (alias,)
    return tuple(slots)


class GuardFact(NamedTuple):
    """Role of a kernel at some slots: the rule by which it fills them, its name, and if it falls through.

    kernel: None where it is free. alias: the alias key where it is registered; None for the slots' own keys.
    """

    rule: Rule
    kernel: str | None
    fallthrough: bool
    alias: str | None = None

    @property
    def wants(self) -> tuple[Expectation, ...]:
        """The same as a guard asks for it."""
        wants = [Expectation(GuardField.RULE, (self.rule.value,))]
        if self.fallthrough:
            wants.append(Expectation(GuardField.FALLTHROUGH, ("true",)))
        if self.kernel is not None:
            wants.append(Expectation(GuardField.KERNEL, (self.kernel,)))
        return tuple(wants)


_Source = tuple[Rule, str]
_Terms = tuple[tuple[GuardFact, KeyTerms], ...]


class OtherStates:
    """The further states that conditional registrations lead to; recorded guards hold in them, too.

    left_out: the operators and slots of which something is not recorded, because it differs there.
    """

    def __init__(self, further: Iterable[tuple[State, Mapping[str, int]]] = ()) -> None:
        self._others = [(View(state, ()), cases) for state, cases in further]
        self.left_out: set[tuple[OperatorName, str]] = set()

    def common(self, name: OperatorName, fact: GuardFact, key: str) -> GuardFact | None:
        """The part of a fact about a slot that holds in all states: without its kernel where only that differs."""
        if self._hold(name, fact, key):
            return fact
        self.left_out.add((name, key))
        without_kernel = fact._replace(kernel=None)
        return without_kernel if self._hold(name, without_kernel, key) else None

    def _hold(self, name: OperatorName, fact: GuardFact, key: str) -> bool:
        for view, cases in self._others:
            # of other operators, a further state may have the backend fallbacks alone
            is_looked_at = fact.rule is Rule.FALLBACK or unit_of(name) in cases
            if is_looked_at and name in view.dispatcher and not _is_true(fact, key, view.dispatcher.live_table(name)):
                return False
        return True


def _is_true(fact: GuardFact, key: str, table: Table) -> bool:
    """True if a guard that asks for a fact holds at a slot of a table."""
    return all(holds(want, table[key], table) for want in fact.wants)


def recorded_guards(
    state: State,
    names: Iterable[OperatorName],
    keys: frozenset[str] | None,
    named: bool = False,
    others: OtherStates | None = None,
) -> Iterator[Guard]:
    """Guards for what the operators' kernels do now; operators of which the same is true share theirs.

    An operator that the user's own files register kernels for is guarded where those are; another one everywhere, when
    it is *named* or there are no files. Slots that PyTorch's fallbacks fill, and slots that hold nothing, are not
    guarded, nor what ``torch.library`` registers by itself. Kernels of PyTorch's own are free: their names are lines of
    its sources, and not the same in two versions.

    keys: the slots to guard; None for all. others: the states in which the guards must hold, too.
    """
    recorder = _Recorder(View(state, names), keys, named, others or OtherStates())
    groups: dict[_Terms, list[str]] = {}
    for name, facts in recorder.facts():
        if facts:
            groups.setdefault(facts, []).append(str(name))
    for facts, ops in groups.items():
        for fact, terms in facts:
            yield Guard(tuple(ops), terms.keys, fact.wants, excepted=terms.excepted)


def _is_of_torch_library(kernel: Kernel) -> bool:
    """True if ``torch.library`` registers the kernel by itself, without a function of the user's.

    Which those are depends on the version. Autocast is no function, and still the user's.
    """
    if kernel.wraps is not None:
        return kernel.wraps.function is None and kernel.wraps.kind is not WrapKind.AUTOCAST
    return kernel.fake is not None and kernel.fake.function is None


def _decisions(table: Table) -> Callable[[str], Decision]:
    return lambda key: table[key].decision


class _Recorder:
    def __init__(self, view: View, keys: frozenset[str] | None, named: bool, others: OtherStates) -> None:
        self._view = view
        self._others = others
        self._slots = [key for key in view.universe.slots if keys is None or key in keys]
        self._takes_all = named or not view.has_files
        self._changed = frozenset(change.operator for change in view.changes)
        self._key_terms = cache(partial(key_terms, view.universe))

    def facts(self) -> Iterator[tuple[OperatorName, _Terms]]:
        """Facts that hold for each operator, in the order of the first slots; by name."""
        by_operator = {}
        for pattern in self._view.patterns:
            sources = self._by_source(pattern.decision)
            for name in pattern.operators:
                stale = self._view.dispatcher.stale_slots(name)
                own = self._by_source(_decisions(self._view.dispatcher.live_table(name))) if stale else sources
                by_operator[name] = self._of_operator(name, own)
        return iter(sorted(by_operator.items(), key=lambda item: str(item[0])))

    def _by_source(self, decide: Callable[[str], Decision]) -> Mapping[_Source, list[str]]:
        """The slots that a kernel of the operator or a fallback of the user's fills, by rule and the key of either.

        decide: what fills a slot.
        """
        by_source: dict[_Source, list[str]] = {}
        for key in self._slots:
            decision = decide(key)
            if decision.source is not None:
                by_source.setdefault((decision.rule, decision.source), []).append(key)
            elif decision.rule is Rule.FALLBACK and key in self._view.own_fallbacks:
                by_source[decision.rule, key] = [key]
        return by_source

    def _of_operator(self, name: OperatorName, sources: Mapping[_Source, list[str]]) -> _Terms:
        view = self._view
        active, own = view.active(name), frozenset(view.own_keys(name))
        takes_all = not own and (self._takes_all or name in self._changed)
        no_tensors = view.takes_tensors(name) is False
        by_fact: dict[GuardFact, list[str]] = {}
        for (rule, source), keys in sources.items():
            if rule is Rule.FALLBACK:
                registration = view.own_fallbacks[source]
            elif source in own or takes_all:
                registration = active[source]
            else:
                continue
            if _is_of_torch_library(registration.kernel):
                continue
            alias = source if view.universe.is_alias(source) else None
            fact = GuardFact(rule, self._kernel(registration), registration.kernel.fallthrough, alias)
            for key in keys:
                # a call with tensors does not get to the slot Undefined
                is_reached = key != UNDEFINED or no_tensors
                if is_reached and (common := self._others.common(name, fact, key)) is not None:
                    by_fact.setdefault(common, []).append(key)
        slot = view.universe.slot
        ordered = sorted(by_fact.items(), key=lambda item: slot[item[1][0]])
        return tuple((fact, self._key_terms(tuple(keys), fact.alias)) for fact, keys in ordered)

    def _kernel(self, registration: Registration) -> str | None:
        """The kernel as a guard names it; None for one that stays free."""
        kernel = registration.kernel
        if kernel.fallthrough or not self._view.is_written(registration):
            return None
        if kernel.wraps is not None or kernel.fake is not None:
            return kernel.function_name
        place = _PLACE.fullmatch(kernel.debug)
        if place is None:
            return kernel.debug
        # the file stays when lines move; one that is the declaration's own says nothing
        declared_in = "" if kernel.span is None else kernel.span.file
        return None if declared_in.endswith(place[1]) else f"registered at *{escape(place[1])}:*"
