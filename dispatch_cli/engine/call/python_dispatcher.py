"""What the Python dispatcher chooses for an ordinary operator (``torch._ops.OpOverload._get_dispatch``)."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.call.errors import python_unresolved
from dispatch_cli.engine.call.step import KernelStep, decomposes, ends, raises
from dispatch_cli.engine.call.trace import Why
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.python.table import chosen_key, resolve_key
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.names import OperatorName

PYTHON = "Python"
_COMPOSITES = frozenset({Rule.MATH, Rule.NESTED, Rule.BATCHED})


class KernelChoice(NamedTuple):
    """What Python chose.

    key: the key of the kernel. kernel: the Python kernel there. entry: the C++ kernel, as an entry of the slot.
    step: what happens without a C++ kernel.
    """

    decision: Decision
    key: str | None
    kernel: str | None = None
    entry: TableEntry | None = None
    step: KernelStep | None = None


class PythonResolver:
    """Chooses for one operator. kernels: its Python kernels by dispatch key."""

    def __init__(self, dispatcher: Dispatcher, name: OperatorName, kernels: dict[str, str]) -> None:
        self._dispatcher = dispatcher
        self._name = name
        self._kernels = kernels

    def choose(self, slot: str, key: str) -> KernelChoice:
        """What runs for *slot*. key: what PyTorch calls it, which differs for a set without a backend."""
        if slot == PYTHON:  # not resolved: C++ knows about modes and subclasses
            return self._cpp(slot, self._dispatcher.operator(self._name).live[slot].decision, PYTHON)
        decision = resolve_key(self._dispatcher, self._name, slot, self._kernels)
        chosen = chosen_key(slot, decision)
        if chosen is None:
            return KernelChoice(decision, None, step=raises(python_unresolved(self._name, key, decision), Why.PYTHON))
        if chosen in self._kernels:
            composite = decision.rule in _COMPOSITES
            step = decomposes(Why.PYTHON) if composite else ends(Why.PYTHON)
            return KernelChoice(decision, chosen, self._kernels[chosen], step=step)
        return self._cpp(slot, decision, chosen)

    def _cpp(self, slot: str, decision: Decision, chosen: str) -> KernelChoice:
        registration = self._dispatcher.operator(self._name).active(chosen)
        if registration is None:
            registration = self._dispatcher.fallbacks.get(chosen)
        return KernelChoice(decision, chosen, entry=TableEntry(slot, decision, registration))
