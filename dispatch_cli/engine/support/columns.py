"""The columns of the support matrix, and the calls behind the cells: the tensors of an operator in a context."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dispatch_cli.engine.backend_answers import CoveredBackend, backend_named, backend_of
from dispatch_cli.engine.call.options import option_argument
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.engine.call.trace import Call
from dispatch_cli.engine.state import State
from dispatch_cli.engine.support.cell import Column, SupportCall
from dispatch_cli.model.calls.call import Absent, CallError, Context, ContextKind, TensorSpec, Wrapper, WrapperKind
from dispatch_cli.model.calls.options import NO_OPTIONS, Options
from dispatch_cli.model.calls.support import PROMISED, SupportContext
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema, is_tensor, takes_tensors
from dispatch_cli.model.schema.types import TypeKind
from dispatch_cli.model.text.suggest import suggestion
from dispatch_cli.model.universe import META, Universe

FAKE_MODE = Context(ContextKind.MODE, name="FakeTensorMode")
_ABSENT = TensorSpec(absent=Absent.NONE)


def given_tensors(schema: FunctionSchema) -> tuple[bool, ...]:
    """True for each argument that must have a tensor; where all are optional, for the first. False for what is left
    out before those."""
    taking = [argument for argument in schema.arguments if takes_tensors(argument)]
    needed = [argument.type.kind is not TypeKind.OPTIONAL for argument in taking]
    if needed and not any(needed):
        needed[0] = True
    last = max((at for at, is_needed in enumerate(needed) if is_needed), default=-1)
    pairs = zip(taking[: last + 1], needed, strict=False)
    return tuple(is_needed for argument, is_needed in pairs if is_needed or is_tensor(argument.type))


def spec_of(column: Column) -> TensorSpec:
    """The tensor of a column."""
    plain = TensorSpec(column.device)
    match column.context:
        case SupportContext.TRAIN:
            return plain._replace(requires_grad=True)
        case SupportContext.FAKE | SupportContext.COMPILE:
            return plain._replace(fake="")
        case SupportContext.VMAP:
            return plain._replace(wrappers=(Wrapper(WrapperKind.BATCHED),))
        case SupportContext.GRAD | SupportContext.JVP:
            return plain._replace(wrappers=(Wrapper(WrapperKind.GRAD),))
        case SupportContext.INFERENCE:
            return plain._replace(inference=True)
        case SupportContext.CUSTOM if column.tensor is not None:
            return column.tensor if column.tensor.device is not None else column.tensor._replace(device=column.device)
        case _:
            return plain


def contexts_of(column: Column) -> tuple[Context, ...]:
    """The contexts of a column."""
    match column.context:
        case SupportContext.FAKE | SupportContext.COMPILE:
            return (FAKE_MODE,)
        case SupportContext.VMAP | SupportContext.GRAD | SupportContext.JVP:
            return (Context(ContextKind(column.context.value)),)
        case SupportContext.AUTOCAST:
            return (Context(ContextKind.AUTOCAST, device=column.device),)
        case SupportContext.INFERENCE:
            return (Context(ContextKind.INFERENCE_MODE),)
        case _:
            return column.contexts


def functional_column(column: Column) -> Column:
    """The call of a column as functionalization gets it, which torch.compile runs."""
    tensor = TensorSpec(column.device, wrappers=(Wrapper(WrapperKind.FUNCTIONAL),))
    return Column(
        column.backend, column.device, SupportContext.CUSTOM, tensor, (Context(ContextKind.ENABLE_FUNCTIONALIZATION),)
    )


def with_contexts(call: SupportCall, column: Column) -> SupportCall:
    """The same call in the contexts of a column."""
    return call._replace(contexts=tuple(map(str, contexts_of(column))))


def support_call(state: State, name: OperatorName, schema: FunctionSchema, column: Column) -> tuple[Call, SupportCall]:
    """The call of a column, simulated, and as `resolve` takes it. Errors: CallError."""
    given, spec, contexts = given_tensors(schema), spec_of(column), contexts_of(column)
    tensors = tuple(spec if is_given else _ABSENT for is_given in given)
    options = NO_OPTIONS
    if not given:
        if option_argument(schema, "device") is not None:
            options = Options(device=column.device)
        TensorMaker(state.dispatcher.universe).make(spec)  # it needs a device that has tensors, too
    shown = SupportCall(
        tuple(map(str, tensors)),
        tuple(map(str, contexts)),
        tuple(f"{option}={value}" for option, value in options.given),
    )
    return simulate(state, name, tensors, contexts, options=options), shown


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
