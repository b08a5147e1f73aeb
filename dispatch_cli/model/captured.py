"""Operators of a captured state, as a source of them gives them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dispatch_cli.model.kernel import Kernel
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.model.schema import AliasAnalysisKind, FunctionSchema


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


class CapturedHeader(NamedTuple):
    """What a table of a captured operator needs, so that nothing has to be parsed.

    schema: as text. kernels: the active kernel of each key: its debug text, and whether it falls through.
    overridden: the keys with more than one kernel.
    python_keys: the keys with a kernel of the Python dispatcher.
    """

    schema: str | None
    kernels: dict[str, tuple[str, bool]]
    overridden: tuple[str, ...] = ()
    python_keys: tuple[str, ...] = ()
