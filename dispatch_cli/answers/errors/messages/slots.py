"""Texts about a slot of a dispatch table that is empty, or does not hold what the call needs."""

from __future__ import annotations

from dispatch_cli.answers.errors.kinds import Message
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model import printed_texts
from dispatch_cli.model.universe import AUTOGRAD_OTHER, META, UNDEFINED

FUNC_TORCH_BATCHED = "FuncTorchBatched"
NO_KERNEL_THERE = (Rule.FALLBACK, Rule.MISSING)

MESSAGES = (
    Message(
        "no-kernel",
        "{op} has no kernel at {key}",
        (printed_texts.NO_KERNEL.replace("the ", "[[the ]]"),),
        "OperatorEntry::reportError",
        author=("Register a kernel of {op} at {key}, or at an alias key that covers it.",),
        rules=(Rule.MISSING,),
    ),
    Message(
        "no-tensors",
        "a call of {op} without a tensor goes to {key}, which has no kernel",
        (printed_texts.NO_TENSORS,),
        "OperatorEntry::reportError",
        key=UNDEFINED,
        author=(
            "If the operator can be called without a tensor: register its kernel at CompositeExplicitAutograd or "
            "CompositeImplicitAutograd, which also fill Undefined; or at BackendSelect, to choose a backend by an "
            "argument such as `device`.",
        ),
        rules=(Rule.MISSING,),
    ),
    Message(
        "no-meta",
        "{op} has no kernel for meta or fake tensors, at {key}",
        (
            "{op}: while attempting to run this operator with Meta Tensors",
            printed_texts.NO_META,
            "{op}: We could not find the [[fake]][[abstract]] impl for this operator[[. The operator specified that "
            "you may need to import the '{module}' Python module]]",
            "UnsupportedOperatorException: {op}{fake}",
            "UnsupportedOperatorException(func=<OpOverload(op='{op}', overload='{overload}')>{fake}",
            "unsupported operator: {op}{fake}",
            "propagate_real_tensors{fake}: we cannot infer a Fake kernel (meta kernel) for operator {op}",
        ),
        "MetaFallbackKernel.cpp, torch/_library/utils.py, torch/_subclasses/fake_tensor.py",
        key=META,
        author=("Register a fake implementation: `torch.library.register_fake`.",),
        rules=NO_KERNEL_THERE,
        contexts=("fake",),
    ),
    Message(
        "ambiguous",
        "{op} is ambiguous at {key}",
        (printed_texts.AMBIGUOUS, printed_texts.AMBIGUOUS_IN_PYTHON),
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
        rules=(Rule.AMBIGUOUS,),
    ),
    Message(
        "no-autograd",
        "{op} has no autograd kernel",
        ("{op}: an autograd kernel was not registered to the Autograd key",),
        "autograd_not_implemented_fallback.cpp",
        author=(
            "Give it a backward: in Python with `torch.library.register_autograd(op, backward, "
            "setup_context=setup_context)`, in C++ with a kernel at the key Autograd.",
            "If it has no derivative, register a fallthrough at Autograd: `torch::CppFunction::makeFallthrough()`.",
        ),
        rules=(Rule.FALLBACK,),
        warning=True,
    ),
    Message(
        "no-batching-rule",
        "{op} has no batching rule, at {key}",
        (
            printed_texts.NO_BATCHING_RULE,
            printed_texts.NO_NESTED_BATCHING_RULE,
            f"{printed_texts.NO_BATCHING_RULE} falling back to slow{{loops}}",
            "batching rule not implemented for {op}",
            "not yet implemented the [[nested ]]batching rule for {op}{loops}",
            "{op} requires special handling, and does not yet have a batching rule",
            "{op} hit the vmap fallback which is currently disabled{disabled}",
        ),
        "BatchedFallback.cpp",
        key=FUNC_TORCH_BATCHED,
        user=("[disabled] Turn the loop on again: `torch._C._functorch._set_vmap_fallback_enabled(True)`.",),
        author=("Register a batching rule: torch.library.register_vmap, or a kernel at FuncTorchBatched.",),
        rules=NO_KERNEL_THERE,
    ),
    Message(
        "not-on-device",
        "{op} has no kernel for {key} devices",
        ("The operator '{op}' is not current[[ly]] implemented for the {key} device",),
        "aten/src/ATen/mps/MPSFallback.mm, src/ATen/native/xpu/XPUFallback.template of torch-xpu-ops",
        means="The backend fallback of {key} was called (rule 9), which raises.",
        rules=NO_KERNEL_THERE,
    ),
    Message(
        "no-names",
        "{op} does not support named tensors",
        (printed_texts.NO_NAMES,),
        "aten/src/ATen/core/NamedRegistrations.cpp",
        key="Named",
        means=(
            "An argument has named dimensions, which adds the key Named to the call. No kernel of {op} is registered "
            "there, so the backend fallback of Named (rule 9) runs, and it raises."
        ),
        rules=NO_KERNEL_THERE,
    ),
)
