"""Beginnings of PyTorch's texts about dispatch: the engine raises them, and pasted texts are searched for most.

Each is a template: a name in braces stands for what PyTorch fills in (`str.format`).
"""

from __future__ import annotations

NO_KERNEL = "Could not run '{op}' with arguments from the '{key}'"
"""``OperatorEntry::reportError``."""
NO_TENSORS = "no fallback function is registered for schema {op}"
"""``OperatorEntry::reportError``, of a call without a tensor."""
NO_META = "{op}: attempted to run this operator with Meta tensors"
"""MetaFallbackKernel.cpp."""
AMBIGUOUS = "{op} has kernels registered to both CompositeImplicitAutograd and a backend mapped to AutogradOther"
"""``ambiguous_autogradother_kernel`` in KernelFunction.cpp."""
AMBIGUOUS_IN_PYTHON = "ambiguous autogradother kernel"
"""``resolve_key`` in torch/_ops.py."""
NO_PYTHON_KERNEL = "could not find kernel for {op} at dispatch key {key}"
"""``resolve_key`` in torch/_ops.py."""
NO_NAMES = "{op} is not yet supported with named tensors"
"""NamedRegistrations.cpp."""
NO_BATCHING_RULE = "Batching rule not implemented for {op}"
NO_NESTED_BATCHING_RULE = "Nested batching rule not implemented for {op}"
"""BatchedFallback.cpp, as the one before."""
ALIASED_RESULT = "Found a custom (non-ATen) operator whose output has alias annotations: {op}"
"""FunctionalizeFallbackKernel.cpp."""
ESCAPED = "Either your tensor may have escaped from inside a function being vmapped"
"""``dead_tensor_wrapper_fallback`` in TensorWrapper.cpp, and batching rules."""
FUNCTION_IN_TRANSFORM = "In order to use an autograd.Function with functorch transforms"
"""torch/autograd/function.py."""
