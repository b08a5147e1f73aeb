"""Texts about devices, layouts and dtypes: what was built, what a kernel or a fallback itself refuses."""

from __future__ import annotations

from dispatch_cli.report.messages.kinds import Message, TextKind

MESSAGES = (
    Message(
        TextKind.NO_DEVICE_KERNEL,
        "{op} was made by torch.library.custom_op and has no kernel for {device}",
        (
            "{op} does not have a kernel registered for {device}. Please use register_kernel",
            "<CustomOp(op=\"{op}\")>: when running with device='{device}' tensors: there is no {*} impl registered",
            '<CustomOp(op="{op}")>: No implementation for dispatch key {key}',
            '<CustomOp(op="{op}")>: There were no Tensor inputs to this operator',
        ),
        "CustomOpDef in torch/_library/custom_ops.py, torch/_custom_op/impl.py",
        means=(
            "It takes no tensor but a device, so its kernel at BackendSelect chooses by that argument. Kernels were "
            "registered only for some devices (`device_types=…`), not for {device}."
        ),
        user=("Move the tensors to a device that has a kernel.", "Look for a release of the library that supports it."),
        author=(
            "Register one: `@my_op.register_kernel('{device}')`. Without `device_types` a kernel is for all devices.",
        ),
    ),
    Message(
        TextKind.NO_DTYPE,
        "the kernel {function} has no code for tensors of {dtype}",
        ("\"{function}\" not implemented for '{dtype}'",),
        "AT_DISPATCH_SWITCH in ATen/Dispatch.h",
        means=(
            "This has nothing to do with dispatch keys: the dispatcher has found a kernel and called it. The kernel "
            "itself chooses its code by dtype, and has none for {dtype}. {function} is the name of that kernel, "
            "which is seldom the name of an operator."
        ),
        user=(
            "Convert the tensors before the call, such as `x.float()`, or run the model in another dtype.",
            "On the CPU, half precision has the fewest kernels; bfloat16 and float32 have more.",
            "Under autocast: turn it off around this call.",
            "If the model should run on a GPU and {function} is a CPU kernel: torch.cuda.is_available() says whether "
            "PyTorch was built with CUDA and finds the GPU.",
        ),
        author=("Add {dtype} to the kernel's AT_DISPATCH macro.",),
    ),
    Message(
        TextKind.NO_STUB,
        "a kernel of PyTorch has no code for this device",
        (
            "DispatchStub: unsupported device type[[ {device}]]",
            "DispatchStub: missing kernel for [[{device}]]",
            "DispatchStub: missing default kernel",
            "DispatchStub: missing AVX2 kernel",
        ),
        "aten/src/ATen/native/DispatchStub.cpp",
        means=(
            "The dispatcher has found a kernel and called it. Several devices share that kernel, and it looks up the "
            "code for each device in a DispatchStub; none is linked in for this device."
        ),
        user=(
            "Move the tensors to the CPU or CUDA around this call.",
            "Check that the package of the backend was imported.",
        ),
        author=(
            "For PrivateUse1: use REGISTER_PRIVATEUSE1_DISPATCH for the stub, or register a kernel of the operator "
            "at PrivateUse1, so that the shared one is not called.",
        ),
    ),
    Message(
        TextKind.NOT_BUILT,
        "this PyTorch was built without {device}",
        (
            "Torch not compiled with {device} enabled",
            "PyTorch is not linked with support for {device} devices",
            "Cannot initialize {device} without {*} library",
            "PyTorch was compiled without CUDA support",
            "PyTorch compiled without support for the specified device",
            "PyTorch not compiled with CUDA support",
        ),
        "c10/core/impl/DeviceGuardImplInterface.h, torch/cuda/__init__.py",
        means="The installed package has no code for {device}. Registering an operator cannot change that.",
        user=(
            "Install a build of PyTorch for {device}: https://pytorch.org/get-started/locally/. If the backend has a "
            "package of its own (xla, hpu, npu), import that first, such as `import torch_xla`.",
            "Or keep the tensors on the CPU: pass map_location='cpu' where they are loaded.",
        ),
    ),
    Message(
        TextKind.BAD_DEVICE,
        "{device} is not the name of a device in this PyTorch",
        (
            "device type at start of device string: {device}",
            "Invalid device string: '{device}",
        ),
        "parse_type in c10/core/Device.cpp",
        means=(
            "A device is a type, one of those that the text lists, and a number where there are several: `cuda:0`. "
            "NVIDIA's and AMD's GPUs are both `cuda`, Apple's are `mps`, Intel's are `xpu`. A backend outside of "
            "PyTorch gets its name when its package is imported."
        ),
        user=(
            "Write one of the types in the text.",
            "If it is the name of a backend outside of PyTorch, such as npu: import its package first, such as "
            "`import torch_npu`.",
        ),
        author=("A backend at PrivateUse1 gets its name from torch.utils.rename_privateuse1_backend.",),
    ),
    Message(
        TextKind.MIXED_DEVICES,
        "the tensors of one call are on several devices",
        (
            "Expected all tensors to be on the same device, but found at least two devices, {device} and "
            "{other_device}",
            "Expected all tensors to be on the same device, but got {argument} is on {device}",
            "Expected all tensors to be on the same device",
            # until PyTorch 1.4
            "Expected object of backend {device} but got backend {other_device} for argument",
            "Expected object of device type {device} but got device type {other_device} for argument",
            "Tensor on device {device} is not on the expected device {other_device}",
            "tensors to be on the same device",
            "tensors must be on the same device",
            "tensors must all be on the same device",
        ),
        "common_device_check_failure in aten/src/ATen/core/op_registration/adaption.cpp, TensorIterator.cpp",
        means=(
            "A call has the dispatch keys of all its tensors, and the key with the highest priority chooses the "
            "kernel. CUDA has a higher priority than CPU: with tensors on both, the CUDA kernel is called. It then "
            "finds a tensor that is not on its device."
        ),
        user=(
            "Move the tensors, and the module's parameters, to one device: `x.to(weight.device)`.",
            "`model.to(…)` does not move a layer that is created in `forward` or kept in a Python list or dict: "
            "create it in `__init__`, in a ModuleList or ModuleDict.",
        ),
        author=("Create new tensors on the device of an argument: `torch.empty(..., device=x.device)`.",),
    ),
    Message(
        TextKind.VIEW_FALLBACK,
        "{op} is a view, and has no kernel for {device}",
        (
            "The operator {op} appears to be a view operator, but it has no implementation for the backend "
            '"[[{device}]]',
        ),
        "cpu_fallback in aten/src/ATen/native/CPUFallback.cpp",
        means=(
            "The fallback of the backend copies tensors to the CPU and runs the CPU kernel. The result of a view "
            "must share memory with the argument, which a copy on another device cannot."
        ),
        user=("Use an operator that copies, such as `aten::view_copy`, or call `.clone()` first.",),
        author=("Register a kernel of {op} at the key of the backend: a fallback to the CPU cannot run views.",),
    ),
    Message(
        TextKind.BIT_FALLBACK,
        "the fallback for conjugated, negated or zero tensors cannot run {op}",
        (
            "Unsupported operator for {function} fallback: ",
            "{function} fallback does not support operators with more than one mutable tensors",
            "fallback doesn't currently support mutable TensorLists with {function} inputs"
            "[[. Please materialize all the {*} before calling {op}]]",
            "ZeroTensor fallback doesn't work for operators with a mix mutable and non-mutable inputs",
        ),
        "MathOpFallback in aten/src/ATen/native/MathBitsFallback.h",
        means=(
            "An argument is lazily conjugated, lazily negated or a zero tensor without memory, which adds the key "
            "Conjugate, Negative or ZeroTensor. The backend fallback there (rule 9) materializes it, but supports at "
            "most one mutable tensor with that key, and none in a list."
        ),
        user=("Materialize the argument before the call: `x.resolve_conj()`, `x.resolve_neg()`.",),
        author=("Register a kernel at that key, or a fallthrough if the kernels below it read the bit themselves.",),
    ),
    Message(
        TextKind.FALLTHROUGH_CALLED,
        "a fallthrough was called as if it were a kernel",
        (
            "fallthrough_kernel was executed but it should have been short-circuited by the dispatcher",
            "fallthrough_kernel() should never be called",
        ),
        "fallthrough_kernel in aten/src/ATen/core/boxing/KernelFunction.cpp",
        means="A fallthrough tells the dispatcher to go on to the next key. It has no code to run.",
        author=(
            "Do not call it. Register it with torch::CppFunction::makeFallthrough() or "
            "torch.library.fallthrough_kernel.",
        ),
    ),
    Message(
        TextKind.WRONG_RETURNS,
        "a kernel does not return what its schema says",
        (
            "Boxed kernel was expected to return ",
            "Unable to cast {*} to Tensor",
        ),
        "aten/src/ATen/core/boxing/impl/boxing.h, toTypeInferredIValue and toIValue of torch/csrc/jit/python",
        means=(
            "A boxed kernel, such as a Python kernel or a fallback, returned too many values, too few, or values of "
            "another type."
        ),
        author=("Return what the schema says: one value, a tuple, or nothing for `()`.",),
    ),
    Message(
        TextKind.NO_HOOKS,
        "the backend at PrivateUse1 has registered no hooks",
        (
            "You should register `PrivateUse1HooksInterface` for PrivateUse1 before call",
            "Please register PrivateUse1HooksInterface by `RegisterPrivateUse1HooksInterface` first",
            "Please register a generator to the PrivateUse1 dispatch key",
            'Tried to call pure virtual function "at::PrivateUse1HooksInterface::{name}"',
            "You should register `PrivateUse1HooksInterface`by `RegisterPrivateUse1HooksInterface`",
        ),
        "ATen/detail/PrivateUse1HooksInterface.h",
        means="Generators, pinned memory and the like are not operators: a backend provides them through hooks.",
        user=("Import the backend's package before the call; a newer release of it may have the hook.",),
        author=(
            "Derive a class from at::PrivateUse1HooksInterface and pass it to at::RegisterPrivateUse1HooksInterface.",
        ),
    ),
    Message(
        TextKind.OVERRIDEABLE,
        "{function} needs a kernel of each backend outside of PyTorch, and this backend has registered none",
        (
            "{function} not implemented. This is an operator for privateuse1 backends, please use TORCH_LIBRARY_IMPL",
            "{function} not implemented: This is an operator for privateuse1 backends, please use TORCH_LIBRARY_IMPL",
            "{function} not implemented. You are likely triggering this with tensor backend other than CPU/CUDA/MKLDNN",
            "{function}: You are likely triggering this with tensor backend other than CPU/CUDA/MKLDNN",
        ),
        "aten/src/ATen/native/Convolution.cpp, transformers/attention.cpp",
        key="CompositeExplicitAutograd",
        means=(
            "Its kernel at CompositeExplicitAutograd fills the slots of all backends and does nothing but raise: a "
            "backend outside of PyTorch has to register its own. A backend fallback does not help, because the slot "
            "is filled already (rule 3)."
        ),
        user=("Move the tensors to the CPU around this call.",),
        author=("Register a kernel of aten::{function} at the key of the backend.",),
    ),
    Message(
        TextKind.VIEW_SCHEMA,
        "PyTorch's own fallback cannot handle a view with this schema",
        (
            "Expected only a single input in the operator schema to have a non-write alias annotation",
            "Expected only a single output in the operator schema to have a non-write alias annotation",
            "Fallback ADInplaceOrView kernel expects only a single",
            "Fallback ADInplaceOrView kernel can only create view relationships between the first input and the first",
            "Custom ops that are views do not support SymInt",
        ),
        "autograd_not_implemented_fallback.cpp",
        key="ADInplaceOrView",
        means=(
            "The fallback at ADInplaceOrView can only make a view relation between the first argument and the first "
            "result."
        ),
        author=(
            "Register the operator at CompositeImplicitAutograd, and write it with PyTorch's own views.",
            "Or register kernels at Autograd and ADInplaceOrView.",
        ),
    ),
    Message(
        TextKind.NO_AUTOCAST,
        "{device} does not support autocast",
        ("Device type '{device}' does not support autocast",),
        "torch.library.register_autocast",
        means="register_autocast registers a kernel at Autocast<backend>, and there is no such key for this device.",
        author=("Pass a device that has an autocast key: cpu, cuda, xpu, mps, or the backend at PrivateUse1.",),
    ),
)
