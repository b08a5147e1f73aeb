"""Captured states: what a source of operators must offer, so that a dispatcher can continue a running one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName

if TYPE_CHECKING:
    from dispatch_cli.model.function_schema import AliasAnalysisKind, FunctionSchema


class CapturedOperator(NamedTuple):
    """An operator of a captured state: what it has registered, oldest kernel first.

    schema: None when it is dangling. debug: the schema's debug text. kernels: dispatch key and kernel.
    python_kernels: dispatch key and function name.
    """

    name: OperatorName
    schema: FunctionSchema | None
    debug: str
    alias_analysis: AliasAnalysisKind | None
    tags: tuple[str, ...]
    kernels: tuple[tuple[str, Kernel], ...]
    python_kernels: tuple[tuple[str, str], ...] = ()


class CapturedOutline(NamedTuple):
    """What a table of a captured operator needs, so that nothing has to be parsed.

    schema: as text. kernels: the active kernel of each key: its debug text, and whether it falls through.
    """

    schema: str | None
    kernels: dict[str, tuple[str, bool]]


class StateSource(Protocol):
    """A captured state that gives out its operators one at a time."""

    @property
    def names(self) -> Sequence[str]:
        """The names of its operators."""

    def operator(self, name: str) -> CapturedOperator:
        """One operator; its live table is in order."""

    def outline(self, name: str) -> CapturedOutline:
        """The same operator in outline."""
