"""The support matrix of a state: which columns it has, and the verdict of each cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.engine.coverage.answers import CoveredBackend, backend_named, backend_of
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.support.cell import Column, SupportRow
from dispatch_cli.engine.support.verdicts import Judges
from dispatch_cli.model.calls.call import CallError, Context, TensorSpec
from dispatch_cli.model.calls.support import PROMISED, SupportContext
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.text.suggest import suggestion
from dispatch_cli.model.universe import META, Universe

USUAL = ("CPU", "CUDA")
"""The backends of operators that have kernels for none in particular."""


def support_columns(
    state: State,
    names: Sequence[OperatorName],
    devices: Sequence[str] = (),
    contexts: Sequence[SupportContext] = (),
    custom: Sequence[tuple[TensorSpec | None, tuple[Context, ...]]] = (),
) -> tuple[Column, ...]:
    """The columns for these operators, backend by backend.

    devices: backends in any spelling that `coverage` takes; none means those for which the operators' declarations
    register kernels. contexts: none means all. custom: further columns on each backend.
    Errors: CallError for a device that the universe does not have.
    """
    universe = state.dispatcher.universe
    backends = [_named(universe, text) for text in devices] if devices else _registered(state, names)
    wanted = contexts or PROMISED
    columns: list[Column] = []
    for backend in dict.fromkeys(backends):
        device = backend.device or backend.key
        columns += (Column(backend.key, device, context) for context in wanted)
        columns += (Column(backend.key, device, SupportContext.CUSTOM, *call) for call in custom)
    return tuple(columns)


def support_rows(state: State, names: Sequence[OperatorName], columns: Sequence[Column]) -> Iterator[SupportRow]:
    """The rows, one operator at a time; work grows with what is asked for."""
    judges = Judges(state)
    for name in names:
        judge = judges.new(name)
        definition = judge.operator.definition
        schema, span = (None, None) if definition is None else (str(definition.schema), definition.span)
        yield SupportRow(name, schema, span, tuple(map(judge.cell, columns)))


def _named(universe: Universe, text: str) -> CoveredBackend:
    backend = backend_named(universe, text)
    if backend is None or backend.device is None:
        raise CallError(f"{universe.name} has no device {text!r}", text, suggestion(text, tuple(universe.devices)))
    return backend


def _registered(state: State, names: Iterable[OperatorName]) -> list[CoveredBackend]:
    """The backends for which files register kernels of the operators; the usual ones where there is none."""
    universe = state.dispatcher.universe
    with_device = frozenset(universe.devices.values()) - {META}
    components: set[str] = set()
    for name in names:
        for key, registration in state.dispatcher.active(name).items():
            _, component = universe.runtime_parts.get(key, (None, None))
            if not registration.captured and component in with_device:
                components.add(component)
    keys = [key for key in universe.backends if key in components] or [key for key in USUAL if key in universe.slot]
    return [backend_of(universe, key) for key in keys]
