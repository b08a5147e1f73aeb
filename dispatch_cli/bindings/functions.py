"""PyTorch's dispatcher introspection functions over the engine.

Source: ``torch/csrc/utils/python_dispatch.cpp``. Names, arguments, texts and exceptions are PyTorch's. What PyTorch
reads from a running program has no counterpart here: tensors, which are described instead, and Python stubs.
"""

from __future__ import annotations

from enum import IntEnum
from functools import partial
from typing import Any

from dispatch_cli.bindings.errors import internal_assert
from dispatch_cli.bindings.keys import BoundKeySet, DispatchKey, KeySpace
from dispatch_cli.bindings.library import DispatchModule, Tag
from dispatch_cli.bindings.operators import DispatchOperatorHandle, OperatorFunctions
from dispatch_cli.bindings.python_dispatcher import PythonDispatcher
from dispatch_cli.bindings.thread_state import ThreadState, guards_of
from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet as KeyBits
from dispatch_cli.model.calls.call import CallError, TensorSpec
from dispatch_cli.model.schema.types import DEVICE, DEVICE_TYPES
from dispatch_cli.model.universe import BACK, FRONT, FUNCTIONALIZE, META, PYTHON, Universe

_SUBCLASS_LIKE = ("FuncTorchGradWrapper", "FuncTorchBatched", FUNCTIONALIZE, "Batched", "Sparse", "SparseCsr", PYTHON)
"""``at::kTensorSubclassLike``, but for the bit of Meta."""


class TorchDispatchModeKey(IntEnum):
    """``_TorchDispatchModeKey``: the modes that have a place of their own in the stack."""

    FAKE = 0
    PROXY = 1
    FUNCTIONAL = 2

    def __str__(self) -> str:
        return f"_TorchDispatchModeKey.{self.name}"

    def __repr__(self) -> str:
        return f"<{self}: {self.value}>"


def keys_of_tensor(universe: Universe, tensor: TensorSpec | str) -> KeyBits:
    """The key set of a described tensor. Errors: TypeError."""
    try:
        spec = TensorSpec.parse(tensor) if isinstance(tensor, str) else tensor
        maker = TensorMaker(universe)
        value = maker.make(spec)
        for wrapper in spec.wrappers:
            value = maker.wrap(value, wrapper)
        return value.keyset
    except CallError as error:
        raise TypeError(f"{error.text!r}: {error.message}") from None


