"""PyTorch's interface for operators, by name, as Python sources use it."""

from __future__ import annotations

FUNCTIONS = (
    *("Library", "define", "impl", "impl_abstract", "register_fake", "register_kernel"),
    *("register_autograd", "register_vmap", "register_autocast", "register_torch_dispatch", "custom_op"),
    *("triton_op", "infer_schema", "fallthrough_kernel", "get_ctx", "_scoped_library", "opcheck"),
    *("wrap_triton", "capture_triton", "_impl", "_register_effectful_op", "register_opaque_type"),
    *("get_kernel",),
)
"""Names of ``torch.library``."""
_ELSEWHERE = {
    "torch._library.custom_ops.custom_op": "custom_op",
    "torch._library.custom_op": "custom_op",
    "torch._library.triton.triton_op": "triton_op",
    "torch._library.triton_op": "triton_op",
    "torch._library.infer_schema.infer_schema": "infer_schema",
    "torch._library.infer_schema": "infer_schema",
    "torch._custom_op.impl.infer_schema": "infer_schema",
    "torch._decomp.register_decomposition": "register_decomposition",
    "torch._higher_order_ops.effects._register_effectful_op": "_register_effectful_op",
    "torch.fx.has_side_effect": "has_side_effect",
    "torch.fx.node.has_side_effect": "has_side_effect",
    "torch._inductor.decomposition.register_decomposition": "register_decomposition",
}
TORCH_FUNCTIONS = {**{f"torch.library.{name}": name for name in FUNCTIONS}, **_ELSEWHERE}
"""Functions of PyTorch by full name, with what they do: a name of `TorchCalls`."""

DIRECT_REGISTER = "direct_register_custom_op"
"""vLLM's helper, whose effect is known where it is not among the sources."""

FIND_SCHEMA = "_dispatch_find_schema_or_throw"
"""The function of ``torch._C`` that raises for an operator that is not defined."""
ROOTS = ("torch.ops", "torch.library", "torch._C", "torch.Tag", "torch.DispatchKey")
"""Modules whose names are PyTorch's own, also where PyTorch is among the sources."""

TRANSPARENT = frozenset(
    (
        *("atexit.register", "contextlib.contextmanager", "dataclasses.dataclass", "functools.cache"),
        *("functools.lru_cache", "functools.singledispatch", "torch._dynamo.allow_in_graph"),
        *("torch._dynamo.disable", "torch.compile", "torch.compiler.allow_in_graph", "torch.compiler.disable"),
        *("torch.inference_mode", "torch.jit.ignore", "torch.jit.script", "torch.jit.unused", "torch.no_grad"),
        *("typing.cast", "typing.final", "typing.no_type_check"),
    )
)
"""Functions that return the function they are given."""

FACTORIES = frozenset(
    (
        *("dataclasses.dataclass", "functools.cache", "functools.lru_cache", "torch._dynamo.disable"),
        *("torch.compile", "torch.compiler.disable", "torch.inference_mode", "torch.no_grad"),
    )
)
"""Functions that return such a function, when they are called with something else."""

METHODS = frozenset(
    (
        *("_destroy", "_impl_with_aoti_compile", "_register_fake", "custom_op", "define", "fallback", "impl"),
        *("impl_abstract", "impl_backward", "impl_save_for_backward", "py_impl", "register_autocast"),
        *("register_autograd", "register_effect", "register_fake", "register_kernel"),
        *("register_torch_dispatch", "register_vmap", "triton_op"),
    )
)
"""Names of methods and functions that register something with the dispatcher, or undo that."""

HARMLESS = frozenset(
    (
        *("_register_effectful_op", "_register_torch_dispatch_rule", "capture_triton", "fallthrough_kernel"),
        *("get_ctx", "get_kernel", "infer_schema", "opcheck", "py_functionalize_impl"),
        *("register_decomposition", "register_effect", "register_opaque_type", "register_torch_dispatch"),
        *("wrap_triton",),
    )
)
"""Names of what registers nothing with the dispatcher, although it looks so."""

CALLED = frozenset((*METHODS, *FUNCTIONS, DIRECT_REGISTER, "has_side_effect")) - HARMLESS
"""Names whose calls are looked at: they register something."""

UNMISTAKABLE = frozenset(
    (
        *("_scoped_library", "custom_op", "impl_abstract", "register_autocast", "register_autograd"),
        *("register_fake", "register_kernel", "register_vmap", "triton_op", "direct_register_custom_op"),
    )
)
"""Names of these functions that hardly anything else has."""
