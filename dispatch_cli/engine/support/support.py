"""The support matrix of a state: which columns it has, and the verdict of each cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.support.cell import Column, SupportContext, SupportRow
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName


def support_columns(
    state: State,
    names: Sequence[OperatorName],
    devices: Sequence[str] = (),
    contexts: Sequence[SupportContext] = (),
    custom: Sequence[tuple[TensorSpec | None, tuple[Context, ...]]] = (),
) -> tuple[Column, ...]:
    """The columns for these operators.

    devices: backends in any spelling that `coverage` takes; none means those for which the operators' declarations
    register kernels. contexts: none means all. custom: further columns on each backend.
    Errors: CallError for a device that the universe does not have.
    """
    raise NotImplementedError


def support_rows(state: State, names: Sequence[OperatorName], columns: Sequence[Column]) -> Iterator[SupportRow]:
    """The rows, one operator at a time; work grows with what is asked for."""
    raise NotImplementedError
