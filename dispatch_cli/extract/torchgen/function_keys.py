"""Dispatch keys in torchgen's YAML: which it generates kernels for, and which of them a build need not have."""

from __future__ import annotations

IMPLICIT = "CompositeImplicitAutograd"
IMPLICIT_NESTED = "CompositeImplicitAutogradNestedTensor"
EXPLICIT = "CompositeExplicitAutograd"
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
META = "Meta"
COMPOSITE = frozenset({IMPLICIT, IMPLICIT_NESTED, EXPLICIT, NON_FUNCTIONAL})

STRUCTURED = frozenset({"CPU", "CUDA", "MPS", "XPU", "MTIA"})
"""Keys at which a structured function has a kernel made of its out form's (``STRUCTURED_DISPATCH_KEYS``)."""
UFUNC = ("CPU", "CUDA")
"""Keys for which ``ufunc_inner_loop`` makes kernels (``UFUNC_DISPATCH_KEYS``)."""

_COMPONENTS = ("CPU", "CUDA", "HIP", "XLA", "MTIA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "Meta")
_OUTSIDE = ("PrivateUse1", "PrivateUse2", "PrivateUse3", "FPGA", "MAIA", "Vulkan", "Metal", "MKLDNN", "OpenGL")
_FUNCTIONALITIES = ("", "Quantized", "Sparse", "SparseCsr", "NestedTensor")

CODEGEN_BACKENDS = ("CPU", "CUDA", "MPS", "MTIA", "XPU")
"""The backends that PyTorch can be built with. What is generated for CPU and Meta is in every build."""
_EVERYWHERE = frozenset({"CPU", "Meta", "HPU"})
"""Backends whose files are in every build; HPU has kernels of nested tensors that are those of the CPU."""

BACKEND_OF_KEY = {
    functionality + component: component for functionality in _FUNCTIONALITIES for component in _COMPONENTS
}
BACKENDS = frozenset(_COMPONENTS)
KNOWN = frozenset({*BACKEND_OF_KEY, *COMPOSITE, "MkldnnCPU", "ZeroTensor"})
"""The keys of ``dispatch:`` that torchgen generates kernels for (``dispatch_keys``), for any of its backends."""

AUTOGRAD = frozenset({"AutogradNestedTensor", *(f"Autograd{backend}" for backend in (*_COMPONENTS, *_OUTSIDE[:3]))})
"""The keys of ``dispatch:`` in ``derivatives.yaml`` (``AUTOGRAD_KEYS``)."""

OF_BACKENDS = frozenset({*BACKEND_OF_KEY, *AUTOGRAD, *_OUTSIDE})
"""Names that ``backend:`` can have, and its keys of autograd."""


def is_outside(key: str) -> bool:
    """True for a key at which PyTorch's own build need not have kernels."""
    return key in _OUTSIDE or codegen_backend(key) is not None


def codegen_backend(key: str) -> str | None:
    """The backend that the build must have for the kernels at *key*; None where every build has them."""
    backend = BACKEND_OF_KEY.get(key)
    return None if backend in _EVERYWHERE else backend
