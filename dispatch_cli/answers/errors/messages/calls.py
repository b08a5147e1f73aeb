"""Texts about the arguments of a call: their number, types, dtypes, and what these tensors lack."""

from __future__ import annotations

from dispatch_cli.answers.errors.kinds import Message

MESSAGES = (
    Message(
        "wrong-arguments",
        "the arguments of a call[[ of {op}]][[ of {function}]] do not fit its schema",
        (
            "{op}() Expected a value of type '{type}' for argument '{argument}' but instead found type '{given}'",
            "{op}() Expected a value of type '{type}' for argument '{argument}' but instead found type '{traced}'",
            "{op}() Expected a value of type '{type}' for argument '{argument}' but instead found type 'Proxy'{proxy}",
            "Expected a value of type '{type}' for argument '{argument}' but instead found type '{given}'",
            "{op}() is missing value for argument '{argument}'",
            "{op}() expected at most {*} argument(s) but received {*} argument(s)",
            "{op}() takes {*} positional argument(s) but {*} was/were given",
            "Unable to cast {*} to Tensor",
            "Unknown keyword argument '{argument}' for operator '{op}'",
            "{function}(): argument '{argument}' {*}must be {type}, not {given}",
            "{function}(): argument '{argument}' {*}must be {type}, not NoneType{none}",
            "{function}(): expected key in DispatchKeySet({*}) but got: {given}{legacy}",
            "Expected a cuda device, but got: {given}{cuda}",
            "{function}() received an invalid combination of arguments",
        ),
        "FunctionSchema::checkAndNormalizeInputs, schema_matching.cpp, python_arg_parser.cpp",
        means=(
            "PyTorch compares the arguments with the schema before it dispatches; no kernel was called.[[ {argument} "
            "has the type {type}; the call passes {given}.]][[{value} {argument} needs a value of type {type}; the "
            "call passes a tensor whose value is not known while the program is traced.]][[{proxy} {argument} has "
            "the type {type}; the call passes a Proxy: torch.fx.symbolic_trace passes one for each value.]]"
        ),
        user=(
            "Compare the call with the declaration in the text. If it is not your code: the package was written for "
            "another version of the operator's library; install the version that it names.",
            "[value] Call `.item()` on that tensor before; torch.compile breaks the graph there, or keeps it with "
            "`torch._dynamo.config.capture_scalar_outputs = True`.",
            "[none] The value is None: find out where it should have been set.",
            "[legacy] `x.new(...)` and `torch.Tensor(...)` know the backends of PyTorch only: use "
            "`x.new_empty(...)`, or `torch.tensor(...)`.",
            "[cuda] Do not call the functions of torch.cuda for other devices.",
            "[proxy] Put the call into a function that the tracer does not enter: `torch.fx.wrap('f')` in its module.",
        ),
    ),
    Message(
        "mixed-dtypes",
        "the tensors of one call have different dtypes",
        (
            "expected scalar type {dtype} but found {other_dtype}",
            "must have the same dtype, but got{*}",
            "to have the same dtype, but got{*}",
            "should have the same dtype, but got{*}",
            "to have the same dtype, but found",
            "Index put requires the source and destination dtypes match",
            "Input type ({number}) and [[weight]][[bias]] type ({number}) should be the same",
            "Input type (torch.{device_type}.{*}) and [[weight]][[bias]] type (torch.{device_type}.{*}) should be "
            "the same",
            "Input type (torch.{cpu_type}) and [[weight]][[bias]] type (torch.{cpu_type}) should be the same",
            "Expected object of scalar type {dtype} but got scalar type {other_dtype} for argument",
            "Expected query, key, and value to have the same dtype",
        ),
        "the checks of kernels in aten/src/ATen/native",
        means=(
            "The dispatcher has found a kernel and called it; dtypes are no matter of dispatch. This kernel takes "
            "tensors of one dtype, as matrix products and convolutions do.[[ It got {dtype} and {other_dtype}.]]"
        ),
        user=(
            "Convert the input to the dtype of the weights, `x.to(weight.dtype)`, or the model: `model.to(x.dtype)`.",
            "Or call it under `torch.autocast(device_type)`, which converts the arguments of matrix products.",
        ),
        author=("Create tensors with the dtype of an argument: `torch.zeros(..., dtype=x.dtype)`.",),
    ),
    Message(
        "undefined-tensor",
        "C++ code got no tensor, where it needs one",
        (
            "tensor does not have a device",
            "Expected a proper Tensor but got None (or an undefined Tensor in C++)",
        ),
        "c10/core/TensorImpl.h, ATen/core/LegacyTypeDispatch.h",
        means=(
            "An undefined tensor, in Python `None`, has no device, no dtype and no dispatch key. The usual causes: a "
            "gradient that is None, an optional argument without a value, or state that was never created."
        ),
        user=("Check which argument of the call in the traceback is None, and give it a value or skip the call.",),
        author=("Test `t.defined()` before the tensor is used, and take it as `std::optional<at::Tensor>`.",),
    ),
    Message(
        "no-strides",
        "a kernel does not take tensors of this layout",
        (
            "opaque tensors do not have {*}",
            "{layout} tensors do not have strides",
            "Expected object of backend {device} but got backend {sparse_backend} for argument",
            "NestedTensorImpl doesn't support {*}",
            "expected sparse {*}tensor layout but got {layout}",
            "expects {*}to be sparse csr",
        ),
        "OpaqueTensorImpl.h, SparseTensorImpl.cpp, NestedTensorImpl.cpp",
        means=(
            "Tensors of oneDNN (`to_mkldnn`), sparse and nested tensors are not laid out by strides. Their operators "
            "have kernels for some layouts only, COO and CSR most of all; others are decomposed into operators on "
            "strided tensors."
        ),
        user=(
            "Convert it before the call: `x.to_dense()`, or to another sparse layout, `x.to_sparse_csr()`; a nested "
            "one with `torch.nested.to_padded_tensor(x, 0)`, or create it with `layout=torch.jagged`.",
        ),
    ),
    Message(
        "no-attention-kernel",
        "no kernel of attention takes these inputs",
        (
            "No available kernel. Aborting execution",
            "No viable backend for scaled_dot_product_attention was found",
            "No operator found for `memory_efficient_attention_{*}` with inputs{xformers}",
            "FlashAttention only support{*}",
        ),
        "sdp_utils.cpp, xformers/ops/fmha/dispatch.py, flash_attn",
        means=(
            "This is no matter of dispatch keys: the operator chooses among several kernels, each with conditions on "
            "the GPU, dtype, shape and mask."
        ),
        user=(
            "[xformers] The text has the reason for each kernel. 'operator wasn't built' means that xFormers is not "
            "built for this GPU, CUDA or PyTorch: install a matching build, or turn it off.",
            "[!xformers] Allow other kernels: leave `sdpa_kernel` out, or add SDPBackend.MATH, which takes all inputs.",
            "Float32 inputs need other kernels than half ones: under autocast, or with `.half()`, more kernels fit.",
        ),
    ),
    Message(
        "no-flash-attention",
        "this PyTorch was built without flash attention, and uses another kernel",
        ("Torch was not compiled with flash attention",),
        "sdp_utils.cpp",
        means="scaled_dot_product_attention chooses among several kernels. Results are the same; it may be slower.",
        user=("You do not have to change anything. Builds of PyTorch for Windows often lack it.",),
        warning=True,
    ),
    Message(
        "no-fallback",
        "{op} has no kernel on this device, and cannot run on the CPU instead",
        (
            "No registered fallback function for {op}",
            'The operator {op} appears to be a view operator, but it has no implementation for the backend "{device}"',
        ),
        "CPUFallback.cpp, intel_extension_for_pytorch",
        means=(
            "The fallback of the backend copies tensors to the CPU and back. A view must share the memory of its "
            "argument, so that a copy is no replacement. If the operator works elsewhere in the program, the tensor "
            "is of another kind there, or not on that device."
        ),
        user=("Call `x.contiguous()` or `x.clone()` before, or use a newer package of the backend.",),
        author=("Register a kernel of {op} for the backend.",),
    ),
    Message(
        "no-group-backend",
        "the process group has no backend for tensors on {device}",
        ("No backend type associated with device type {device}",),
        "ProcessGroup.hpp",
        means="A group calls the backend of the tensor's device: nccl for CUDA, gloo for the CPU.",
        user=(
            "Move the tensor to the device of the group's backend before the collective, such as `x.to('cuda')`.",
            "Or create the group with a backend for each device: `init_process_group('cpu:gloo,cuda:nccl')`.",
            "If a framework calls it: parameters or optimizer states are offloaded to the CPU; keep them on the GPU.",
        ),
    ),
)
