"""Texts about a slot of a dispatch table that is empty, or does not hold what the call needs."""

from __future__ import annotations

from dispatch_cli.model.universe import AUTOGRAD_OTHER, UNDEFINED
from dispatch_cli.report.messages.kinds import Message, TextKind

META = "Meta"
FUNC_TORCH_BATCHED = "FuncTorchBatched"

MESSAGES = (
    Message(
        TextKind.NO_KERNEL,
        "{op} has no kernel at {key}",
        ("Could not run '{op}' with arguments from the '{key}'",),
        "OperatorEntry::reportError",
    ),
    Message(
        TextKind.NO_TENSORS,
        "a call of {op} without a tensor goes to {key}, which has no kernel",
        ("no fallback function is registered for schema {op}",),
        "OperatorEntry::reportError",
        key=UNDEFINED,
        author=(
            "If the operator can be called without a tensor: register its kernel at CompositeExplicitAutograd or "
            "CompositeImplicitAutograd, which also fill Undefined; or at BackendSelect, to choose a backend by an "
            "argument such as `device`.",
        ),
    ),
    Message(
        TextKind.NO_META,
        "{op} has no kernel for meta or fake tensors, at {key}",
        (
            "{op}: while attempting to run this operator with Meta Tensors",
            "{op}: attempted to run this operator with Meta tensors",
            "{op}: We could not find the fake impl for this operator[[. The operator specified that you may need "
            "to import the '{module}' Python module]]",
            "{op}: We could not find the abstract impl for this operator[[. The operator specified that you may "
            "need to import the '{module}' Python module]]",
            "UnsupportedOperatorException: {op}{fake}",
            "UnsupportedOperatorException(func=<OpOverload(op='{op}', overload='{overload}')>{fake}",
            "unsupported operator: {op}{fake}",
            "propagate_real_tensors{fake}: we cannot infer a Fake kernel (meta kernel) for operator {op}",
        ),
        "MetaFallbackKernel.cpp, torch/_library/utils.py, torch/_subclasses/fake_tensor.py",
        key=META,
    ),
    Message(
        TextKind.AMBIGUOUS,
        "{op} is ambiguous at {key}",
        (
            "{op} has kernels registered to both CompositeImplicitAutograd and a backend mapped to AutogradOther",
            "ambiguous autogradother kernel",
        ),
        "ambiguous_autogradother_kernel in KernelFunction.cpp, resolve_key in torch/_ops.py",
        key=AUTOGRAD_OTHER,
        means=(
            "Backends without an autograd key of their own share AutogradOther. {op} has a kernel at one of them and "
            "another at CompositeImplicitAutograd, so it is ambiguous which of them has to fill that slot (rule 6)."
        ),
        user=(
            "If no gradient is needed, call it under `torch.inference_mode()`, which excludes the autograd keys.",
            "Else call it on another device, or install another release of the package that registers its kernels.",
        ),
        author=("Register a kernel at AutogradOther, or move the composite one to CompositeExplicitAutograd.",),
    ),
    Message(
        TextKind.NO_AUTOGRAD,
        "{op} has no autograd kernel",
        ("{op}: an autograd kernel was not registered to the Autograd key",),
        "autograd_not_implemented_fallback.cpp",
        author=(
            "Give it a backward: in Python with `torch.library.register_autograd(op, backward, "
            "setup_context=setup_context)`, in C++ with a kernel at the key Autograd.",
            "If it has no derivative, register a fallthrough at Autograd: `torch::CppFunction::makeFallthrough()`.",
        ),
        warning=True,
    ),
    Message(
        TextKind.NO_PYTHON_KERNEL,
        "the Python dispatcher finds no kernel of {op} at {key}",
        ("could not find kernel for [[HigherOrderOperator ]]{op} at dispatch key {key}",),
        "resolve_key in torch/_ops.py",
    ),
    Message(
        TextKind.NO_BATCHING_RULE,
        "{op} has no batching rule, at {key}",
        (
            "Batching rule not implemented for {op}",
            "Batching rule not implemented for {op} falling back to slow{loops}",
            "batching rule not implemented for {op}",
            "not yet implemented the [[nested ]]batching rule for {op}{loops}",
            "{op} requires special handling, and does not yet have a batching rule",
            "Nested batching rule not implemented for {op}",
        ),
        "BatchedFallback.cpp",
        key=FUNC_TORCH_BATCHED,
    ),
    Message(
        TextKind.NOT_ON_MPS,
        "{op} has no kernel for MPS devices",
        (
            "The operator '{op}' is not currently implemented for the MPS device",
            "The operator '{op}' is not current implemented for the MPS device",
        ),
        "aten/src/ATen/mps/MPSFallback.mm",
        key="MPS",
        means=(
            "No kernel of {op} for Apple's GPUs is registered, so its MPS slot holds the backend fallback of MPS "
            "(rule 9). The fallback raises, or with PYTORCH_ENABLE_MPS_FALLBACK=1 copies the tensors to the CPU and "
            "back."
        ),
    ),
    Message(
        TextKind.NOT_ON_DEVICE,
        "{op} has no kernel for {key} devices",
        ("The operator '{op}' is not currently implemented for the {key} device",),
        "the fallbacks of backends that are made as that of MPS: src/ATen/native/xpu/XPUFallback.template of "
        "torch-xpu-ops",
        means=(
            "No kernel of {op} for this device is registered, so its slot {key} holds a backend fallback (rule 9), "
            "which raises."
        ),
    ),
    Message(
        TextKind.RAN_ON_CPU,
        "{op} has no kernel for {device}, and ran on the CPU",
        (
            "The operator '{op}' is not currently supported on the {device} backend and will fall back to run on "
            "[[the ]]CPU",
        ),
        "aten/src/ATen/mps/MPSFallback.mm, and the fallbacks of torch_npu, torch-directml and others",
        means=(
            "{device} has a backend fallback (rule 9) that copies the tensors to the CPU, calls {op} there, and "
            "copies the result back. The result is right; the copies take time. Other operators still run on "
            "{device}."
        ),
        user=(
            "You do not have to change anything.",
            "If it is too slow: try a newer PyTorch or a newer package of the backend, which may have the kernel, or "
            "use another operator.",
        ),
        author=("Register a kernel of {op} at the key of {device}.",),
        warning=True,
    ),
    Message(
        TextKind.NO_NAMES,
        "{op} does not support named tensors",
        ("{op} is not yet supported with named tensors",),
        "aten/src/ATen/core/NamedRegistrations.cpp",
        key="Named",
        means=(
            "An argument has named dimensions, which adds the key Named to the call. No kernel of {op} is registered "
            "there, so the backend fallback of Named (rule 9) runs, and it raises."
        ),
    ),
)
