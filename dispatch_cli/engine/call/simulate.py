"""Calls of one operator: the kernels that run, and the handler in Python that gets the call.

A tensor that no functorch transform around the call wraps comes from outside of the function: ``torch.vmap(f)(x)``
calls ``f`` with a tensor that is wrapped at the level of the transform.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.engine.call import errors
from dispatch_cli.engine.call.chain import KernelChain
from dispatch_cli.engine.call.kernels.callees import always_called_by, like_result, refused_layout, without_results
from dispatch_cli.engine.call.options import check_options
from dispatch_cli.engine.call.schema_facts import arguments_of, most_tensors
from dispatch_cli.engine.call.step import Followed
from dispatch_cli.engine.call.tensors import TensorMaker, Value, maker_of
from dispatch_cli.engine.call.thread import FAKE_TENSOR, FAKE_TENSOR_MODE, WRAPPER_OF, Contexts, Thread
from dispatch_cli.engine.call.trace import Call, Does, End, EndKind, Why
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.state import State
from dispatch_cli.model.calls.call import Absent, CallError, Context, ContextKind, TensorSpec, Wrapper, WrapperKind
from dispatch_cli.model.calls.options import NO_OPTIONS, Options
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema
from dispatch_cli.model.schema.types import TypeKind
from dispatch_cli.model.universe import Universe

MAX_TENSORS = 1024
HANDLERS = frozenset({FAKE_TENSOR_MODE, FAKE_TENSOR})
"""Classes of known handlers in Python that get a call; at all others, the simulation ends."""


class CallSimulator(KernelChain):
    """Simulates calls of one operator, with the handler in Python that gets them."""

    def end_of(self, followed: Followed) -> End:
        """The end of a call, once a handler in Python has got it, or what its last kernel calls is known."""
        end = followed.end
        if end.kind in (EndKind.KERNEL, EndKind.DECOMPOSITION):
            return self._after_callee(followed)
        if end.kind is not EndKind.HANDLER or end.handler is None or end.handler.name not in HANDLERS:
            return end
        from dispatch_cli.engine.call.fake_dispatch import FakeCall

        return FakeCall(self, followed.values, followed.thread).after(end)

    def _after_callee(self, followed: Followed) -> End:
        """The end of a call, with the error of the operator that its last kernel always calls."""
        last, schema = self.hops[-1], self.operator.schema
        kernel = last.live.kernel
        if kernel is None or last.why not in (Why.BACKEND, Why.CORE_KERNEL):
            return followed.end
        callee = always_called_by(self.dispatcher, self.name, self.operator.tags, kernel.debug)
        if callee is None:
            return followed.end
        layout = refused_layout(callee, followed.values)
        if layout is not None:
            self.hops[-1] = last._replace(does=Does.RAISES)
            return End(EndKind.ERROR, error=errors.layout_of_iterator(layout))
        options = like_result(schema, followed.values, self.options)
        call = CallSimulator(self.state, callee, self.maker, options)
        error = call.run(without_results(schema, followed.values), followed.thread)[1].error
        if error is None or error.type != errors.NOT_IMPLEMENTED:
            return followed.end
        self.hops[-1] = last._replace(does=Does.DECOMPOSES)
        return End(EndKind.ERROR, error=error if error.operator is not None else error._replace(operator=callee))


def simulate(
    state: State | Dispatcher,
    name: OperatorName,
    tensors: Sequence[TensorSpec] = (),
    contexts: Sequence[Context] = (),
    keyset: DispatchKeySet | None = None,
    options: Options = NO_OPTIONS,
) -> Call:
    """Simulate a call of the operator with those tensors, in those contexts.

    state: a dispatcher alone has no Python kernels. contexts: the outermost first.
    keyset: a key set to call with, as a redispatch does: the thread's state and the mask do not count then; without
        tensors, it stands for those, too.
    options: what the operator is given beside tensors. Where a factory is not given an option, the argument's default
        counts, or else PyTorch's: the universe's first device, the layout strided, the dtype float32. A generator
        counts as in an unboxed call.

    Errors: Refused for an unknown operator; CallError for what the universe, the schema or the contexts do not have.
    """
    state = State(state) if isinstance(state, Dispatcher) else state
    dispatcher = state.dispatcher
    maker = maker_of(dispatcher.universe)
    tensors, contexts = tuple(tensors), tuple(contexts)
    schema = dispatcher.operator(name).schema
    most = None if schema is None else most_tensors(schema)
    _check_count(name, tensors, most)
    check_options(maker, name, schema, options)
    _check_absent(name, schema, tensors)
    thread = _entered(maker, contexts)
    values = tuple(make_value(maker, thread, spec) for spec in tensors)
    if keyset is not None and not values and most != 0:
        values = (Value(keyset, str(keyset), None),)
    hops, end = CallSimulator(state, name, maker, options).run(values, thread, keyset)
    return Call(name, tensors, contexts, hops, end, options)


@lru_cache(maxsize=256)
def _entered(maker: TensorMaker, contexts: tuple[Context, ...]) -> Thread:
    return Contexts(maker).enter_all(contexts)


@lru_cache(maxsize=1024)
def make_value(maker: TensorMaker, thread: Thread, spec: TensorSpec) -> Value:
    """The tensor that is meant, on that thread.

    Wrappers without a level belong to the innermost transforms of their kind; those that are left over belong to
    transforms that are over. Tensors are made outside of the contexts, unless they say that they are ``inference``;
    their wrappers, where the transform begins. Errors: CallError.
    """
    value = maker.make(spec)
    for wrapper in wrapper_levels(spec, thread):
        layer = None if wrapper.level is None else thread.layers[wrapper.level - 1]
        value = maker.wrap(value, wrapper, layer is not None and layer.inference)
        kind = None if layer is None else layer.kind
        value = value._replace(needs_gradient=kind is ContextKind.GRAD, has_tangent=kind is ContextKind.JVP)
    return value


def wrapper_levels(spec: TensorSpec, thread: Thread) -> list[Wrapper]:
    """The wrappers with their levels, the innermost first."""
    wrappers: list[Wrapper] = []
    for kind in (WrapperKind.BATCHED, WrapperKind.GRAD, WrapperKind.FUNCTIONAL) if spec.wrappers else ():
        own = [layer.level for layer in thread.layers if WRAPPER_OF[layer.kind] is kind]
        wanted = [wrapper for wrapper in spec.wrappers if wrapper.kind is kind]
        named = [wrapper.level for wrapper in wanted if wrapper.level is not None]
        wrong = next((level for level in named if level not in own), None)
        if wrong is not None:
            message = f"the contexts have no transform at level {wrong} that makes a tensor {kind.value}"
            raise CallError(
                message, str(spec), f"the levels that have one: {', '.join(map(str, own))}" if own else None
            )
        if len(set(named)) < len(named):
            raise CallError(f"a tensor can be {kind.value} only once per level", str(spec))
        free = [level for level in own if level not in named]
        count = len(wanted) - len(named)
        taken = free[len(free) - count :] if count <= len(free) else [None] * (count - len(free)) + free
        wrappers += [Wrapper(kind, level) for level in [*taken, *named]]
    # those of transforms that are over are inside of all others
    return sorted(wrappers, key=lambda wrapper: wrapper.level or 0)


def _check_count(name: OperatorName, tensors: tuple[TensorSpec, ...], most: int | None) -> None:
    limit = MAX_TENSORS if most is None else most
    if len(tensors) > limit:
        takes = f"{limit} tensor{'' if limit == 1 else 's'}"
        raise CallError(f"{name} takes at most {takes}, but got {len(tensors)}", str(tensors[limit]))


def _check_absent(name: OperatorName, schema: FunctionSchema | None, tensors: tuple[TensorSpec, ...]) -> None:
    """Refuse None where a schema has ``Tensor``, since PyTorch makes an undefined tensor of it there."""
    for argument, spec in zip(arguments_of(schema, len(tensors)), tensors, strict=True):
        if spec.absent is Absent.NONE and argument is not None and argument.type.kind is TypeKind.TENSOR:
            message = f"the type of {argument.name!r} in {name} is Tensor, not Tensor?"
            raise CallError(message, str(spec), "PyTorch passes an undefined tensor for None: write `undefined`")


class Unwrapped(NamedTuple):
    """transforms: those that wrap no tensor of the call, the outermost first. tensor: the first one as their input."""

    transforms: tuple[ContextKind, ...]
    tensor: str


def unwrapped(universe: Universe, tensors: Sequence[TensorSpec], contexts: Iterable[Context]) -> Unwrapped | None:
    """Transforms that wrap no tensor; None where each transform wraps one, or there is no tensor. Errors: CallError."""
    given = [spec for spec in tensors if spec.absent is None]
    thread = Contexts(TensorMaker(universe)).enter_all(tuple(contexts))
    if not given or not thread.layers:
        return None
    taken = {wrapper.level for spec in given for wrapper in wrapper_levels(spec, thread)}
    missing = [layer for layer in thread.layers if layer.level not in taken]
    if not missing:
        return None
    kinds = {layer.level: WRAPPER_OF[layer.kind] for layer in thread.layers}
    known = [*kinds.values()]
    added = [
        Wrapper(kinds[layer.level], layer.level if known.count(kinds[layer.level]) > 1 else None) for layer in missing
    ]
    first = given[0]
    return Unwrapped(tuple(layer.kind for layer in missing), str(first._replace(wrappers=(*first.wrappers, *added))))
