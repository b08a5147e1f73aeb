"""Calls of a trace that are asked for, each with the one among them that made it."""

from __future__ import annotations

from array import array
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.engine.call.gradient import GradientLoss
from dispatch_cli.model.calls.call import CallEnd
from dispatch_cli.model.universe import Universe
from dispatch_cli.trace.facts import CallFact, facts_of, gradient_loss
from dispatch_cli.trace.happened import Happened
from dispatch_cli.trace.recording import NONE, Recording


class Wanted(NamedTuple):
    """Conditions on the calls that are asked for; None, or empty, is no condition.

    operators: by name. facts: one of which it has.
    """

    operators: frozenset[str] | None = None
    facts: tuple[CallFact, ...] = ()


class CallFacts:
    """The facts of calls, decided once for those that are alike."""

    def __init__(self, recording: Recording, happened: Happened, universe: Universe) -> None:
        self._recording = recording
        self._happened = happened
        self._universe = universe
        self._known: dict[int, tuple[CallFact, ...]] = {}

    def of_call(self, call: int) -> tuple[CallFact, ...]:
        """The facts of a call."""
        number = self._happened.number_of(call)
        facts = self._known.get(number)
        if facts is None:
            facts = self._known[number] = facts_of(self._happened.of_number(number), self._universe)
        if CallFact.NO_GRADIENT in facts and self.gives_gradient(call):
            facts = tuple(fact for fact in facts if fact is not CallFact.NO_GRADIENT)
        return (*facts, CallFact.RAISED) if self._happened.ended_as(call) is CallEnd.RAISED else facts

    def gives_gradient(self, call: int) -> bool:
        """True if a call without an autograd kernel gives a gradient: calls inside of it record one."""
        lost = gradient_loss(self._happened.of_call(call), self._universe)
        return lost is not None and lost.loss is not GradientLoss.RAISES and call in self._with_nodes

    @cached_property
    def _with_nodes(self) -> set[int]:
        """Calls inside of which others made nodes of autograd."""
        parents = self._recording.calls.parent
        result: set[int] = set()
        for call in self._recording.nodes.values():
            around = parents[call]
            while around != NONE and around not in result:
                result.add(around)
                around = parents[around]
        return result


class Selected(NamedTuple):
    """The calls that are asked for, in order.

    of_thread: those of each thread. parents: for every call of the recording, the nearest one around it that is asked
    for.
    """

    of_thread: tuple[array[int], ...]
    parents: array[int]


def select(recording: Recording, wanted: Wanted, facts: CallFacts) -> Selected:
    """The calls that are asked for."""
    calls = recording.calls
    of_thread = tuple(array("i") for _ in recording.threads)
    parents = array("i", [NONE]) * len(calls)
    is_in = bytearray(len(calls))
    for call in range(len(calls)):
        parent = calls.parent[call]
        parents[call] = parent if parent == NONE or is_in[parent] else parents[parent]
        if wanted.operators is not None and recording.operator_of(call) not in wanted.operators:
            continue
        if not wanted.facts or not set(wanted.facts).isdisjoint(facts.of_call(call)):
            is_in[call] = 1
            of_thread[calls.thread[call]].append(call)
    return Selected(of_thread, parents)
