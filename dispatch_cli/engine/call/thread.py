"""The thread that a call is made on: included and excluded keys, modes, functorch's transforms; what contexts change.

Sources: ``c10/core/impl/LocalDispatchKeySet.h``, ``InferenceMode.h``, ``TorchDispatchModeTLS.cpp``,
``functorch/DynamicLayer.cpp``, ``torch/csrc/autograd/init.cpp``.
"""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.call.tensors import PYTHON_KEYS, TensorMaker
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.calls.call import CallError, Context, ContextKind, WrapperKind
from dispatch_cli.model.text.suggest import suggestion
from dispatch_cli.model.universe import (
    AD_INPLACE_OR_VIEW,
    BACK,
    FRONT,
    FUNCTIONALIZE,
    PRE_DISPATCH,
    PYTHON_DISPATCHER,
    autocast_key_of,
)

WRAPPER_OF = {
    ContextKind.VMAP: WrapperKind.BATCHED,
    ContextKind.GRAD: WrapperKind.GRAD,
    ContextKind.JVP: WrapperKind.GRAD,
    ContextKind.FUNCTIONALIZE: WrapperKind.FUNCTIONAL,
}
"""The wrappers that functorch's transforms make."""
GRADS = frozenset({ContextKind.GRAD, ContextKind.JVP})
"""The transforms by autograd."""
MAX_CONTEXTS = 256
INFRA_MODES = ("FakeTensorMode", "ProxyTorchDispatchMode", "FunctionalTensorMode")
"""Modes with a place of their own (``TorchDispatchModeKey``), in order; they come after all others, the last first."""
PRE_DISPATCH_MODES = ("ProxyTorchDispatchMode", "FunctionalTensorMode", "SchemaCheckMode")
"""Modes that can be on the stack of PreDispatch, the innermost last; the last one only alone.

Source: ``torch._ops._ModeStackStateForPreDispatch``.
"""
FAKE_TENSOR_MODE, PROXY_MODE, FUNCTIONAL_TENSOR_MODE = INFRA_MODES
FAKE_TENSOR = "FakeTensor"
"""The class of the tensors that FakeTensorMode makes."""


class Mode(NamedTuple):
    """An active ``TorchDispatchMode``. instance: which one of its class. position: of its context, from 1."""

    name: str
    instance: str | None
    position: int


class LocalKeys(NamedTuple):
    """The thread's included and excluded keys."""

    included: DispatchKeySet
    excluded: DispatchKeySet


class Layer(NamedTuple):
    """A functorch transform that is active. kind: VMAP, GRAD, JVP or FUNCTIONALIZE. level: 1 for the outermost.

    inference: whether inference mode is on inside of it. gradients: whether grad mode was on outside of it.
    saved: the keys of the moment when it took over the call that is going on.
    """

    kind: ContextKind
    level: int
    inference: bool = False
    gradients: bool = True
    saved: LocalKeys | None = None


class Thread(NamedTuple):
    """The state of a thread.

    keys: included and excluded. inference: inference mode is on. modes: in the order in which they were entered.
    layers: functorch's, the outermost first. python_dispatcher: it has been enabled.
    snapshot: PyTorch has taken note of the keys on the way to Python.
    pre_dispatch_modes: those of the PreDispatch key, the innermost last. gradients: grad mode is on.
    """

    keys: LocalKeys
    inference: bool = False
    modes: tuple[Mode, ...] = ()
    layers: tuple[Layer, ...] = ()
    python_dispatcher: bool = False
    snapshot: bool = False
    pre_dispatch_modes: tuple[Mode, ...] = ()
    gradients: bool = True

    @property
    def stack(self) -> tuple[Mode, ...]:
        """The active modes, the innermost last.

        Modes of the kinds that have a place of their own lie below all others, whatever the order in which they were
        entered (``c10/core/impl/TorchDispatchModeTLS.cpp``).
        """
        placed = [mode for mode in self.modes if mode.name in INFRA_MODES]
        others = [mode for mode in self.modes if mode.name not in INFRA_MODES]
        return (*sorted(placed, key=lambda mode: INFRA_MODES.index(mode.name)), *others)

    @property
    def mode(self) -> Mode | None:
        """The mode that gets a call first."""
        return self.stack[-1] if self.modes else None

    def include(self, *sets: DispatchKeySet) -> Thread:
        """The thread with those keys included, too."""
        included = self.keys.included
        for keys in sets:
            included |= keys
        return self._replace(keys=self.keys._replace(included=included))

    def exclude(self, keys: DispatchKeySet) -> Thread:
        """The thread with those keys excluded, too."""
        return self._replace(keys=self.keys._replace(excluded=self.keys.excluded | keys))

    def without_pre_dispatch_mode(self, key: DispatchKeySet) -> Thread:
        """While the innermost mode of the PreDispatch stack is taken off; with the last one its key goes, too."""
        rest = self._replace(pre_dispatch_modes=self.pre_dispatch_modes[:-1])
        return rest if rest.pre_dispatch_modes else rest.without_included(key)

    def without_included(self, keys: DispatchKeySet) -> Thread:
        """The thread with those keys no longer included."""
        return self._replace(keys=self.keys._replace(included=self.keys.included - keys))


