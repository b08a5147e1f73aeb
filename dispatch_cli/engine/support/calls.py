"""The calls behind the cells: which tensors an operator is given in a context, and the call simulated."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from dispatch_cli.engine.call.chain import CallSimulator
from dispatch_cli.engine.call.options import option_argument
from dispatch_cli.engine.call.simulate import make_value
from dispatch_cli.engine.call.tensors import TensorMaker, Value
from dispatch_cli.engine.call.thread import Contexts, Thread
from dispatch_cli.engine.call.trace import Call
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.support.cell import Column, SupportCall
from dispatch_cli.model.calls.call import Absent, Context, ContextKind, TensorSpec, Wrapper, WrapperKind
from dispatch_cli.model.calls.options import NO_OPTIONS, Options
from dispatch_cli.model.calls.support import SupportContext
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import FunctionSchema, TypeKind
from dispatch_cli.model.schema.arguments import is_tensor, takes_tensors

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


class Prepared(NamedTuple):
    """Arguments of a call, which do not depend on the operator. shown: the call as `resolve` takes it."""

    tensors: tuple[TensorSpec, ...]
    contexts: tuple[Context, ...]
    options: Options
    values: tuple[Value, ...]
    thread: Thread
    shown: SupportCall


class Caller:
    """Makes the calls of one state: arguments are made once for all operators."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._maker = TensorMaker(state.dispatcher.universe)
        self._prepared: dict[tuple[Column, tuple[bool, ...], bool], Prepared] = {}

    def of(self, name: OperatorName) -> OperatorCaller:
        """The calls of one operator."""
        return OperatorCaller(self, name)

    def simulator(self, name: OperatorName, options: Options = NO_OPTIONS) -> CallSimulator:
        """A simulator of calls of an operator."""
        return CallSimulator(self.state, name, self._maker, options)

    def prepared(self, column: Column, given: tuple[bool, ...], takes_device: bool) -> Prepared:
        """The arguments in a column, of an operator that is given those tensors, or a device. Errors: CallError."""
        prepared = self._prepared.get((column, given, takes_device))
        if prepared is None:
            spec, contexts = spec_of(column), contexts_of(column)
            tensors = tuple(spec if is_given else _ABSENT for is_given in given)
            options = Options(device=column.device) if takes_device else NO_OPTIONS
            thread = Contexts(self._maker).enter_all(contexts)
            make_value(self._maker, thread, spec)  # an operator without tensors needs a device that has some, too
            values = tuple(make_value(self._maker, thread, tensor) for tensor in tensors)
            texts = tuple(f"{option}={value}" for option, value in options.given)
            shown = SupportCall(tuple(map(str, tensors)), tuple(map(str, contexts)), texts)
            prepared = Prepared(tensors, contexts, options, values, thread, shown)
            self._prepared[column, given, takes_device] = prepared
        return prepared


class OperatorCaller:
    """Makes the calls of one operator."""

    def __init__(self, caller: Caller, name: OperatorName) -> None:
        self.caller = caller
        self.name = name
        self._given: tuple[bool, ...] | None = None

    def call(self, schema: FunctionSchema, column: Column) -> tuple[Call, SupportCall]:
        """The call of a column, simulated, and as `resolve` takes it. Errors: CallError."""
        if self._given is None:
            self._given = given_tensors(schema)
        takes_device = not self._given and option_argument(schema, "device") is not None
        tensors, contexts, options, values, thread, shown = self.caller.prepared(column, self._given, takes_device)
        simulator = self.caller.simulator(self.name, options) if takes_device else self._plain
        hops, end = simulator.run(values, thread)
        return Call(self.name, tensors, contexts, hops, end, options), shown

    @cached_property
    def _plain(self) -> CallSimulator:
        return self.caller.simulator(self.name)
