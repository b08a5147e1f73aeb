"""What two states can differ in, each a named change with both sides and their places."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

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
    """What happened to a thing."""

    ADDED = "added"
    REMOVED = "removed"
    REPLACED = "replaced"
    REACTIVATED = "reactivated"
    """Of a kernel: the one that was active before it is active again, since the newer ones have gone."""
    BENEATH = "beneath"
    """Of a kernel: the active one is the same; others at its key, which it overrides, came or went."""


class LibraryDifference(NamedTuple):
    """The DEF library of a namespace; None while the namespace is free."""

    namespace: str
    before: LibraryHold | None
    after: LibraryHold | None

    @property
    def kind(self) -> ChangeKind:
        """What happened."""
        return _kind(self.before, self.after)

    @property
    def places(self) -> tuple[Span, ...]:
        """The declarations behind it."""
        return _places(one.span for one in (self.before, self.after) if one is not None)


class FallbackDifference(NamedTuple):
    """The backend fallback at a runtime key; None where there is none."""

    key: str
    before: Kernel | None
    after: Kernel | None

    @property
    def kind(self) -> ChangeKind:
        """What happened."""
        return _kind(self.before, self.after)

    @property
    def places(self) -> tuple[Span, ...]:
        """The declarations behind it."""
        return _places(one.span for one in (self.before, self.after) if one is not None)


class DefinitionDifference(NamedTuple):
    """An operator's schema; None while it is not defined. REPLACED is a redefinition."""

    operator: OperatorName
    before: Definition | None
    after: Definition | None

    @property
    def kind(self) -> ChangeKind:
        """What happened."""
        return _kind(self.before, self.after)

    @property
    def places(self) -> tuple[Span, ...]:
        """The declarations behind it."""
        return _places(one.span for one in (self.before, self.after) if one is not None)


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
        return _places(one.span for one in (self.before, self.after, *self.went, *self.came) if one is not None)


class PythonKernelDifference(NamedTuple):
    """The kernel that the Python dispatcher has for an operator at a key."""

    operator: OperatorName
    key: str
    before: PythonKernel | None
    after: PythonKernel | None

    @property
    def kind(self) -> ChangeKind:
        """What happened."""
        return _kind(self.before, self.after)

    @property
    def places(self) -> tuple[Span, ...]:
        """The declarations behind it."""
        return _places(one.span for one in (self.before, self.after) if one is not None)


class SlotDifference(NamedTuple):
    """A slot of the canonical table whose answer is another; of an operator that is not there every slot is missing."""

    operator: OperatorName
    key: str
    before: TableEntry
    after: TableEntry

    @property
    def kind(self) -> ChangeKind:
        """What happened."""
        return _kind(self.before.kernel, self.after.kernel)

    @property
    def places(self) -> tuple[Span, ...]:
        """The declarations behind it."""
        return _places(one.kernel.span for one in (self.before, self.after) if one.kernel is not None)


class StaleDifference(NamedTuple):
    """A slot whose live entry is stale on one side only, or in another way; ADDED: it has become stale."""

    operator: OperatorName
    key: str
    before: StaleEntry | None
    after: StaleEntry | None

    @property
    def kind(self) -> ChangeKind:
        """What happened."""
        return _kind(self.before, self.after)

    @property
    def places(self) -> tuple[Span, ...]:
        """The declarations behind it."""
        return _places(one.cause.cause.kernel.span for one in (self.before, self.after) if one is not None)


class HigherOrderDifference(NamedTuple):
    """A higher-order operator with its rules."""

    name: str
    before: HigherOrderOperator | None
    after: HigherOrderOperator | None

    @property
    def kind(self) -> ChangeKind:
        """What happened."""
        return _kind(self.before, self.after)

    @property
    def places(self) -> tuple[Span, ...]:
        """The declarations behind it."""
        return _places(one.span for one in (self.before, self.after) if one is not None)


def _kind(before: object | None, after: object | None) -> ChangeKind:
    if before is None:
        return ChangeKind.ADDED
    return ChangeKind.REMOVED if after is None else ChangeKind.REPLACED


def _places(spans: Iterable[Span | None]) -> tuple[Span, ...]:
    return tuple(dict.fromkeys(span for span in spans if span is not None))


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
