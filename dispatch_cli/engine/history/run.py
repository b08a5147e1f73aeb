"""Run declarations through a dispatcher of their own: all of them, or nothing when anything is refused."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.apply import apply, refuse
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.declarations import Declarations
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.state_source import StateSource


def run(declarations: Declarations, source: StateSource | None = None) -> State:
    """Run the whole history.

    source: the captured state that it continues. Errors: InputError with every refusal, each naming both places.
    """
    dispatcher = Dispatcher(declarations.universe, declarations.core_fallbacks, source)
    applied = apply(dispatcher, declarations.steps)
    refuse((*applied.problems, *_refused_in_python(declarations, source)))
    before = declarations.inherited_steps
    base = None
    if (source is not None or before) and len(before) < len(declarations.steps):
        base = Dispatcher(declarations.universe, declarations.core_fallbacks, source)
        apply(base, before)
    return State(dispatcher, applied.overrides, base, source, declarations)


def _refused_in_python(declarations: Declarations, source: StateSource | None) -> Iterator[Problem]:
    """What ``py_impl`` refuses: of operators, and of higher-order ones."""
    if declarations.python_kernels:
        from dispatch_cli.engine.python.operator import problems_of as of_operators

        yield from of_operators(declarations.python_kernels, source)
    if declarations.higher_order_operators:
        from dispatch_cli.engine.python.higher_order import problems_of as of_higher_order

        captured = source.higher_order_operators if source is not None else ()
        yield from of_higher_order(declarations.higher_order_operators, captured)
