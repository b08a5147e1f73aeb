"""The calls behind the cells: which tensors an operator is given in a context, and the call simulated."""

from __future__ import annotations

from dispatch_cli.engine.call.options import option_argument
from dispatch_cli.engine.call.simulate import make_value
from dispatch_cli.engine.call.simulator import CallSimulator
from dispatch_cli.engine.call.tensors import TensorMaker, Value
from dispatch_cli.engine.call.thread import Contexts, Thread
from dispatch_cli.engine.call.trace import Call
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.support.cell import Column, SupportCall, SupportContext
from dispatch_cli.model.call import Absent, Context, ContextKind, TensorSpec, Wrapper, WrapperKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import NO_OPTIONS, Options
from dispatch_cli.model.schema import FunctionSchema, TypeKind
from dispatch_cli.model.schema.arguments import is_tensor, takes_tensors

FAKE_MODE = Context(ContextKind.MODE, name="FakeTensorMode")
_ABSENT = TensorSpec(absent=Absent.NONE)


def tensors_of(schema: FunctionSchema, spec: TensorSpec) -> tuple[TensorSpec, ...]:
    """A tensor for each argument that must have one; where all are optional, for the first. A list has one."""
    taking = [argument for argument in schema.arguments if takes_tensors(argument)]
    needed = [argument.type.kind is not TypeKind.OPTIONAL for argument in taking]
    if needed and not any(needed):
        needed[0] = True
    last = max((at for at, is_needed in enumerate(needed) if is_needed), default=-1)
    given: list[TensorSpec] = []
    for argument, is_needed in zip(taking[: last + 1], needed, strict=False):
        if is_needed:
            given.append(spec)
        elif is_tensor(argument.type):
            given.append(_ABSENT)
    return tuple(given)


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


class Caller:
    """Makes the calls of one state: threads and tensors are made once for all operators."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._maker = TensorMaker(state.dispatcher.universe)
        self._made: dict[tuple[tuple[Context, ...], TensorSpec], tuple[Thread, Value]] = {}

    def of(self, name: OperatorName) -> OperatorCaller:
        """The calls of one operator."""
        return OperatorCaller(self, name)

    def simulator(self, name: OperatorName, options: Options = NO_OPTIONS) -> CallSimulator:
        """A simulator of calls of an operator."""
        state = self.state
        python = {kernel.dispatch_key: kernel.kernel for kernel in state.python_kernels(name)}
        return CallSimulator(state.dispatcher, name, self._maker, python, options, state.fake_rules(name))

    def thread_and_value(self, contexts: tuple[Context, ...], spec: TensorSpec) -> tuple[Thread, Value]:
        """The thread in those contexts, and that tensor on it. Errors: CallError."""
        pair = self._made.get((contexts, spec))
        if pair is None:
            thread = Contexts(self._maker).enter_all(contexts)
            pair = self._made[contexts, spec] = thread, make_value(self._maker, thread, spec)
        return pair


class OperatorCaller:
    """Makes the calls of one operator."""

    def __init__(self, caller: Caller, name: OperatorName) -> None:
        self.caller = caller
        self.name = name
        self._plain = caller.simulator(name)

    def call(self, schema: FunctionSchema, column: Column) -> tuple[Call, SupportCall]:
        """The call of a column, simulated, and as `resolve` takes it. Errors: CallError."""
        spec, contexts = spec_of(column), contexts_of(column)
        tensors = tensors_of(schema, spec)
        takes_device = not tensors and option_argument(schema, "device") is not None
        options = Options(device=column.device) if takes_device else NO_OPTIONS
        simulator = self.caller.simulator(self.name, options) if takes_device else self._plain
        thread, _ = self.caller.thread_and_value(contexts, spec)
        values = tuple(self.caller.thread_and_value(contexts, tensor)[1] for tensor in tensors)
        hops, end = simulator.run(values, thread)
        texts = tuple(f"{option}={value}" for option, value in options.given)
        call = Call(self.name, tensors, contexts, hops, end, options)
        return call, SupportCall(tuple(map(str, tensors)), tuple(map(str, contexts)), texts)
