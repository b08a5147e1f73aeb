"""Texts about devices and dtypes: what was built, what a kernel or a fallback itself refuses."""

from __future__ import annotations

from dispatch_cli.answers.errors.kinds import Message

MESSAGES = (
    Message(
        "ran-on-cpu",
        "{op} has no kernel for {device}, and ran on the CPU",
        (
            "The operator '{op}' is not currently supported on the {device} backend and will fall back to run on "
            "[[the ]]CPU",
        ),
        "MPSFallback.mm, and the fallbacks of torch_npu, torch-directml and others",
        means=(
            "{device} has a backend fallback (rule 9) that copies the tensors to the CPU, calls {op} there, and "
            "copies the result back. The result is right; the copies take time."
        ),
        user=(
            "You do not have to change anything.",
            "If it is too slow: a newer PyTorch, or a newer package of the backend, may have the kernel.",
        ),
        author=("Register a kernel of {op} at the key of {device}.",),
        warning=True,
    ),
    Message(
        "no-dtype",
        "a kernel has no code for tensors of {dtype}[[: {function}]]",
        (
            "\"{function}\" not implemented for '{dtype}'",
            "Unsupported dtype {dtype}",
            "Undefined type {dtype}",
            "{dtype} is not supported on {device}",
            "{function} is only supported for {*} tensors, but got a tensor of scalar type: {dtype}",
            "{device} device does not support {function} for non-float inputs",
            "Cannot convert a {device} Tensor to {torch_dtype} dtype as the MPS framework doesn't support",
            "Trying to convert {dtype} to the {device} backend but it does not have support for that dtype",
        ),
        "AT_DISPATCH_SWITCH in ATen/Dispatch.h, aten/src/ATen/native/mps",
        means=(
            "This has nothing to do with dispatch keys: the dispatcher has found a kernel and called it. The kernel "
            "itself chooses its code by dtype, and has none for {dtype}.[[ {function} is the name of that kernel, "
            "which is seldom the name of an operator.]]"
        ),
        user=(
            "Convert the tensors before the call, such as `x.float()`, or run the model in another dtype.",
            "Under autocast: turn it off around this call.",
            "[function] If the model should run on a GPU and {function} is a CPU kernel: torch.cuda.is_available() "
            "says whether PyTorch was built with CUDA and finds the GPU.",
        ),
        author=("Add {dtype} to the kernel's AT_DISPATCH macro.",),
    ),
    Message(
        "argument-dtype",
        "the argument {argument} of {function} has a dtype that its kernel does not take",
        (
            "Expected tensor for argument #{*}'{argument}' to have [[one of the following ]]scalar type[[s]]{*}but got "
            "{*}(while checking arguments for {function})",
        ),
        "checkScalarTypes in aten/src/ATen/TensorUtils.cpp",
        means="The kernel itself checks the dtype; the text lists those that it takes. This is no matter of dispatch.",
        user=(
            "Convert the argument, such as `indices.long()`.",
            "`model.half()`, autocast and wrappers that convert inputs must leave integer tensors as they are.",
        ),
    ),
    Message(
        "no-stub",
        "a kernel of PyTorch has no code for this device",
        (
            "DispatchStub: unsupported device type[[ {device}]]",
            "DispatchStub: missing kernel for [[{device}]]",
            "DispatchStub: missing default kernel",
            "{function}_overrideable not implemented{overrideable}",
            "{function}_overrideable: You are likely triggering this with tensor backend{overrideable}",
        ),
        "aten/src/ATen/native/DispatchStub.cpp",
        means=(
            "The dispatcher has found a kernel and called it. Several devices share that kernel, and it looks up the "
            "code for each device in a DispatchStub; none is linked in for this device."
        ),
        user=("Move the tensors to the CPU for this call, or import a newer package of the backend.",),
        author=(
            "[overrideable] Register a kernel of aten::{function}_overrideable for the backend: the operator is "
            "there for that.",
            "[!overrideable] For PrivateUse1: use REGISTER_PRIVATEUSE1_DISPATCH for the stub, or register a kernel "
            "of the operator at PrivateUse1, so that the shared one is not called.",
        ),
    ),
    Message(
        "not-built",
        "this PyTorch was built without {device}",
        (
            "Torch not compiled with {device} enabled",
            "PyTorch is not linked with support for {pytorch_device} devices",
            "Cannot initialize {device} without {*} library",
            "PyTorch was compiled without CUDA support",
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
        "mixed-devices",
        "the tensors of one call are on several devices",
        (
            "Expected all tensors to be on the same device, but found at least two devices, {device} and "
            "{other_device}",
            "Expected all tensors to be on the same device, but got {argument} is on {device}",
            "Expected all tensors to be on the same device",
            "Expected object of backend {device} but got backend {dense_device} for argument",
            "Expected object of device type {device} but got device type {other_device} for argument",
            "Tensor on device {device} is not on the expected device {other_device}",
            "Tensor on device meta{meta} is not on the expected device {other_device}",
            "Tensor on device {other_device} is not on the expected device meta{meta}",
            "on device '{device}'{*}different device '{other_device}'",
            "tensors to be on the same device",
            "tensors must [[all ]]be on the same device",
            "to have the same device as tensor for argument",
            "indices should be either on {*} or on the same device as the indexed tensor",
            "Expected a '{device}' device type for generator but found '{other_device}'{generator}",
            "Placeholder storage has not been allocated on MPS device",
            "Passed CPU tensor to MPS op",
            "Input type (torch.{device_type}.{*}) and [[weight]][[bias]] type (torch.{cpu_type}) should be the same",
            "Input type (torch.{cpu_type}) and [[weight]][[bias]] type (torch.{device_type}.{*}) should be the same",
            "Pointer argument (at {*}) cannot be accessed from Triton (cpu tensor?)",
        ),
        "common_device_check_failure in adaption.cpp, TensorIterator.cpp, check_same_device in torch/_prims_common",
        means=(
            "A call has the dispatch keys of all its tensors, and the key with the highest priority chooses the "
            "kernel: CUDA comes before CPU, so with tensors on both, the CUDA kernel is called. It then finds a tensor "
            "that is not on its device."
        ),
        user=(
            "[generator] Create the generator on the device of the tensors: `torch.Generator(device=x.device)`.",
            "[!meta] Move the tensors, and the module's parameters, to one device: `x.to(weight.device)`.",
            "[!meta] `model.to(…)` does not move a layer that is created in `forward` or kept in a Python list or "
            "dict: create it in `__init__`, in a ModuleList or ModuleDict.",
            "[meta] A tensor on meta has no data to move: create it with `module.to_empty(device='cpu')`, and load "
            "the weights, before the call.",
            "[meta] If you only need shapes: move the other tensors to meta too, `x.to('meta')`.",
        ),
        author=("Create new tensors on the device of an argument: `torch.empty(..., device=x.device)`.",),
    ),
    Message(
        "no-device-module",
        "the backend {device} has no Python module in torch, or there is no such device",
        (
            "device type at start of device string: {device}",
            "Invalid device string: '{device}",
            "Device '{device}' does not have a corresponding module registered as 'torch.",
            "No module named 'torch.{private_device}'",
            "PyTorch is not linked with support for {private_device} devices{guard}",
        ),
        "parse_type in c10/core/Device.cpp, torch/__init__.py, torch/_utils.py",
        means=(
            "A backend outside of PyTorch registers its name and its Python module `torch.NAME` when its package is "
            "imported; without a name the device is called privateuseone. Of the backends in PyTorch, the GPUs of "
            "NVIDIA and AMD are both called `cuda`, Apple's `mps`, Intel's `xpu`."
        ),
        user=(
            "Import the package of the backend before the first tensor is created, such as `import torch_npu`.",
            "If it is a misspelled name: write one of those that the text lists.",
        ),
        author=(
            "[guard] Register a guard for the device in C++: `C10_REGISTER_GUARD_IMPL(PrivateUse1, MyGuard)`.",
            "Call torch.utils.rename_privateuse1_backend('name') for the name, and "
            "torch._register_device_module('name', module) for the module.",
        ),
    ),
    Message(
        "no-hooks",
        "the backend at PrivateUse1 has registered no hooks",
        (
            "You should register `PrivateUse1HooksInterface` for PrivateUse1 before call",
            "Please register PrivateUse1HooksInterface by `RegisterPrivateUse1HooksInterface` first",
            "Please register a generator to the PrivateUse1 dispatch key{generator}",
        ),
        "ATen/detail/PrivateUse1HooksInterface.h",
        means="Generators, pinned memory and the like are not operators: a backend provides them through hooks.",
        user=("Import the backend's package before the call; a newer release of it may have the hook.",),
        author=(
            "[!generator] Derive a class from at::PrivateUse1HooksInterface and pass it to "
            "at::RegisterPrivateUse1HooksInterface.",
        ),
    ),
    Message(
        "extension-not-built",
        "a package was built without its code for [[{gpu}GPUs]][[{cpu}the CPU]][[: {function}]]",
        (
            "[[{function} ]]is not compiled with GPU support{gpu}",
            "Not compiled with GPU support{gpu}",
            "Not compiled with CUDA support{gpu}",
            "Not [[implemented]][[implement]] on [[the ]][[CPU]][[cpu]]{cpu}",
        ),
        "the package itself, such as mmcv, detectron2, torchvision or torch_scatter",
        means=(
            "The package's function chooses its code by the device of the tensors, without the dispatcher.[[{gpu} It "
            "was compiled without CUDA.]][[{cpu} It has code for GPUs only.]]"
        ),
        user=(
            "[gpu] Install a build of the package for the CUDA of the installed PyTorch (`torch.version.cuda`). If "
            "you compile it: delete its folder `build` first, and check that nvcc is there; FORCE_CUDA=1 compiles "
            "for GPUs on a machine that has none.",
            "[gpu] Or move the tensors to the CPU for this call.",
            "[cpu] Move the model and its inputs to the GPU: `x.cuda()`.",
        ),
    ),
)
