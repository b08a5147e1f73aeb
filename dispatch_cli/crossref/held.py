"""Registrations of a state of ours, in the form of those of a built library."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.built import BuiltKernel, BuiltLibrary, BuiltOperator
from dispatch_cli.model.declarations import Define, Fallback, Implement, Registrant
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span


def held_by(state: State, source: str, namespaces: Collection[str]) -> BuiltLibrary:
    """The operators of some namespaces, and those for which the user's modules or files register something.

    source: what the state is called. What a capture's modules registered counts as imported, as far as the capture says
    who registered what.
    """
    steps = [step for step in state.declarations.steps if isinstance(step, Define | Implement | Fallback)]
    by = {step.span: step.block.by for step in steps if step.span is not None}
    operators = {}
    for text in state.dispatcher.names():
        name = OperatorName.parse(text)
        if text.partition("::")[0] in namespaces or _is_user(state, name, by):
            operators[text] = _operator(state.dispatcher, name, by)
    return BuiltLibrary(
        source=source,
        modules=(),
        operators=operators,
        fallbacks={key: _kernel(registration, by) for key, registration in state.dispatcher.fallbacks.items()},
        higher_order={},
        apart=any(registrant is Registrant.USER for registrant in by.values()),
        universe=state.dispatcher.universe.name,
    )


_By = Mapping[Span, Registrant]


def _is_user(state: State, name: OperatorName, by: _By) -> bool:
    """True if the user's modules or files register something for an operator that is not as the base has it."""
    if state.dispatcher.is_untouched(name):
        return False
    return any(_is_users(registration.kernel.span, by) for registration in state.dispatcher.active(name).values())


def _is_users(span: Span | None, by: _By) -> bool:
    return span is not None and by.get(span) is Registrant.USER


def _operator(dispatcher: Dispatcher, name: OperatorName, by: _By) -> BuiltOperator:
    header = dispatcher.header(name)
    kernels = {key: _kernel(registration, by) for key, registration in dispatcher.active(name).items()}
    debug = None
    if not dispatcher.is_untouched(name) and (definition := dispatcher.operator(name).definition) is not None:
        debug = definition.debug
    return BuiltOperator(header.schema, kernels, imported=_is_users(header.span, by), debug=debug)


def _kernel(registration: Registration, by: _By) -> BuiltKernel:
    kernel = registration.kernel
    return BuiltKernel(kernel.debug, kernel.fallthrough, _is_users(kernel.span, by))
