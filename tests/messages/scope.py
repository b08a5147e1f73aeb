"""Files of an installed PyTorch that are read, and those of their texts that are about operators and dispatch."""

from __future__ import annotations

import re

PYTHON = (
    *("library.py", "_ops.py", "_library", "_custom_op", "_custom_ops.py", "_python_dispatcher.py", "_dispatch"),
    *("utils/_python_dispatch.py", "utils/backend_registration.py", "_subclasses/fake_tensor.py"),
    *("_subclasses/fake_impls.py", "_subclasses/fake_utils.py", "_subclasses/functional_tensor.py"),
    *("_subclasses/schema_check_mode.py", "_functorch/apis.py", "_functorch/vmap.py"),
    *("_functorch/eager_transforms.py", "_functorch/autograd_function.py", "_functorch/pyfunctorch.py"),
    *("_functorch/predispatch.py", "_higher_order_ops/utils.py", "testing/_internal/optests"),
    *("testing/_internal/composite_compliance.py", "autograd/function.py"),
)
"""Files and folders below ``torch/`` of which every text counts."""
PYTHON_BY_TERM = (
    *("_subclasses", "_functorch", "_higher_order_ops", "_decomp", "_prims_common", "_meta_registrations.py"),
    *("_guards.py", "fx/experimental/proxy_tensor.py", "distributed/tensor/_dispatch.py"),
    *("distributed/tensor/_sharding_prop.py", "_utils_internal.py", "_utils.py", "overrides.py", "cuda/__init__.py"),
    *("__init__.py",),
)
"""Files and folders of which those texts count that have a term."""
HEADERS = (
    *("torch/library.h", "ATen/core/dispatch", "ATen/core/op_registration", "ATen/core/boxing"),
    *("ATen/core/function_schema.h", "ATen/core/function_schema_inl.h", "ATen/core/LegacyTypeDispatch.h"),
    *("ATen/core/VariableHooksInterface.h", "ATen/functorch", "ATen/Dispatch.h", "ATen/FunctionalTensorWrapper.h"),
    *("ATen/LegacyVmapTransforms.h", "c10/core/DispatchKey.h", "c10/core/DispatchKeySet.h"),
    *("c10/core/impl/DeviceGuardImplInterface.h", "torch/csrc/autograd/VariableTypeUtils.h"),
)
"""Below ``torch/include/``: headers of which every text counts."""
HEADERS_BY_TERM = ("ATen", "c10", "torch/csrc/autograd", "torch/csrc/utils", "torch/csrc/jit/python")
LIBRARIES = ("lib/libtorch_cpu.so", "lib/libtorch_python.so", "lib/libtorch.so", "lib/libc10.so")
"""Their strings count that have a term; where a hole was, a text is in pieces."""

TERMS = re.compile(
    r"(?i)\bdispatch(?!er_|ed to)|dispatchkey|kernels? (registered|for (this|the) )|key set|keyset|"
    r"regist\w+ (a |an |the |multiple )?(kernel|operator|schema|fallback|op\b)|tried to register|TORCH_LIBRARY|\bdef\(|"
    r"operator schema|schema for |have a schema|schemas? (string|does|is only)|"
    r"could not (run|find) |no such operator|unknown builtin|overload name|object has no attribute|"
    r"autograd (kernel|formula|key|function)|autograd\.Function|batching rule|\bvmap|functorch|functionaliz|"
    r"fallback (kernel|function|path|for|does|is)|vmap fallback|composite|fallthrough|"
    r"for (this|the) backend|from the '|only available for|not linked|DispatchStub|on the same device|"
    r"\bfake(?! process)|abstract impl|meta (tensor|function|kernel|key)|inference[ _]?(mode|tensor)|inference tensors|"
    r"data pointer|have storage|__torch_(dispatch|function)__|named tensor|forward AD|derivative (for|implemented)|"
    r"backward through|higher.?order ?op|\bHOP\b|dispatch mode|mode stack|view operator|alias annotation|"
    r"(symbolic (shape|size)|SymInt)|not implemented for|privateuse1|is not (currently )?implemented for|"
    r"randomness|in-?place (update|operation)|not compiled with|wrong signature|python module|"
    r"expected a value of type|missing value for arg|keyword argument|positional arg|fake_class|"
    r"version.?counter|sharding strategy|mixed torch.Tensor|torch\.library|"
    r"no implementation found|runtime module|module registered|explicitly provided|cannot define|functional tensor|"
    r"is not allocated|on the expected device|tracing tensor|cannot access storage|compiled without|registration[s:]? "
)
"""Pattern of texts that are about operators and dispatch."""
NOT_MESSAGES = re.compile(
    r"INTERNAL ASSERT FAILED|\)\s*->|^at::|^[\w:<>, *&]+\(.*\)( const)?( \[with.*)?$|#include|^/\w|\n *def |"
    r"= (prim|aten)::|ONNX|onnx|>>>|\n\n|%[sdzu.]|graph\(|<br>|\[with |^N\d|^\*[NZ]|primitive|^_?[a-z]+(_[a-z]+)*$|"
    r"(?i:quant|xnnpack|mkldnn|onednn|fbgemm|gloo|nccl|caffe2|lstm|process group|rpc\b|tensorexpr|profil|"
    r"torchscript(?! f))"
)
"""Strings of libraries that are no texts: names of types and functions, documentation, code; other libraries' texts."""
