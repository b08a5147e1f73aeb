"""Kinds of differences between two states, each a named change with both sides and their places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.engine.table.registration import Definition, LibraryHold
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span

if TYPE_CHECKING:
    from dispatch_cli.model.declarations import PythonKernel
    from dispatch_cli.model.higher_order import HigherOrderOperator


class ChangeKind(Enum):
    """Kind of change."""

    ADDED = "added"
    REMOVED = "removed"
    REPLACED = "replaced"
    REACTIVATED = "reactivated"
    """For a kernel: the one that was active before it is active again, since the newer ones have gone."""
    BENEATH = "beneath"
    """For a kernel: the active one is the same; others at its key, which it overrides, came or went."""


class _Sides:
    """Base of a difference that has something on both sides, or on one."""

    __slots__ = ()
    before: Any
    after: Any

    @property
    def kind(self) -> ChangeKind:
        """Kind of change, by the sides that have something."""
        before, after = (side.kernel if isinstance(side, TableEntry) else side for side in (self.before, self.after))
        if before is None:
            return ChangeKind.ADDED
        return ChangeKind.REMOVED if after is None else ChangeKind.REPLACED

    @property
    def places(self) -> tuple[Span, ...]:
        """The declarations of both sides."""
        return _places(map(_declared, (self.before, self.after)))


def _declared(content: Any) -> Any:
    """The thing that has a place: the kernel of a slot; for a stale slot, the kernel that made it stale."""
    if isinstance(content, StaleEntry):
        return content.cause.cause.kernel
    return content.kernel if isinstance(content, TableEntry) else content


@dataclass(frozen=True, slots=True)
class LibraryDifference(_Sides):
    """The DEF library of a namespace; None while the namespace is free."""

    namespace: str
    before: LibraryHold | None
    after: LibraryHold | None


@dataclass(frozen=True, slots=True)
class FallbackDifference(_Sides):
    """The backend fallback at a runtime key; None where there is none."""

    key: str
    before: Kernel | None
    after: Kernel | None


@dataclass(frozen=True, slots=True)
class DefinitionDifference(_Sides):
    """An operator's schema; None while it is not defined. REPLACED is a redefinition."""

    operator: OperatorName
    before: Definition | None
    after: Definition | None


class KernelDifference(NamedTuple):
    """The kernels of an operator at one key.

    before, after: the active one, None where there is none. came, went: all that came and went, newest first.
    """

    operator: OperatorName
    key: str
    kind: ChangeKind
    before: Kernel | None
    after: Kernel | None
    came: tuple[Kernel, ...]
    went: tuple[Kernel, ...]

    @property
    def places(self) -> tuple[Span, ...]:
        """The declarations behind it."""
        return _places((self.before, self.after, *self.went, *self.came))


@dataclass(frozen=True, slots=True)
class PythonKernelDifference(_Sides):
    """The kernel that the Python dispatcher has for an operator at a key."""

    operator: OperatorName
    key: str
    before: PythonKernel | None
    after: PythonKernel | None


@dataclass(frozen=True, slots=True)
class SlotDifference(_Sides):
    """A slot of the canonical table whose answer is another; of an operator that is not there every slot is missing."""

    operator: OperatorName
    key: str
    before: TableEntry
    after: TableEntry


@dataclass(frozen=True, slots=True)
class StaleDifference(_Sides):
    """A slot whose live entry is stale on one side only, or in another way; ADDED: it has become stale."""

    operator: OperatorName
    key: str
    before: StaleEntry | None
    after: StaleEntry | None


@dataclass(frozen=True, slots=True)
class HigherOrderDifference(_Sides):
    """A higher-order operator with its implementations."""

    name: str
    before: HigherOrderOperator | None
    after: HigherOrderOperator | None


def _places(declared: Iterable[Any]) -> tuple[Span, ...]:
    return tuple(dict.fromkeys(thing.span for thing in declared if thing is not None and thing.span is not None))


Difference = (
    LibraryDifference
    | FallbackDifference
    | DefinitionDifference
    | KernelDifference
    | PythonKernelDifference
    | SlotDifference
    | StaleDifference
    | HigherOrderDifference
)
"""One change of any kind."""
