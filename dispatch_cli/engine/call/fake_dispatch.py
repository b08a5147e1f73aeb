"""Behaviour of FakeTensorMode for a call that it takes: the path that it chooses, and the outcome.

Source: ``FakeTensorMode._dispatch_impl`` in ``torch/_subclasses/fake_tensor.py``; from PyTorch 2.4 to 2.15 it looks in
the same order. It is followed for a mode without a ShapeEnv, whose tensors have sizes that are numbers and whose
fallbacks are allowed, as ``FakeTensorMode()`` makes one; no tensor is taken to be a constant.
"""

from __future__ import annotations

from collections.abc import Callable

from dispatch_cli.engine.call import errors
from dispatch_cli.engine.call.chain import KernelChain
from dispatch_cli.engine.call.fake_tensor_mode import (
    INPLACE_VIEW,
    LIFTS,
    QUERIES,
    Callee,
    Mismatch,
    foreach_mismatch,
    mismatch,
)
from dispatch_cli.engine.call.kernels.callees import called_by, calls_hidden, calls_more, like_result, without_results
from dispatch_cli.engine.call.schema_facts import arguments_of, has_trivial_fake_impl, makes_a_tensor, takes_device
from dispatch_cli.engine.call.tensors import PYTHON_KEYS, TensorMaker, Value
from dispatch_cli.engine.call.thread import Thread
from dispatch_cli.engine.call.trace import End, EndKind, Error, FakeOutcome, FakePath
from dispatch_cli.engine.dispatcher.fakes import active_fake
from dispatch_cli.model.calls.call import Layout
from dispatch_cli.model.calls.fake_tensor import CONSTRUCTORS, FakeRules, runs_on_zeros
from dispatch_cli.model.calls.options import Options
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema, has_tensors
from dispatch_cli.model.universe import IMPLICIT, META, Universe

MAX_GENERATED = 4
"""Maximum number of generated kernels that call one another."""
Result = tuple[FakeOutcome, Error | None]
Judge = Callable[[Universe, FakeRules, OperatorName, FunctionSchema, tuple[Value, ...]], Mismatch | None]
"""Says whether tensors of different devices fail."""
FOREACH = "aten::_foreach_"
"""Prefix of the operators whose results go to the devices of their lists (``fake_impls.py``)."""
FOREACH_IMPL = "torch._subclasses.fake_impls.foreach_run_and_map_input_device"
DEVICE, META_DEVICE = "device", "meta"
DATA_DEPENDENT, DYNAMIC_SHAPE = "data_dependent_output", "dynamic_output_shape"
_SPARSE = (Layout.SPARSE, Layout.SPARSE_CSR, Layout.SPARSE_CSC, Layout.SPARSE_BSR, Layout.SPARSE_BSC)


def without_python(maker: TensorMaker, thread: Thread) -> Thread:
    """The thread with Python, and all above it, excluded."""
    return thread.exclude(maker.above_python | maker.known(*PYTHON_KEYS))


def zeros_for(maker: TensorMaker, value: Value, inference: bool) -> Value:
    """The zeros that stand for a fake tensor (``run_fallback_kernel``); any other tensor as it is."""
    if value.spec is None or value.spec.fake is None:
        return value
    spec = value.spec._replace(fake=None, requires_grad=False, bits=(), inference=False)
    return maker.make(spec, inference)


