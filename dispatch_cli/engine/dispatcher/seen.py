"""An operator of a captured state that waits there, with the attributes of an `Operator` that is asked about.

`Dispatcher.seen` gives the one or the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dispatch_cli.engine.table.layout import KeyLayout
from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.engine.table.registration import OperatorHeader, Registration, kernel_text
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName

if TYPE_CHECKING:
    from dispatch_cli.model.captured import StateSource
    from dispatch_cli.model.schema.model import FunctionSchema


class WaitingOperator:
    """An operator of a captured state that has not been taken in: no schema of it is parsed."""

    __slots__ = ("_captured", "_layout", "_name")

    def __init__(self, name: OperatorName, base: StateSource, layout: KeyLayout) -> None:
        self._name = name
        self._captured = base.header(str(name))
        self._layout = layout

    @property
    def registered(self) -> int:
        """The bits of the keys with a kernel."""
        bits = self._layout.registered_bit
        return sum([bits[key] for key in self._captured.kernels])

    @property
    def texts(self) -> Mapping[str, str]:
        """Text of a table dump for the active kernel of each key."""
        return {key: kernel_text(*kernel) for key, kernel in self._captured.kernels.items()}

    @property
    def falling(self) -> frozenset[str]:
        """The keys whose active kernel falls through."""
        return frozenset([key for key, (_, fallthrough) in self._captured.kernels.items() if fallthrough])

    @property
    def header(self) -> OperatorHeader:
        """Its header."""
        return OperatorHeader(self._captured.schema, None, self._captured.overridden, captured=True)

    @property
    def schema(self) -> FunctionSchema | None:
        """Its schema; None where there is none."""
        if self._captured.schema is None:
            return None
        from dispatch_cli.model.schema.parser import parse_printed_schema

        return parse_printed_schema(self._captured.schema)

    def active(self, key: str) -> Registration | None:
        """The active registration at *key*."""
        return self._registration(key) if key in self._captured.kernels else None

    def active_kernels(self) -> dict[str, Registration]:
        """The active registration of every key that has one."""
        return {key: self._registration(key) for key in self._captured.kernels}

    def _registration(self, key: str) -> Registration:
        debug, fallthrough = self._captured.kernels[key]
        fake, wraps = self._captured.functions.get(key, (None, None))
        kernel = Kernel(debug, fallthrough=fallthrough, fake=fake, wraps=wraps)
        return Registration(self._name, key, kernel, captured=True)

    def stale(self) -> list[StaleEntry]:
        """None: its live table is in order, and changes of fallbacks leave it so."""
        return []
