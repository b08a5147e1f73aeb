"""A state that shares nothing that changes with another: for work in a thread."""

from __future__ import annotations

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.apply import run
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.declarations import Declarations


def snapshot(state: State, guarded: Declarations | None = None) -> State:
    """The same state, computed anew. guarded: declarations about checks, guards included; None for its own."""
    declarations = state.declarations
    if guarded is None and not any(declarations[2:]):  # an embedded state, of which nothing is said
        dispatcher = state.dispatcher
        copy = State(Dispatcher(dispatcher.universe, base=dispatcher.base), source=state.source)
    else:
        if guarded is not None:
            declarations = declarations._replace(
                guards=guarded.guards,
                promises=guarded.promises,
                suppressions=guarded.suppressions,
                settings=guarded.settings,
                files=guarded.files,
            )
        copy = run(declarations, state.source)
    copy.variants = state.variants
    copy.over_assumed = state.over_assumed
    return copy
