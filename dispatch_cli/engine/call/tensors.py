"""The tensors of a call as the dispatcher sees them: their key sets, and what wraps what.

Sources: ``TensorImpl``'s constructor (``c10/core/TensorImpl.cpp``), ``computeDispatchKey`` in
``c10/core/TensorOptions.h``, ``FunctionalTensorWrapper.cpp``, ``functorch/BatchedTensorImpl.cpp`` and
``functorch/TensorWrapper.cpp``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.table.layout import layout_of
from dispatch_cli.model.calls.call import Absent, Bit, CallError, Layout, TensorSpec, Wrapper, WrapperKind, device_type
from dispatch_cli.model.text.suggest import suggestion
from dispatch_cli.model.universe import (
    AD_INPLACE_OR_VIEW,
    AUTOGRAD,
    AUTOGRAD_OTHER,
    PYTHON,
    UNNAMED_BACKEND,
    Universe,
    autocast_key_of,
    autograd_key_of,
)

PYTHON_KEYS = ("Python", "PythonTLSSnapshot")
"""Keys that a tensor with a ``__torch_dispatch__`` adds, and a mode."""
BIT_KEYS = {Bit.CONJ: "Conjugate", Bit.NEG: "Negative", Bit.ZEROTENSOR: "ZeroTensor"}
_FUNCTORCH_KEYS = ("FuncTorchBatched", "FuncTorchVmapMode", "Batched", "VmapMode", "FuncTorchGradWrapper")
"""``functorch_transforms_ks``: what functionalization does not take over from the tensor that it wraps."""
_FUNCTIONALITY = {
    Layout.SPARSE: "Sparse",
    Layout.SPARSE_CSR: "SparseCsr",
    Layout.SPARSE_CSC: "SparseCsr",
    Layout.SPARSE_BSR: "SparseCsr",
    Layout.SPARSE_BSC: "SparseCsr",
}
NESTED = "NestedTensor"
META = "meta"
BACKEND_HINT = "a backend outside of PyTorch has the device privateuseone, or the name that `privateuse1` gives it"


class Value(NamedTuple):
    """A tensor while a call goes on.

    keyset: its own. text: how it is written. spec: what it was made from; of a wrapper, the innermost tensor's; None
        of a bare key set that stands for all arguments.
    wrapper: what it is, where it wraps another; inner: that other.
    needs_gradient: it is an input of functorch's ``grad`` at the level of its wrapper, not wrapped on the way.
    has_tangent: the same for functorch's ``jvp``: it may have a forward derivative.
    """

    keyset: DispatchKeySet
    text: str
    spec: TensorSpec | None
    wrapper: Wrapper | None = None
    inner: Value | None = None
    needs_gradient: bool = False
    has_tangent: bool = False

    def has(self, key: str) -> bool:
        """True if *key* is a key of the tensor; a key that the universe does not have is not."""
        return key in self.keyset.layout.key_bits and self.keyset.has(key)

    @property
    def is_absent(self) -> bool:
        """True if it is no tensor: undefined, or None."""
        return self.spec is not None and self.spec.absent is not None

    @property
    def is_undefined(self) -> bool:
        """True if it is an undefined tensor."""
        return self.spec is not None and self.spec.absent is Absent.UNDEFINED

    def is_batched_at(self, level: int | None) -> bool:
        """True if the outermost wrapper is vmap's of that level; None: of any."""
        wrapper = self.wrapper
        return wrapper is not None and wrapper.kind is WrapperKind.BATCHED and level in (None, wrapper.level)


def is_functional(value: Value) -> bool:
    """True if functionalization has wrapped a tensor."""
    return value.wrapper is not None and value.wrapper.kind is WrapperKind.FUNCTIONAL


