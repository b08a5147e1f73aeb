"""Handlers of a call of a higher-order operator where modes, tensor subclasses or functorch's transforms are asked.

Dispatch does not compare fake modes; tracing does (``torch._guards.detect_fake_mode``): it looks at the active modes
from the innermost on, then at the inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dispatch_cli.engine.call.fake_tensor_mode import TENSOR, Callee, class_of, passes_on, refusal
from dispatch_cli.engine.call.higher_order import errors
from dispatch_cli.engine.call.higher_order.trace import AskedHandler, Asker, HandlerAnswer
from dispatch_cli.engine.call.tensors import PYTHON_KEYS, TensorMaker, Value
from dispatch_cli.engine.call.thread import FAKE_TENSOR, FAKE_TENSOR_MODE, WRAPPER_OF, Layer, Mode, Thread
from dispatch_cli.engine.call.trace import Error, Handler, HandlerKind
from dispatch_cli.engine.python.higher_order import HigherOrderTable
from dispatch_cli.model.calls.call import ContextKind
from dispatch_cli.model.higher_order import TRANSFORMS, HigherOrderImpl, ImplKind, ModeType
from dispatch_cli.model.universe import BACK, FRONT, PYTHON

REDIRECT_TO_MODE = "redirect_to_mode"
"""PyTorch's helper that gives a call to the mode's ``__torch_dispatch__`` (``torch/_higher_order_ops/utils.py``)."""
_TRANSFORM_OF = {
    ContextKind.VMAP: "Vmap",
    ContextKind.GRAD: "Grad",
    ContextKind.JVP: "Jvp",
    ContextKind.FUNCTIONALIZE: "Functionalize",
}
FUNCTIONAL_CLASS = "FunctionalTensor"


class Handling(NamedTuple):
    """The result of asking the handlers.

    impl: what runs; handler: the ``__torch_dispatch__`` that gets the call; error: when there is neither.
    thread: on which the implementation runs. takes_off: the mode or transform that is taken off for it.
    layer: that transform; its wrappers are taken off tensors when the implementation calls the operator again.
    not_implemented: NotImplemented is what the call returns, because no other handler is asked after this one.
    """

    asked: tuple[AskedHandler, ...]
    impl: HigherOrderImpl | None = None
    handler: Handler | None = None
    error: Error | None = None
    thread: Thread | None = None
    takes_off: str | None = None
    layer: Layer | None = None
    not_implemented: bool = False

    def unwrapped(self, values: tuple[Value, ...]) -> tuple[Value, ...] | None:
        """The tensors without the wrappers of the transform that was taken off; None when none was."""
        if self.layer is None:
            return None
        kind, level = WRAPPER_OF[self.layer.kind], self.layer.level
        return tuple(
            value.inner
            if value.wrapper is not None and value.wrapper == (kind, level) and value.inner is not None
            else value
            for value in values
        )


class Handlers:
    """Asks in turn, for one operator."""

    def __init__(self, table: HigherOrderTable, modes: Mapping[str, ModeType], maker: TensorMaker) -> None:
        self._table = table
        self._name = table.operator.name
        self._modes = modes
        self._maker = maker
        self._calls = table.universe.higher_order_calls

    def at_python_key(self, values: tuple[Value, ...], thread: Thread) -> Handling:
        """The innermost mode, then the tensors with a ``__torch_dispatch__``, in order."""
        mode = thread.mode
        asked: tuple[AskedHandler, ...] = ()
        if mode is not None:
            handling = self._mode(mode, values, thread)
            if handling.error is not None or handling.impl is not None or handling.handler is not None:
                return handling
            asked = handling.asked
            if self._calls.unhandled is None:  # no subclass is asked then
                return Handling(asked, asked[-1].impl, thread=thread, not_implemented=True)
        return self.after_mode(values, thread, mode, asked)

    def _mode(self, mode: Mode, values: tuple[Value, ...], thread: Thread) -> Handling:
        impl = self._table.modes.get(mode.name)
        inside = without(thread, mode, self._maker)
        if impl is None:
            kind = self._modes.get(mode.name)
            if self._calls.modes_handle and kind is not None and kind.supports_higher_order_operators:
                asked = AskedHandler(Asker.MODE_ITSELF, mode.name, mode.position, HandlerAnswer.HANDLES)
                handler = Handler(HandlerKind.MODE, mode.name, mode.position)
                return Handling((asked,), handler=handler, thread=inside, takes_off=mode.name)
            asked = AskedHandler(Asker.MODE, mode.name, mode.position, HandlerAnswer.NO_IMPL)
            return Handling((asked,), error=errors.no_rule_for_mode(self._calls, self._name, mode.name))
        refuses = _refuses(impl, values)
        answer = HandlerAnswer.NOT_IMPLEMENTED if refuses else HandlerAnswer.HANDLES
        asked = AskedHandler(Asker.MODE, mode.name, mode.position, answer, impl)
        if refuses:
            return Handling((asked,))
        handling = self._by_mode_rule(mode, impl, asked, inside)
        return self._by_fake_mode(handling, mode.instance or "", values) if mode.name == FAKE_TENSOR_MODE else handling

    def _by_mode_rule(self, mode: Mode, impl: HigherOrderImpl, asked: AskedHandler, inside: Thread) -> Handling:
        handler = Handler(HandlerKind.MODE, mode.name, mode.position) if _redirects(impl) else None
        return Handling((asked,), impl, handler, None, inside, mode.name)

    def _by_fake_mode(self, handling: Handling, name: str, values: tuple[Value, ...]) -> Handling:
        """An implementation for FakeTensorMode gets the call; if it hands it to the mode, the mode may refuse it."""
        if handling.handler is None:
            return handling
        return handling._replace(error=refusal(name, values, Callee(self._name, f"{self._name}(")))

    def after_mode(
        self, values: tuple[Value, ...], thread: Thread, mode: Mode | None, asked: tuple[AskedHandler, ...]
    ) -> Handling:
        """The tensors with a ``__torch_dispatch__``, in order. asked: who has passed the call on before."""
        overloaded = [(position, value) for position, value in enumerate(values, start=1) if value.has(PYTHON)]
        for position, value in overloaded:
            name = class_of(value)
            if name == FAKE_TENSOR and self._calls.fakes_by_mode:
                return self._fake_tensor(position, value, values, thread, asked)
            impl = self._table.subclasses.get(name)
            if impl is None:
                last = AskedHandler(Asker.SUBCLASS, name, position, HandlerAnswer.NO_IMPL)
                return Handling((*asked, last), error=errors.no_rule_for_subclass(self._calls, self._name, name))
            if not impl.not_implemented:
                last = AskedHandler(Asker.SUBCLASS, name, position, HandlerAnswer.HANDLES, impl)
                return Handling((*asked, last), impl, thread=thread)
            asked = (*asked, AskedHandler(Asker.SUBCLASS, name, position, HandlerAnswer.NOT_IMPLEMENTED, impl))
        shown = [class_of(value) for _, value in overloaded]
        error = errors.nobody_handles(self._calls, self._name, mode.name if mode is not None else None, shown)
        return Handling(asked, error=error)

    def _fake_tensor(
        self, position: int, value: Value, values: tuple[Value, ...], thread: Thread, asked: tuple[AskedHandler, ...]
    ) -> Handling:
        """A fake tensor's mode is not active, or has passed the call on: its implementation decides."""
        impl = self._table.modes.get(FAKE_TENSOR_MODE)
        if impl is None:
            last = AskedHandler(Asker.FAKE_TENSOR, FAKE_TENSOR, position, HandlerAnswer.NO_IMPL)
            return Handling((*asked, last), error=errors.no_rule_for_fake_tensor())
        if _redirects(impl) and any(mode.name == FAKE_TENSOR_MODE for mode in thread.modes):
            last = AskedHandler(Asker.FAKE_TENSOR, FAKE_TENSOR, position, HandlerAnswer.HANDLES, impl)
            return Handling((*asked, last), impl, error=errors.fake_mode_is_set(self._name))
        refuses = _refuses(impl, values)
        answer = HandlerAnswer.NOT_IMPLEMENTED if refuses else HandlerAnswer.HANDLES
        last = AskedHandler(Asker.FAKE_TENSOR, FAKE_TENSOR, position, answer, impl)
        handler = Handler(HandlerKind.SUBCLASS, FAKE_TENSOR_MODE, position) if _redirects(impl) else None
        handling = Handling((*asked, last), impl, None if refuses else handler, thread=thread, not_implemented=refuses)
        assert value.spec is not None and value.spec.fake is not None, "it is a fake tensor"
        return self._by_fake_mode(handling, value.spec.fake, values)

    def of_transform(self, thread: Thread) -> Handling:
        """The innermost functorch transform."""
        if not thread.layers:
            return Handling((), error=errors.no_transform())
        layer = thread.layers[-1]
        name = _TRANSFORM_OF[layer.kind]
        impl = self._table.transforms.get(name)
        if impl is None:
            asked = AskedHandler(Asker.TRANSFORM, name, None, HandlerAnswer.NO_IMPL)
            return Handling((asked,), error=errors.no_rule_for_transform(name, TRANSFORMS.index(name)))
        inside = thread._replace(layers=thread.layers[:-1])
        if not inside.layers:
            inside = inside.without_included(self._maker.known(FRONT, BACK))
        asked = AskedHandler(Asker.TRANSFORM, name, None, HandlerAnswer.HANDLES, impl)
        return Handling((asked,), impl, thread=inside, takes_off=name, layer=layer)

    def before_dispatch(self, values: tuple[Value, ...], thread: Thread) -> Handling | None:
        """The innermost mode of the PreDispatch stack; None when none is asked."""
        if not thread.pre_dispatch_modes or thread.keys.excluded.has(PYTHON):
            return None
        mode = thread.pre_dispatch_modes[-1]
        impl = self._table.modes.get(mode.name)
        if impl is None:
            asked = AskedHandler(Asker.PRE_DISPATCH_MODE, mode.name, mode.position, HandlerAnswer.NO_IMPL)
            return Handling((asked,), error=errors.not_registered(mode.name))
        inside = thread.without_pre_dispatch_mode(self._maker.known("PreDispatch"))
        refuses = _refuses(impl, values)
        answer = HandlerAnswer.NOT_IMPLEMENTED if refuses else HandlerAnswer.HANDLES
        asked = AskedHandler(Asker.PRE_DISPATCH_MODE, mode.name, mode.position, answer, impl)
        return self._by_mode_rule(mode, impl, asked, inside)._replace(not_implemented=refuses)


def _refuses(impl: HigherOrderImpl, values: tuple[Value, ...]) -> bool:
    """True if a mode's implementation returns NotImplemented."""
    if impl.kind is ImplKind.FUNCTIONALIZE and _has_user_subclass(values):
        return True
    if impl.name == FAKE_TENSOR_MODE and _redirects(impl) and passes_on(values):
        return True
    return impl.not_implemented


def _has_user_subclass(values: tuple[Value, ...]) -> bool:
    """True if functionalization passes the call on, as its wrapper does for subclasses that it does not know."""
    return any(class_of(value) not in (TENSOR, FAKE_TENSOR, FUNCTIONAL_CLASS) for value in values)


def _redirects(impl: HigherOrderImpl) -> bool:
    """True if the implementation is made by the helper that gives the call to the mode itself."""
    return REDIRECT_TO_MODE in impl.kernel.split(".")


def without(thread: Thread, mode: Mode, maker: TensorMaker) -> Thread:
    """The thread while *mode* is taken off; with the last mode the Python keys go, too."""
    rest = thread._replace(modes=tuple(other for other in thread.modes if other != mode))
    return rest if rest.modes else rest.without_included(maker.known(*PYTHON_KEYS))
