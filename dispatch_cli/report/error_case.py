"""What is known of the slot where a call ended: from the text, and else from the state that is compared."""

from __future__ import annotations

from dispatch_cli.engine.call.options import is_factory
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.keys.autograd import autograd_key_of
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import BACKEND_SELECT, EXPLICIT, META, NON_FUNCTIONAL, UNDEFINED
from dispatch_cli.report.error_facts import ErrorCase, ErrorPlace, device_of
from dispatch_cli.report.error_text import ErrorText
from dispatch_cli.report.printed_table import PrintedTable
from dispatch_cli.report.printed_version import Fit

EMPTY = OperatorName("aten::empty", "memory_format")
FACTORIES = frozenset({EMPTY, OperatorName("aten::empty_strided")})
"""Every backend has kernels of these: they make its tensors."""


def case_of(
    state: State,
    name: OperatorName,
    key: str,
    text: ErrorText,
    shown: PrintedTable,
    from_text: bool,
    reproduced: bool,
    fit: Fit,
    backend_name: str | None,
) -> ErrorCase:
    """What is known of the slot where a call ended.

    reproduced: the compared state has not either what the text says is missing. fit: how the text fits its version.
    backend_name: what the text calls PrivateUse1.
    """
    dispatcher = state.dispatcher
    universe, definition = dispatcher.universe, dispatcher.operator(name).definition
    kernels = shown.kernels(universe)
    in_text = kernels is not None
    table = dispatcher.table(name)
    if kernels is None and not from_text and reproduced:
        filled = (one for one in universe.runtime if table[one].rule not in (Rule.MISSING, Rule.FALLBACK))
        kernels = tuple(one for one in filled if autograd_key_of(universe, one) is not None)
    kernel = table[key].kernel
    declared = not state.over or (kernel is not None and kernel.span is not None)
    schema = None if definition is None or from_text else definition.known_schema
    types = () if schema is None else tuple(str(one.type) for one in schema.arguments)
    details = dict(text.details)
    return ErrorCase(
        universe=universe,
        kind=text.kind,
        place=ErrorPlace(
            operator=str(name),
            key=key,
            functionality=UNDEFINED if key == UNDEFINED else universe.runtime_parts[key][0],
            backend=device_of(universe, key),
            backend_name=backend_name,
            over=" and ".join(state.over) or "The state here",
        ),
        kernels=kernels,
        in_text=in_text,
        meta=in_text and shown.may_have(META),
        autograd=shown.has_autograd(universe),
        pytorchs=_is_pytorchs(state, name),
        # a default kernel that makes the functional form from the out= form fails where that does
        here=not reproduced and not from_text and table[key].decision.source != NON_FUNCTIONAL,
        declared=declared,
        displacing=() if reproduced or from_text or declared else _displacing(dispatcher, name, key),
        built=device_of(universe, key) in built_backends(dispatcher),
        factory=name in FACTORIES,
        makes=is_factory(schema) and BACKEND_SELECT in table.active,
        fit=fit,
        lists=() if schema is None else tuple(one.name for one in schema.arguments if _is_list(str(one.type))),
        tags=() if definition is None or from_text else definition.tags,
        takes_none=schema is not None and not any(one.startswith("Tensor") for one in types),
        elsewhere=_elsewhere(dispatcher, name, key, kernels or ()) if in_text and not from_text else (),
        fake="fake" in details,
        loops="loops" in details,
        module=details.get("module"),
    )


def _elsewhere(dispatcher: Dispatcher, name: OperatorName, key: str, shown: tuple[str, ...]) -> tuple[str, ...]:
    """The backends, but that of *key* and Meta, for whose dense tensors a kernel is here and none in the text."""
    universe, table = dispatcher.universe, dispatcher.table(name)
    others = (one for one in universe.backends if one not in (META, device_of(universe, key), *shown))
    return tuple(one for one in others if one in universe.slot and table[one].rule is Rule.KERNEL)


def _displacing(dispatcher: Dispatcher, name: OperatorName, key: str) -> tuple[str, ...]:
    """The keys whose kernels would take an autograd key from the math kernel that fills it; none where it does not."""
    backends = dispatcher.universe.autograd_backends.get(key, ())
    is_math = dispatcher.table(name)[key].rule is Rule.MATH
    return (*backends, EXPLICIT) if backends and is_math else ()


def _is_list(type_: str) -> bool:
    return type_.startswith("Tensor") and "[" in type_


def _is_pytorchs(state: State, name: OperatorName) -> bool:
    """Whether an operator is of PyTorch, and not of a library or a file: by its namespace."""
    own = {str(name), *map(str, state.own_operators())}
    names = (one for one in state.dispatcher.names() if one not in own) if state.over else ()
    return name.namespace == "aten" or any(OperatorName.parse(one).namespace == name.namespace for one in names)


def built_backends(dispatcher: Dispatcher) -> tuple[str, ...]:
    """The backends that a state has: those that can make tensors."""
    if EMPTY not in dispatcher:
        return ()
    table = dispatcher.table(EMPTY)
    return tuple(one for one in dispatcher.universe.backends if table[one].rule is Rule.KERNEL)
