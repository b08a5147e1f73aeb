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
            "It takes no tensor but a device, so that its kernel at BackendSelect chooses by that argument. Kernels "
            "were registered for some devices only (`device_types=…`), and not for {device}."
        ),
        user=("Move the tensors to a device that has a kernel.", "Look for a release of the library that supports it."),
        author=("Register one: `@my_op.register_kernel('{device}')`; without `device_types` the function is for all.",),
    ),
    Message(
        TextKind.NO_DTYPE,
        "the kernel {function} has no code for tensors of {dtype}",
        ("\"{function}\" not implemented for '{dtype}'",),
        "AT_DISPATCH_SWITCH in ATen/Dispatch.h",
        means=(
            "This is not about dispatch keys: dispatch has found a kernel and called it. A dtype is no part of a "
            "dispatch key; the kernel chooses its code by dtype itself, and has none for {dtype}. {function} is the "
            "name of that kernel, which is seldom the name of an operator."
        ),
        user=(
            "Convert the tensors before the call, such as `x.float()`, or run the model in another dtype.",
            "On the CPU, half precision has the fewest kernels; bfloat16 and float32 have more.",
            "Under autocast: turn it off around this call.",
            "If it was meant to run on a GPU, and {function} is a kernel for the CPU: torch.cuda.is_available() says "
            "whether PyTorch was built with CUDA and finds the GPU.",
        ),
        author=("Add {dtype} to the kernel's AT_DISPATCH macro.",),
    ),
    Message(
        TextKind.NO_STUB,
        "a kernel of PyTorch has no part for this device",
        (
            "DispatchStub: unsupported device type[[ {device}]]",
            "DispatchStub: missing kernel for [[{device}]]",
            "DispatchStub: missing default kernel",
            "DispatchStub: missing AVX2 kernel",
        ),
        "aten/src/ATen/native/DispatchStub.cpp",
        means=(
            "Dispatch has found a kernel and called it. That kernel is shared by devices and looks up its inner part "
            "by device (DispatchStub); for this device none is linked in."
        ),
        user=(
            "Move the tensors to the CPU or CUDA around this call.",
            "Check that the backend's package was imported.",
        ),
        author=(
            "For PrivateUse1: REGISTER_PRIVATEUSE1_DISPATCH for the stub, or register a kernel of the operator at "
            "PrivateUse1, so that the shared one is not reached.",
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
        means="The installed package has no code for {device}. No registration of an operator can change that.",
        user=(
            "Install a build of PyTorch for {device}: https://pytorch.org/get-started/locally/. Of a backend with a "
            "package of its own (xla, hpu, npu) import that package first, such as `import torch_xla`.",
            "Or leave the tensors on the CPU: map_location='cpu' where they are loaded.",
        ),
    ),
    Message(
        TextKind.BAD_DEVICE,
        "{device} is no name of a device in this PyTorch",
        (
            "device type at start of device string: {device}",
            "Invalid device string: '{device}",
        ),
        "parse_type in c10/core/Device.cpp",
        means=(
            "A device is a type, which the text lists, and a number where there are several: `cuda:0`. NVIDIA's and "
            "AMD's GPUs are both `cuda`, Apple's are `mps`, Intel's are `xpu`. A backend outside of PyTorch has its "
            "name from when its package is imported."
        ),
        user=(
            "Write one of the types in the text.",
            "If it is the name of a backend outside of PyTorch, such as npu: import its package before, such as "
            "`import torch_npu`.",
        ),
        author=("A backend at PrivateUse1 gets its name by torch.utils.rename_privateuse1_backend.",),
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
            "A call has the dispatch keys of all its tensors together, and the key of highest priority chooses the "
            "kernel. The key CUDA has a higher priority than the key CPU: with tensors on both, the CUDA kernel is "
            "called. It then finds a tensor on another device than it is for."
        ),
        user=(
            "Move the tensors, and the module's parameters, to one device: `x.to(weight.device)`.",
            "A layer that is made in `forward`, or kept in a list or dict of Python, is not moved by `model.to(…)`: "
            "make it in `__init__`, in a ModuleList or ModuleDict.",
        ),
        author=("Create new tensors on the device of an argument: `torch.empty(..., device=x.device)`.",),
    ),
    Message(
        TextKind.VIEW_FALLBACK,
        "{op} is a view, and {device} has no kernel of it",
        (
            "The operator {op} appears to be a view operator, but it has no implementation for the backend "
            '"[[{device}]]',
        ),
        "cpu_fallback in aten/src/ATen/native/CPUFallback.cpp",
        means=(
            "The backend's fallback copies tensors to the CPU and runs the CPU kernel. The result of a view has to "
            "share memory with the argument, and a copy on another device can not."
        ),
        user=("Use the copying form of the operator, such as `aten::view_copy` or `.clone()` before it.",),
        author=("Register a kernel of {op} at the backend's key: views are the operators that a fallback can not do.",),
    ),
    Message(
        TextKind.BIT_FALLBACK,
        "the fallback for conjugated, negated or zero tensors can not run {op}",
        (
            "Unsupported operator for {function} fallback: ",
            "{function} fallback does not support operators with more than one mutable tensors",
            "fallback doesn't currently support mutable TensorLists with {function} inputs"
            "[[. Please materialize all the {*} before calling {op}]]",
            "ZeroTensor fallback doesn't work for operators with a mix mutable and non-mutable inputs",
        ),
        "MathOpFallback in aten/src/ATen/native/MathBitsFallback.h",
        means=(
            "An argument is lazily conjugated, negated or zero, which adds the key Conjugate, Negative or ZeroTensor. "
            "The backend fallback there (rule 9) materializes it; it does so only for operators with one mutable "
            "tensor."
        ),
        user=("Materialize the argument before the call: `x.resolve_conj()`, `x.resolve_neg()`.",),
        author=("Register a kernel at that key; a fallthrough only if the kernels below read the bit themselves.",),
    ),
    Message(
        TextKind.FALLTHROUGH_CALLED,
        "a fallthrough was called as if it were a kernel",
        (
            "fallthrough_kernel was executed but it should have been short-circuited by the dispatcher",
            "fallthrough_kernel() should never be called",
        ),
        "fallthrough_kernel in aten/src/ATen/core/boxing/KernelFunction.cpp",
        means="A fallthrough is a mark by which the dispatcher goes on to the next key. It has no code to run.",
        author=(
            "Do not call it; register it with torch::CppFunction::makeFallthrough() or "
            "torch.library.fallthrough_kernel.",
        ),
    ),
    Message(
        TextKind.WRONG_RETURNS,
        "a kernel returns something else than its schema says",
        (
            "Boxed kernel was expected to return ",
            "Unable to cast {*} to Tensor",
        ),
        "aten/src/ATen/core/boxing/impl/boxing.h, toTypeInferredIValue and toIValue of torch/csrc/jit/python",
        means=(
            "A boxed kernel, such as one in Python or a fallback, returns values on a stack: too many, too few, or of "
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
        means="Generators, pinned memory and the like are no operators: a backend gives them by hooks.",
        user=("Import the backend's package before the call; a newer release of it may have the hook.",),
        author=("Derive from at::PrivateUse1HooksInterface and pass it to at::RegisterPrivateUse1HooksInterface.",),
    ),
    Message(
        TextKind.OVERRIDEABLE,
        "{function} is for other backends to register, and this backend has not",
        (
            "{function} not implemented. This is an operator for privateuse1 backends, please use TORCH_LIBRARY_IMPL",
            "{function} not implemented: This is an operator for privateuse1 backends, please use TORCH_LIBRARY_IMPL",
            "{function} not implemented. You are likely triggering this with tensor backend other than CPU/CUDA/MKLDNN",
            "{function}: You are likely triggering this with tensor backend other than CPU/CUDA/MKLDNN",
        ),
        "aten/src/ATen/native/Convolution.cpp, transformers/attention.cpp",
        key="CompositeExplicitAutograd",
        means=(
            "Its kernel at CompositeExplicitAutograd fills the slots of all backends and only raises: a backend "
            "outside of PyTorch is to register its own. A backend fallback does not help, since the slot is filled "
            "(rule 3)."
        ),
        user=("Move the tensors to the CPU around this call.",),
        author=("Register a kernel of aten::{function} at the backend's key.",),
    ),
    Message(
        TextKind.VIEW_SCHEMA,
        "PyTorch's own fallback can not handle a view with this schema",
        (
            "Expected only a single input in the operator schema to have a non-write alias annotation",
            "Expected only a single output in the operator schema to have a non-write alias annotation",
            "Fallback ADInplaceOrView kernel expects only a single",
            "Fallback ADInplaceOrView kernel can only create view relationships between the first input and the first",
            "Custom ops that are views do not support SymInt",
        ),
        "autograd_not_implemented_fallback.cpp",
        key="ADInplaceOrView",
        means="The fallback at ADInplaceOrView makes a view of the first argument only, and of one result.",
        author=(
            "Write the operator at CompositeImplicitAutograd by PyTorch's own views.",
            "Or register kernels at Autograd and ADInplaceOrView.",
        ),
    ),
    Message(
        TextKind.NO_AUTOCAST,
        "{device} has no autocast",
        ("Device type '{device}' does not support autocast",),
        "torch.library.register_autocast",
        means="register_autocast puts a kernel at Autocast<backend>, and this device has no such key.",
        author=("Name a device with an autocast key: cpu, cuda, xpu, mps, or the backend at PrivateUse1.",),
    ),
)