class Contexts:
    """Enters contexts on the threads of one universe."""

    def __init__(self, maker: TensorMaker) -> None:
        self.maker = maker
        self.universe = maker.universe

    def fresh(self) -> Thread:
        """A thread on which nothing has happened."""
        included = DispatchKeySet.of(self.universe, self.universe.default_included)
        return Thread(LocalKeys(included, DispatchKeySet.of(self.universe, self.universe.default_excluded)))

    def enter_all(self, contexts: tuple[Context, ...]) -> Thread:
        """A thread in those contexts, the outermost first. Errors: CallError."""
        if len(contexts) > MAX_CONTEXTS:
            raise CallError(f"more than {MAX_CONTEXTS} contexts", str(contexts[MAX_CONTEXTS]))
        thread = self.fresh()
        for position, context in enumerate(contexts, start=1):
            thread = self.enter(thread, context, position)
        return thread

    def enter(self, thread: Thread, context: Context, position: int = 1) -> Thread:
        """The thread inside of *context*. Errors: CallError."""
        known, needed = self.maker.known, self._needed
        match context.kind:
            case ContextKind.MODE:
                return self._push_mode(thread, context, position)
            case ContextKind.PRE_DISPATCH_MODE:
                return self._push_pre_dispatch_mode(thread, context, position)
            case ContextKind.AUTOCAST:
                return self._autocast(thread, context)
            case ContextKind.INFERENCE_MODE:
                return self._inference_mode(thread, context)
            case ContextKind.NO_GRAD | ContextKind.ENABLE_GRAD:
                return thread._replace(gradients=context.kind is ContextKind.ENABLE_GRAD)
            case ContextKind.BELOW_AUTOGRAD:
                return thread.exclude(self.maker.autograd_keys)
            case ContextKind.BELOW_AD_INPLACE_OR_VIEW:
                return thread.exclude(self.maker.autograd_keys | known(AD_INPLACE_OR_VIEW))
            case ContextKind.ENABLE_FUNCTIONALIZATION:
                if thread.keys.included.has(FUNCTIONALIZE):
                    raise CallError("functionalization is enabled already, and cannot be enabled twice", str(context))
                return thread.include(needed(context, FUNCTIONALIZE))
            case ContextKind.SUSPEND_FUNCTIONALIZATION:
                return thread.without_included(known(FUNCTIONALIZE))
            case ContextKind.PYTHON_DISPATCHER:
                return thread._replace(python_dispatcher=True).include(needed(context, PYTHON_DISPATCHER))
            case ContextKind.NO_PYTHON_DISPATCHER:
                return thread._replace(python_dispatcher=False).without_included(known(PYTHON_DISPATCHER))
            case ContextKind.PRE_DISPATCH:
                return thread.include(needed(context, PRE_DISPATCH))
            case ContextKind.INCLUDE:
                return thread.include(self.keys(context))
            case ContextKind.EXCLUDE:
                return thread.exclude(self.keys(context))
            case _:
                return self._push_layer(thread, context.kind)

    def keys(self, context: Context) -> DispatchKeySet:
        """The set of the keys that a context names. Errors: CallError."""
        known = self.maker.known
        for key in context.keys:
            if self.universe.is_alias(key):
                message = f"{key} is an alias key, which cannot be in a key set of the universe {self.universe.name}"
                covered = self.universe.covered_by(key)
                hint = f"give keys that it covers, such as {covered[0]}" if covered else None
                raise CallError(message, str(context), hint)
            if key not in self.universe.ids:
                names = [name for name in self.universe.ids if not self.universe.is_alias(name)]
                message = f"{key} is not a key of the universe {self.universe.name}"
                raise CallError(message, str(context), suggestion(key, names))
        return known(*context.keys)

    def _push_mode(self, thread: Thread, context: Context, position: int) -> Thread:
        assert context.name is not None, "a mode has a name"
        mode = Mode(context.name, context.instance, position)
        others = thread.modes
        if context.name in INFRA_MODES and any(other.name == mode.name for other in others):
            # there is one place for each; a second one of functionalization does nothing
            if context.name == FUNCTIONAL_TENSOR_MODE:
                return thread
            others = tuple(other for other in others if other.name != context.name)
        return thread._replace(modes=(*others, mode)).include(self._needed(context, *PYTHON_KEYS))

    def _push_layer(self, thread: Thread, kind: ContextKind) -> Thread:
        if self.universe.grad_ends_inference and kind in GRADS:
            thread = thread._replace(inference=False)
        layer = Layer(kind, len(thread.layers) + 1, thread.inference, thread.gradients)
        if kind is ContextKind.GRAD:  # it turns grad mode on
            thread = thread._replace(gradients=True)
        return thread._replace(layers=(*thread.layers, layer)).include(self._needed(Context(kind), FRONT, BACK))

    def _needed(self, context: Context, *keys: str) -> DispatchKeySet:
        for key in keys:
            self.maker.key(key, str(context))
        return self.maker.known(*keys)

    def _autocast(self, thread: Thread, context: Context) -> Thread:
        device_key = self.maker.device_key(context.device, str(context))
        key = autocast_key_of(self.universe, device_key)
        if key is None:
            devices = [name for name, other in self.universe.devices.items() if autocast_key_of(self.universe, other)]
            message = f"the universe {self.universe.name} has no autocast for {context.device!r}"
            raise CallError(f"{message} (it has autocast for {', '.join(devices)})", str(context))
        excluded = thread.keys.excluded
        excluded = excluded.remove(key) if context.enabled else excluded.add(key)
        return thread._replace(keys=thread.keys._replace(excluded=excluded))

    def _inference_mode(self, thread: Thread, context: Context) -> Thread:
        if not context.enabled:
            keys = LocalKeys(thread.keys.included, thread.keys.excluded - self.maker.autograd_keys)
            thread = thread._replace(keys=keys, inference=False, gradients=True)
            return thread.include(self.maker.known(AD_INPLACE_OR_VIEW))
        thread = thread.without_included(self.maker.known(AD_INPLACE_OR_VIEW)).exclude(self.maker.autograd_keys)
        return thread._replace(inference=True, gradients=False)

    def _push_pre_dispatch_mode(self, thread: Thread, context: Context, position: int) -> Thread:
        assert context.name is not None, "a mode has a name"
        if context.name not in PRE_DISPATCH_MODES:
            message = f"{context.name} is not a mode for PreDispatch; these are: {', '.join(PRE_DISPATCH_MODES)}"
            raise CallError(message, str(context))
        active = [mode.name for mode in thread.pre_dispatch_modes]
        if context.name in active or (active and PRE_DISPATCH_MODES[-1] in (*active, context.name)):
            raise CallError(f"{context.name} cannot be active together with {', '.join(active)}", str(context))
        modes = (*thread.pre_dispatch_modes, Mode(context.name, context.instance, position))
        modes = tuple(sorted(modes, key=lambda mode: PRE_DISPATCH_MODES.index(mode.name)))
        return thread._replace(pre_dispatch_modes=modes).include(self._needed(context, PRE_DISPATCH))