class FakeCall:
    """A call that FakeTensorMode takes. values, thread: with which it does."""

    def __init__(self, call: KernelChain, values: tuple[Value, ...], thread: Thread) -> None:
        self.call = call
        self.operator = call.operator
        self.schema, self.tags = call.operator.schema, call.operator.tags
        self.rules = call.state.fake_rules(call.name)
        self.maker, self.options = call.maker, call.options
        self.values = values
        self.thread = thread

    def after(self, end: End) -> End:
        """The end of a call that ended in the mode, or in a fake tensor."""
        outcome, error = self.dispatch()
        kind = end.kind if error is None else EndKind.ERROR
        return end._replace(kind=kind, error=error, fake=outcome)

    @property
    def name(self) -> str:
        """The operator's name."""
        return str(self.operator.name)

    def dispatch(self) -> Result:
        """Outcome of the call, and the error if it fails."""
        ways = (self._before, self._decomposed, self._implemented, self._called)
        return next(result for way in ways if (result := way()) is not None)

    def _before(self) -> Result | None:
        """Questions, and calls without fake tensors."""
        if self.name in QUERIES:
            return FakeOutcome(FakePath.QUERY), None
        fakes = any(value.spec is not None and value.spec.fake is not None for value in self.values)
        numbers = Callee.of(self.operator.name).takes_numbers
        if not fakes and (self.name in LIFTS or (numbers and has_tensors(self.schema))):
            return FakeOutcome(FakePath.CONSTANT), None
        return None

    def _decomposed(self) -> Result | None:
        """Decompositions, of which the mode takes none where there is a Python meta function; then primitives."""
        if not self.rules.no_decomposition:
            sparse = any(value.spec is not None and value.spec.layout in _SPARSE for value in self.values)
            if self.rules.decomposition is not None and not sparse:
                return FakeOutcome(FakePath.DECOMPOSITION, self.rules.decomposition), None
            composite = self.operator.active(IMPLICIT)
            if (function := self.call.python.get(IMPLICIT)) is not None:
                return FakeOutcome(FakePath.COMPOSITE, function, IMPLICIT), None
            if composite is not None:
                kernel = composite.kernel
                error = errors.fallthrough_called() if kernel.fallthrough else None
                return FakeOutcome(FakePath.COMPOSITE, None, IMPLICIT, kernel.debug, span=kernel.span), error
        if self.rules.prim_meta is not None:
            return FakeOutcome(FakePath.PRIM_META, self.rules.prim_meta), None
        return None

    def _implemented(self) -> Result | None:
        """The fake implementation, then the mode's own functions."""
        registration = active_fake(self.operator)
        if registration is not None and registration.kernel.fake is not None:
            return self._fake_impl(registration.kernel)
        rules = self.rules
        if rules.implementation is not None:
            outcome = FakeOutcome(FakePath.IMPLEMENTATION, rules.implementation)
            raised = rules.raises
            if rules.implementation == CONSTRUCTORS:
                return self._constructed()
            return outcome, None if raised is None else errors.of_fake_mode(raised, self.operator.name)
        if makes_a_tensor(self.schema):
            return self._constructed()
        if DYNAMIC_SHAPE in self.tags or DATA_DEPENDENT in self.tags:
            needed = errors.DYNAMIC_SHAPE if DYNAMIC_SHAPE in self.tags else errors.DATA_DEPENDENT
            return FakeOutcome(FakePath.IMPLEMENTATION), errors.of_fake_mode(needed, self.operator.name)
        if self.name.startswith(FOREACH) and self._has_meta():
            outcome, error = self._meta()
            if error is None or error.type != errors.NOT_IMPLEMENTED:
                result = self._on_one_device(foreach_mismatch, outcome, error)
                return result[0]._replace(path=FakePath.IMPLEMENTATION, function=FOREACH_IMPL), result[1]
        return None

    def _constructed(self) -> Result:
        """``constructors``: the operator is called with the device ``meta``.

        Where it does not take a device, some versions of PyTorch call it without one, and the others fail.
        """
        schema, outcome = self.schema, FakeOutcome(FakePath.IMPLEMENTATION, CONSTRUCTORS)
        options = self.options._replace(device=META_DEVICE)
        if schema is not None and self.maker.universe.fake_without_device:
            options = options if takes_device(schema) else self.options
        elif schema is not None and all(argument.name != DEVICE for argument in schema.arguments):
            return outcome, errors.one_too_many(schema)
        inner, error = self._meta(options)
        return inner._replace(path=outcome.path, function=outcome.function), error

    def _fake_impl(self, kernel: Kernel) -> Result:
        function = kernel.shown_function if kernel.function_name is not None else None
        outcome = FakeOutcome(FakePath.FAKE_IMPL, function, META, kernel.debug, span=kernel.span)
        if function is not None:
            return outcome, None
        if self._is_trivial():
            return outcome._replace(path=FakePath.TRIVIAL), None
        return outcome, errors.no_fake_impl(self.operator.name)

    def _called(self) -> Result:
        """The call at Meta; what is done where there is no kernel."""
        if not self._has_meta() or self._is_refused():
            return self._unsafe(None)
        outcome, error = self._meta()
        if error is not None and error.type == errors.NOT_IMPLEMENTED:
            left, error = self._unsafe(error)
            return left._replace(slots=left.slots or outcome.slots), error
        return self._on_one_device(mismatch, outcome, error)

    def _on_one_device(self, judge: Judge, outcome: FakeOutcome, error: Error | None) -> Result:
        """The result of a call at Meta becomes fake tensors of one device."""
        if error is not None or self.schema is None:
            return outcome, error
        mismatch = judge(self.maker.universe, self.rules, self.operator.name, self.schema, self.values)
        if mismatch is None:
            return outcome, None
        return outcome._replace(zero_dim_works=mismatch.zero_dim_works), mismatch.error

    def _is_refused(self) -> bool:
        """True if the Python meta function raises NotImplementedError for an argument that is given."""
        arguments = zip(arguments_of(self.schema, len(self.values)), self.values, strict=True)
        refused = self.rules.meta_refuses
        return any(item is not None and item.name in refused and not value.is_absent for item, value in arguments)

    def _has_meta(self) -> bool:
        """``has_meta``: the live table has something at Meta, a fallback perhaps."""
        return self.operator.live[META].kernel is not None

    def _meta(self, options: Options | None = None) -> Result:
        """The call inside of ``in_kernel_invocation_manager``: Python excluded, Meta included."""
        thread = without_python(self.maker, self.thread).include(self.maker.known(META))
        return self._run(FakePath.META, self.values, thread, options or self.options)

    def _run(self, path: FakePath, values: tuple[Value, ...], thread: Thread, options: Options) -> Result:
        """A call inside of the mode. Of a generated kernel, the operator that it calls is called in its turn."""
        name, tags, schema = self.operator.name, self.tags, self.schema
        hops, end = KernelChain(self.call.state, name, self.maker, options).run(values, thread)
        last, error = hops[-1], end.error
        kernel, called, first = last.live.kernel, (name, tags), (last.slot, last.live)
        outcome = FakeOutcome(
            path, None, last.slot, None if kernel is None else kernel.debug, tuple(h.slot for h in hops)
        )
        outcome = outcome if kernel is None else outcome._replace(span=kernel.span)
        for _ in range(MAX_GENERATED):
            other = None if kernel is None else called_by(self.call.dispatcher, name, tags, kernel.debug)
            if error is not None or other is None:
                break
            options = like_result(schema, values, options)
            values = without_results(schema, values)
            if path is FakePath.META:  # what a kernel makes is on the device of the tensors that it is given
                options = options._replace(device=META_DEVICE)
            hops, end = KernelChain(self.call.state, other, self.maker, options).run(values, thread)
            if end.error is not None and end.error.type == errors.NOT_IMPLEMENTED:
                error = end.error
            last, name = hops[-1], other
            kernel = last.live.kernel
            operator = self.call.dispatcher.operator(other)
            tags, schema = operator.tags, operator.schema
        if path is FakePath.META and error is None:
            hidden = calls_hidden(last.slot, last.live) or (calls_more(*called) and calls_hidden(*first))
            outcome = outcome._replace(followed=not hidden)
        return outcome, error

    def _unsafe(self, error: Error | None) -> Result:
        """``maybe_run_unsafe_fallback``. error: of the call at Meta."""
        if self._is_trivial():
            return FakeOutcome(FakePath.TRIVIAL), None
        name = self.operator.name
        unsupported = errors.of_fake_mode(errors.UNSUPPORTED, name)
        if not runs_on_zeros(self.maker.universe, name):
            return FakeOutcome(FakePath.NONE), unsupported
        if INPLACE_VIEW in self.tags:
            return FakeOutcome(FakePath.FALLBACK), error or unsupported
        values = tuple(zeros_for(self.maker, value, self.thread.inference) for value in self.values)
        return self._run(FakePath.FALLBACK, values, without_python(self.maker, self.thread), self.options)

    def _is_trivial(self) -> bool:
        return has_trivial_fake_impl(self.operator.name, self.schema, self.tags)
