"""One operator's state: its schema, its kernels per key, and its live table."""

from __future__ import annotations

from dispatch_cli.engine.dispatcher.override_warning import FirstKernels
from dispatch_cli.engine.dispatcher.visit_order import VisitOrder
from dispatch_cli.engine.keys.layout import KeyLayout
from dispatch_cli.engine.table.live import FallbackHistory, LiveTable
from dispatch_cli.engine.table.registration import Definition, Registration
from dispatch_cli.model.names import OperatorName


class Operator:
    """An operator in a dispatcher.

    definition: the schema in effect, or None. kernels: per key the registrations, newest first; the first is active.
    holds: how many things keep the operator in existence (definition and kernels).
    registered: one bit per key that has a kernel (`KeyLayout.registered_bit`). texts: what a table dump prints for the
        active kernel of each key.
    live: the live table. visits: the order in which PyTorch visits the keys.
    first: the kernels that PyTorch's warnings of overrides name; those of a captured state are not among them.
    seen: how many of the fallback changes had happened when the operator came to be.
    number: operators that came later have higher ones.
    """

    __slots__ = ("definition", "first", "holds", "kernels", "live", "name", "number", "registered", "texts", "visits")

    def __init__(
        self, name: OperatorName, layout: KeyLayout, history: FallbackHistory, seen: int, number: int = 0
    ) -> None:
        self.name = name
        self.number = number
        self.definition: Definition | None = None
        self.kernels: dict[str, list[Registration]] = {}
        self.first = FirstKernels()
        self.holds = 0
        self.registered = 0
        self.texts: dict[str, str] = {}
        self.visits = VisitOrder()
        self.live = LiveTable(name, layout, history, seen)

    def copy(self) -> Operator:
        """The operator as it is, which goes its own way from here on."""
        copy = Operator.__new__(Operator)
        copy.name = self.name
        copy.number = self.number
        copy.definition = self.definition
        copy.kernels = {key: registrations.copy() for key, registrations in self.kernels.items()}
        copy.first = self.first
        copy.holds = self.holds
        copy.registered = self.registered
        copy.texts = self.texts.copy()
        copy.visits = self.visits.copy()
        copy.live = self.live.copy()
        return copy

    def active(self, key: str) -> Registration | None:
        """The active registration at *key*."""
        found = self.kernels.get(key)
        return found[0] if found else None

    def active_kernels(self) -> dict[str, Registration]:
        """The active registration of every key that has one."""
        return {key: registrations[0] for key, registrations in self.kernels.items()}

    def has_kernel(self, key: str) -> bool:
        """Whether a kernel is registered at exactly *key*, an alias key included."""
        return key in self.kernels