class TensorMaker:
    """Makes the tensors of one universe."""

    def __init__(self, universe: Universe) -> None:
        self.universe = universe
        self._layout = layout_of(universe)

    def known(self, *keys: str) -> DispatchKeySet:
        """The set of those keys that the universe has."""
        return DispatchKeySet.of(self.universe, (key for key in keys if key in self._layout.key_bits))

    def make(self, spec: TensorSpec, inference: bool = False) -> Value:
        """A tensor without its wrappers. inference: inference mode is on. Errors: CallError."""
        if spec.absent is not None:
            # there is one undefined tensor, which is made before any mode is on; None has no keys
            undefined = spec.absent is Absent.UNDEFINED
            keyset = DispatchKeySet(self._layout)
            return Value(self.complete(keyset, inference=False) if undefined else keyset, str(spec), spec)
        inference = inference or spec.inference
        plain = spec._replace(wrappers=())
        keyset = self._fake(plain, inference) if spec.fake is not None else self._real(plain, inference)
        for bit in spec.bits:
            keyset = keyset.add(self.key(BIT_KEYS[bit], str(spec)))
        if spec.fake is not None or spec.subclass is not None or spec.layout is Layout.JAGGED:
            for key in PYTHON_KEYS:
                keyset = keyset.add(self.key(key, str(spec)))
        return Value(keyset, str(plain), plain)

    def wrap(self, value: Value, wrapper: Wrapper, inference: bool = False) -> Value:
        """*value* in a wrapper, which only a tensor gets. inference: inference mode is on. Errors: CallError."""
        if value.is_absent:
            return value
        text = f"{value.text} {wrapper}"
        if wrapper.kind is WrapperKind.FUNCTIONAL:
            keyset = value.keyset.add(self.key("Functionalize", text)) - self.known(*_FUNCTORCH_KEYS, *PYTHON_KEYS)
            return Value(keyset, text, value.spec, wrapper, value)
        kept = value.keyset & DispatchKeySet.of(self.universe, self.universe.wrapped)
        if wrapper.kind is WrapperKind.GRAD:
            kept = kept.add(self.key("FuncTorchGradWrapper", text))
        else:
            nested = "BatchedNestedTensor"
            is_nested = value.spec is not None and value.spec.nested and nested in self._layout.key_bits
            kept = kept.add(nested if is_nested else self.key("FuncTorchBatched", text))
        return Value(self.complete(kept, inference), text, value.spec, wrapper, value)

    def materialised(self, value: Value, bit: Bit, inference: bool) -> Value:
        """The tensor that ``clone`` makes of one that has *bit*; any other tensor as it is.

        Of a grad wrapper, whose transform is over, it makes a plain tensor. Nor are the new
        zeros functional that a zero tensor becomes.
        """
        if not value.has(BIT_KEYS[bit]):
            return value
        if value.inner is not None and value.wrapper is not None:
            inner = self.materialised(value.inner, bit, inference)
            is_new = bit is Bit.ZEROTENSOR and value.wrapper.kind is WrapperKind.FUNCTIONAL
            return (
                inner
                if is_new or value.wrapper.kind is WrapperKind.GRAD
                else self.wrap(inner, value.wrapper, inference)
            )
        if value.spec is None:
            return value._replace(keyset=value.keyset.remove(BIT_KEYS[bit]))
        bits = tuple(other for other in value.spec.bits if other is not bit)
        return self.make(value.spec._replace(bits=bits, inference=inference), inference)

    def slice(self, value: Value, inference: bool) -> Value:
        """One element of a batch: a view of a strided tensor, a part of a nested one, a new tensor of a sparse one."""
        spec = value.spec
        if value.wrapper is not None and value.inner is not None:
            inner = self.slice(value.inner, inference)
            if inner is value.inner:
                return value
            wrapped = self.wrap(inner, value.wrapper, inference)
            return wrapped._replace(needs_gradient=value.needs_gradient, has_tangent=value.has_tangent)
        if spec is None:
            return value
        if spec.nested:
            return self.make(spec._replace(nested=False))
        return self.make(spec._replace(inference=inference)) if spec.layout is Layout.SPARSE else value

    def complete(self, keyset: DispatchKeySet, inference: bool) -> DispatchKeySet:
        """The keys of ``TensorImpl``, whose constructor completes those that it is given.

        It adds the autocast key, ADInplaceOrView and the autograd key of the highest backend; in inference mode, only
        the first.
        """
        backend = self.backend_of(keyset)
        autograd = autograd_key_of(self.universe, backend) if backend else None
        autocast = autocast_key_of(self.universe, backend) if backend else None
        if autocast is not None:
            keyset = keyset.add(autocast)
        if inference:
            return keyset - self.autograd_keys.add(AD_INPLACE_OR_VIEW)
        return keyset.add(AD_INPLACE_OR_VIEW).add(autograd or AUTOGRAD_OTHER)

    def backend_of(self, keyset: DispatchKeySet) -> str | None:
        """The highest backend component of a set, by its Dense key."""
        index = (keyset.bits & self._layout.backend_mask).bit_length() - 1
        return self.universe.backends[index] if index >= 0 else None

    @property
    def autograd_keys(self) -> DispatchKeySet:
        """``autograd_dispatch_keyset``: the functionalities of all autograd keys, without backends."""
        covered = DispatchKeySet.of(self.universe, self.universe.aliases[AUTOGRAD])
        return DispatchKeySet(covered.layout, covered.bits & covered.layout.functionality_mask)

    @property
    def above_python(self) -> DispatchKeySet:
        """The functionalities above Python."""
        above = DispatchKeySet.full(self.universe) - DispatchKeySet.full_after(self.universe, PYTHON).add(PYTHON)
        return DispatchKeySet(above.layout, above.bits & above.layout.functionality_mask)

    def key(self, key: str, text: str) -> str:
        """*key* itself. Errors: CallError when the universe does not have it."""
        if key not in self._layout.key_bits:
            raise CallError(f"the universe {self.universe.name} has no key {key}, which {text!r} needs", text)
        return key

    def device_key(self, device: str | None, text: str) -> str:
        """The runtime key of a device type. Errors: CallError."""
        devices = self.universe.devices
        if device is None:
            return next(iter(devices.values()))
        if device == UNNAMED_BACKEND:  # it is read after the backend has got a name, too
            device = self.universe.backend_name
        if device not in devices:
            known = ", ".join(devices)
            hint = suggestion(device, list(devices)) or BACKEND_HINT
            message = f"the universe {self.universe.name} has no device {device[:64]!r} (it has {known})"
            raise CallError(message, text, hint)
        return devices[device]

    def _real(self, spec: TensorSpec, inference: bool) -> DispatchKeySet:
        key = self.own_key(spec)
        keyset = self.complete(DispatchKeySet.of(self.universe, (key,)), inference)
        if spec.nested or spec.layout is Layout.JAGGED:
            if spec.layout is Layout.JAGGED:
                keyset = keyset.add(self.key(NESTED, str(spec)))
            if not inference:
                keyset = keyset.add(self.key("AutogradNestedTensor", str(spec)))
        return keyset

    def own_key(self, spec: TensorSpec) -> str:
        """The key of a tensor's device and kind (``computeDispatchKey``). Errors: CallError."""
        text = str(spec)
        device_key = self.device_key(spec.device, text)
        kinds = [spec.quantized, spec.nested, spec.layout is not Layout.STRIDED]
        if sum(kinds) > 1:
            raise CallError("a tensor can be only one of sparse, mkldnn, jagged, quantized and nested", text)
        key: str | None
        if spec.nested:
            key = self._of_backend(NESTED, device_key, text) if self._has_kinds(spec.device, device_key) else None
        else:
            key = self.computed_key(spec.device, spec.layout, spec.quantized, text)
        if key is None:
            kind = "nested" if spec.nested else spec.layout.value
            raise CallError(f"the universe {self.universe.name} has no {kind} tensors on {spec.device!r}", text)
        return key

    def computed_key(self, device: str | None, layout: Layout, quantized: bool, text: str) -> str | None:
        """``computeDispatchKey``; None where a device has no such layout. Errors: CallError."""
        device_key = self.device_key(device, text)
        if layout is Layout.MKLDNN:
            key = f"Mkldnn{device_key}"
            return key if key in self.universe.slot else None
        has_kinds = self._has_kinds(device, device_key)
        functionality = _FUNCTIONALITY.get(layout)
        if functionality is not None:
            return self._of_backend(functionality, device_key, text) if has_kinds else None
        return self._of_backend("Quantized", device_key, text) if quantized and has_kinds else device_key

    def generator(self, device: str) -> DispatchKeySet:
        """The key set of a ``torch.Generator``. Errors: CallError."""
        name = device_type(device)
        key = self.device_key(name, device)
        if name == META or not self._has_kinds(name, key):
            raise CallError(f"there are no generators on {name}", device, "such as `cpu` or `cuda`")
        return DispatchKeySet.of(self.universe, (key,))

    def _has_kinds(self, device: str | None, device_key: str) -> bool:
        """True if a device has tensors that are not strided."""
        return device_key in self.universe.backends and device not in self.universe.plain_devices

    def _of_backend(self, functionality: str, device_key: str, text: str) -> str:
        keys = self.universe.per_backend.get(self.key(functionality, text), ())
        return keys[self.universe.backends.index(device_key)] if keys else functionality

    def _fake(self, spec: TensorSpec, inference: bool) -> DispatchKeySet:
        """A meta tensor's set with the backend exchanged (``_change_backend_component_keys``)."""
        text = str(spec)
        if spec.layout is Layout.JAGGED:
            raise CallError("a jagged tensor is never fake itself; the tensors that it consists of can be", text)
        device_key = self.device_key(spec.device, text)
        if META not in self.universe.devices:
            raise CallError(f"the universe {self.universe.name} has no meta tensors, which fake tensors need", text)
        keyset = self._real(spec._replace(device=META, fake=None, subclass=None), inference)
        without = DispatchKeySet(keyset.layout, keyset.bits & keyset.layout.functionality_mask)
        if not self._has_kinds(spec.device, device_key):
            return without
        index = self.universe.backends.index(device_key)
        autocast = autocast_key_of(self.universe, device_key)
        exchanged = DispatchKeySet(keyset.layout, without.bits | 1 << index)
        return exchanged.add(autocast) if autocast else exchanged


@lru_cache(maxsize=16)
def maker_of(universe: Universe) -> TensorMaker:
    """The maker of a universe's tensors, always the same."""
    return TensorMaker(universe)
