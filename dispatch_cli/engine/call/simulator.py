"""Calls of one operator: the kernels that run, and what FakeTensorMode does where it takes the call."""

from __future__ import annotations

from dispatch_cli.engine.call.chain import KernelChain
from dispatch_cli.engine.call.fake_dispatch import FakeCall
from dispatch_cli.engine.call.fake_tensor_mode import FAKE_TENSOR
from dispatch_cli.engine.call.tensors import TensorMaker, Value
from dispatch_cli.engine.call.thread import FAKE_TENSOR_MODE, Thread
from dispatch_cli.engine.call.trace import End, EndKind, Hop
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.fake_tensor import NO_FAKE_RULES, FakeRules
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import NO_OPTIONS, Options


class CallSimulator:
    """Simulates calls of one operator.

    python: its kernels for the Python dispatcher, by dispatch key. options: what it is given beside tensors.
    fake_rules: what FakeTensorMode asks for, beside its kernels.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        name: OperatorName,
        maker: TensorMaker,
        python: dict[str, str],
        options: Options = NO_OPTIONS,
        fake_rules: FakeRules = NO_FAKE_RULES,
    ) -> None:
        self._dispatcher = dispatcher
        self._operator = dispatcher.operator(name)
        self._maker = maker
        self._python = python
        self._options = options
        self._fake_rules = fake_rules
        self._chain = KernelChain(dispatcher, name, maker, python, options)

    @classmethod
    def of(cls, state: State, name: OperatorName, maker: TensorMaker, options: Options = NO_OPTIONS) -> CallSimulator:
        """A simulator of calls in a state. Errors: Refused for an unknown operator."""
        python = {kernel.dispatch_key: kernel.kernel for kernel in state.python_kernels(name)}
        return cls(state.dispatcher, name, maker, python, options, state.fake_rules(name))

    def run(
        self, values: tuple[Value, ...], thread: Thread, given: DispatchKeySet | None = None
    ) -> tuple[tuple[Hop, ...], End]:
        """Call the operator. given: a key set in the place of the one that tensors and thread make."""
        hops, end, values, thread, later = self._chain.run(values, thread, given)
        handler = end.handler
        if end.kind is EndKind.HANDLER and handler is not None and handler.name in (FAKE_TENSOR_MODE, FAKE_TENSOR):
            outcome, error = FakeCall(
                *(self._dispatcher, self._operator, self._fake_rules, self._python, self._maker),
                *(values, thread, self._options),
            ).dispatch()
            end = end._replace(fake=outcome)
            if error is not None:
                end = end._replace(kind=EndKind.ERROR, error=error)
        if later is not None and _computes(end):
            end = End(EndKind.ERROR, error=later, fake=end.fake)
        return hops, end


def _computes(end: End) -> bool:
    """True if the operator has a result, in FakeTensorMode perhaps."""
    computed = end.fake is not None and end.error is None
    return computed or end.kind in (EndKind.KERNEL, EndKind.DECOMPOSITION)
