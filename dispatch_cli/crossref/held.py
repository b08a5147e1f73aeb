"""Registrations of a state of ours, in the form of those of a built library."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.built import BuiltKernel, BuiltLibrary, BuiltOperator
from dispatch_cli.model.declarations import Define, Fallback, Implement, Registrant
from dispatch_cli.model.kernel import WrapKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span


def held_by(state: State, source: str, namespaces: Collection[str]) -> BuiltLibrary:
    """The operators of some namespaces, and those for which the user's modules or files register something.

    source: name of the state. What a capture's modules registered counts as imported, as far as the capture says
    who registered what.
    """
    steps = [step for step in state.declarations.steps if isinstance(step, Define | Implement | Fallback)]
    by = {span: step.block.by for step in steps for span in _places(step) if span is not None}
    operators = {}
    for text in state.dispatcher.names():
        name = OperatorName.parse(text)
        if text.partition("::")[0] in namespaces or _is_user(state, name, by):
            operators[text] = _operator(state, name, by)
    return BuiltLibrary(
        source=source,
        modules=(),
        operators=operators,
        fallbacks={key: _kernel(registration, by) for key, registration in state.dispatcher.fallbacks.items()},
        apart=any(registrant is Registrant.USER for registrant in by.values()),
        universe=state.dispatcher.universe.name,
        is_live=False,
    )


def _places(step: Define | Implement | Fallback) -> tuple[Span | None, ...]:
    """The places by which a registration is known: its own, and that of its kernel."""
    return (step.span,) if isinstance(step, Define) else (step.span, step.kernel.span)


_By = Mapping[Span, Registrant]


def _is_user(state: State, name: OperatorName, by: _By) -> bool:
    """True if the user's modules or files register something for an operator that is not as the base has it."""
    if state.dispatcher.is_untouched(name):
        return False
    return any(_is_users(registration.kernel.span, by) for registration in state.dispatcher.active(name).values())


def _is_users(span: Span | None, by: _By) -> bool:
    return span is not None and by.get(span) is Registrant.USER


def _operator(state: State, name: OperatorName, by: _By) -> BuiltOperator:
    dispatcher = state.dispatcher
    header = dispatcher.header(name)
    kernels = {key: _kernel(registration, by) for key, registration in dispatcher.active(name).items()}
    python = tuple(kernel.dispatch_key for kernel in state.python_kernels(name))
    built = BuiltOperator(header.schema, kernels, python, imported=_is_users(header.span, by))
    definition = None if dispatcher.is_untouched(name) else dispatcher.operator(name).definition
    if definition is None:
        return built
    kind = "default" if definition.alias_analysis is None else definition.alias_analysis.value
    return built._replace(tags=definition.tags, alias_analysis=kind, debug=definition.debug)


def _kernel(registration: Registration, by: _By) -> BuiltKernel:
    kernel = registration.kernel
    fake, wraps = kernel.fake, kernel.wraps
    return BuiltKernel(
        kernel.debug,
        kernel.fallthrough,
        _is_users(kernel.span, by),
        fake=None if fake is None else fake.function is not None,
        backward=wraps.function is not None if wraps is not None and wraps.kind is WrapKind.AUTOGRAD else None,
    )