class Bindings(OperatorFunctions):
    """The functions, over a dispatcher of their own.

    universe: the key layout. dispatcher: the engine's dispatcher to ask and change, for instance one that already
    holds an embedded state; by default a new one of *universe*.

    DispatchKey and DispatchKeySet are classes of this universe: objects of two universes do not mix.
    """

    def __init__(self, universe: Universe, dispatcher: Dispatcher | None = None) -> None:
        space = KeySpace(universe)
        super().__init__(space, Dispatcher(universe) if dispatcher is None else dispatcher)
        self.thread_state = ThreadState(space)
        self.DispatchKey: Any = space.DispatchKey
        self.DispatchKeySet: Any = space.DispatchKeySet
        self._DispatchModule = DispatchModule
        self.Tag = Tag
        self._DispatchOperatorHandle = DispatchOperatorHandle
        self.PythonDispatcher = partial(PythonDispatcher, self)
        for name, guard in guards_of(self.thread_state).items():
            setattr(self, name, guard)
        self._TorchDispatchModeKey = TorchDispatchModeKey
        self._dispatch_autogradother_backends = space.wrap(KeyBits.of(universe, universe.autogradother_backends))
        self._after_autograd_keyset = space.wrap(KeyBits.full_after(universe, universe.after_autograd))
        self._after_ADInplaceOrView_keyset = space.wrap(KeyBits.full_after(universe, universe.after_ADInplaceOrView))
        self._additional_keys_to_prop_for_wrapper_tensors = space.wrap(KeyBits.of(universe, universe.wrapped))

    # keys

    def _dispatch_key_name(self, dispatch: DispatchKey | str, /) -> str:
        """The key's name, as dumps print it."""
        return self.space.text(dispatch)

    def _dispatch_key_parse(self, dispatch: DispatchKey | str, /) -> DispatchKey:
        """The key of that name, or the key itself. Errors: RuntimeError for a name that is not a key's."""
        return self.space.as_key(dispatch)

    def _parse_dispatch_key(self, key: str, /) -> DispatchKey | None:
        """The key of that name, or None."""
        return self.space.parse(key) if self.space.is_parseable(key) else None

    def _to_functionality_key(self, key: DispatchKey | str, /) -> DispatchKey:
        """The functionality of a runtime key; Undefined for an alias key."""
        return self.space.functionality(key)

    def _functionality_to_backend_keys(self, key: DispatchKey | str, /) -> list[DispatchKey]:
        """The runtime keys of a per-backend functionality; any other key alone."""
        given = self.space.as_key(key)
        return [self.space.key(name) for name in self.universe.per_backend.get(given.name, ())] or [given]

    def _dispatch_num_backends(self) -> int:
        """Number of backend components."""
        return len(self.universe.backends)

    def _dispatch_is_alias_key(self, dispatch: DispatchKey | str, /) -> bool:
        """True if it is an alias key."""
        return self.space.is_alias(dispatch)

    def _dispatch_is_included_in_alias(self, dispatch_a: DispatchKey | str, dispatch_b: DispatchKey | str, /) -> bool:
        """True if the alias key *dispatch_b* covers *dispatch_a*; a key that is no alias covers itself only."""
        key, alias = self.space.as_key(dispatch_a), self.space.as_key(dispatch_b)
        if key.value == 0:
            return False
        if alias.value == 0:
            raise internal_assert("t != DispatchKey::Undefined", "c10/core/DispatchKeySet.cpp")
        if not self.space.is_alias(alias):
            return key == alias
        return self.space.wrap(KeyBits.of(self.universe, self.universe.covered_by(alias.name))).has(key)

    def _dispatch_key_for_device(self, device_type: str, /) -> str:
        """The name of a device type's key (``c10::computeDispatchKey``). Errors: RuntimeError."""
        key = self.universe.devices.get(self.universe.device_type(device_type))
        if key is not None:
            return key
        match = DEVICE.fullmatch(device_type)
        if match is None:
            words = f"Invalid device string: '{device_type}'" if device_type else "Device string must not be empty"
            raise RuntimeError(words)
        if match[1] not in DEVICE_TYPES:
            types = ", ".join(DEVICE_TYPES)
            raise RuntimeError(f"Expected one of {types} device type at start of device string: {match[1]}")
        if match[2] is not None:
            raise RuntimeError(f"Expected device_type string to not have a device index; got {device_type}")
        raise internal_assert(
            "0",
            "c10/core/TensorOptions.h",
            f"This is a grandfathered Caffe2 device type {device_type}, it shouldn't ever convert to a DispatchKey.  "
            "File a bug describing what you were doing if you think this is in error.",
        )

    # key sets

    def _dispatch_keyset_full(self) -> BoundKeySet:
        """Every key."""
        return self.space.wrap(KeyBits.full(self.universe))

    def _dispatch_keyset_full_after(self, dispatch: DispatchKey | str, /) -> BoundKeySet:
        """Every key below the functionality of that one, and PythonDispatcher."""
        return self.space.wrap(KeyBits.full_after(self.universe, self.space.functionality(dispatch).name))

    def _dispatch_keyset_to_string(self, keyset: BoundKeySet, /) -> str:
        """The printed form."""
        return repr(keyset)

    def _dispatch_get_backend_keyset_from_autograd(self, dispatch: DispatchKey | str, /) -> BoundKeySet:
        """The backend keys behind an autograd key."""
        backends = self.universe.autograd_backends.get(self.space.as_key(dispatch).name, ())
        return self.space.wrap(KeyBits.of(self.universe, backends))

    def _dispatch_keys(self, tensor: TensorSpec | str, /) -> BoundKeySet:
        """The key set of a tensor, which is described and need not exist, as in ``_dispatch_keys("cpu sparse")``.

        Errors: TypeError for what is no description, or not one of this universe.
        """
        return self.space.wrap(keys_of_tensor(self.universe, tensor))

    def _dispatch_key_set(self, tensor: TensorSpec | str, /) -> str:
        """The printed form of `_dispatch_keys`."""
        return str(keys_of_tensor(self.universe, tensor))

    def _dispatch_isTensorSubclassLike(self, tensor: TensorSpec | str, /) -> bool:  # noqa: N802
        """True if PyTorch treats a tensor as one with a behaviour of its own: a subclass, a wrapper, sparse, meta.

        Errors: TypeError, as of `_dispatch_keys`.
        """
        keyset = keys_of_tensor(self.universe, tensor)
        bits = keyset.layout.key_bits[META] & keyset.layout.backend_mask
        for key in _SUBCLASS_LIKE:
            bits |= keyset.layout.key_bits.get(key, 0)
        return bool(keyset.bits & bits)

    # thread-local state

    def _are_functorch_transforms_active(self) -> bool:
        """True if this thread includes a key of functorch's stack of transforms."""
        return not {FRONT, BACK}.isdisjoint(self.thread_state.included)

    def _functionalization_reapply_views_tls(self) -> bool:
        """True if functionalization replays views as views, and not as copies."""
        return self.thread_state.reapply_views

    def _enable_functionalization(self, reapply_views: bool = False) -> None:
        """Include Functionalize in this thread; as ``torch._enable_functionalization``. Errors: RuntimeError."""
        if self.thread_state.is_included(self.space.key(FUNCTIONALIZE)):
            raise internal_assert(
                "false",
                "torch/csrc/autograd/python_torch_functions_manual.cpp",
                "multiple layers of mode-style functionalization nesting is not currently supported, outside of the "
                "functionalize() transform",
            )
        self.thread_state.set_included(self.space.key(FUNCTIONALIZE), True)
        self.thread_state.reapply_views |= reapply_views

    def _disable_functionalization(self) -> None:
        """Undo `_enable_functionalization`."""
        self.thread_state.set_included(self.space.key(FUNCTIONALIZE), False)
        self.thread_state.reapply_views = False

    def _only_lift_cpu_tensors(self) -> bool:
        """True if this thread lifts constants to the CPU only."""
        return self.thread_state.only_lift_cpu_tensors

    def _set_only_lift_cpu_tensors(self, value: bool, /) -> None:
        """Set what `_only_lift_cpu_tensors` gives."""
        self.thread_state.only_lift_cpu_tensors = value

    def _dispatch_tls_local_include_set(self) -> BoundKeySet:
        """The keys that this thread adds to every call."""
        return self.space.wrap(self.thread_state.included)

    def _dispatch_tls_local_exclude_set(self) -> BoundKeySet:
        """The keys that this thread takes out of every call."""
        return self.space.wrap(self.thread_state.excluded)

    def _dispatch_tls_is_dispatch_key_included(self, dispatch: DispatchKey | str, /) -> bool:
        """True if this thread includes the key."""
        return self.thread_state.is_included(dispatch)

    def _dispatch_tls_is_dispatch_key_excluded(self, dispatch: DispatchKey | str, /) -> bool:
        """True if this thread excludes the key."""
        return self.thread_state.is_excluded(dispatch)

    def _dispatch_tls_set_dispatch_key_included(self, dispatch: DispatchKey | str, included: bool, /) -> None:
        """Include the key in this thread, or no longer do."""
        self.thread_state.set_included(dispatch, included)

    def _dispatch_tls_set_dispatch_key_excluded(self, dispatch: DispatchKey | str, excluded: bool, /) -> None:
        """Exclude the key in this thread, or no longer do."""
        self.thread_state.set_excluded(dispatch, excluded)
