"""Texts about gradients: formulas that are missing, and tensors that inference mode made."""

from __future__ import annotations

from dispatch_cli.report.messages.kinds import Message, TextKind

MESSAGES = (
    Message(
        TextKind.NO_FORMULA,
        "{op} was made by torch.library.custom_op and has no backward",
        (
            "Trying to backward through {op} but no autograd formula was registered",
            "Autograd has not been implemented for operator",
        ),
        "torch/_library/autograd.py",
        key="Autograd",
        means=(
            "custom_op registers a kernel at Autograd that calls the operator and notes it in the graph. Without a "
            "formula that note raises when backward comes to it; the forward call works."
        ),
        user=("Where no gradient is needed: torch.no_grad(), or `x.detach()` before the call.",),
        author=("Register one: `my_op.register_autograd(backward, setup_context=setup_context)`.",),
    ),
    Message(
        TextKind.NOT_AT_AUTOGRAD,
        "{op} gives a result that requires a gradient, and has no kernel at an autograd key",
        (
            "{op}: at least one output of this operator has requires_grad=True but the operator does not have an "
            "autograd kernel defined at an autograd key",
        ),
        "autograd_registration_check in torch/testing/_internal/optests/autograd_registration.py",
        key="Autograd",
        means=(
            "Mostly a torch.autograd.Function is called in a kernel at CPU, CUDA or a composite key. That kernel is "
            "below the autograd keys: what it records there is lost or wrong under torch.compile and in other kernels."
        ),
        author=(
            "Register the gradient by torch.library.register_autograd, or the autograd.Function as a kernel at the key "
            "Autograd.",
            "If the operator only calls PyTorch's own: make it a plain function, or register the kernel at "
            "CompositeImplicitAutograd.",
        ),
    ),
    Message(
        TextKind.NO_SECOND_DERIVATIVE,
        "{op} computes a gradient, and has no derivative itself: second derivatives are not possible",
        ("derivative for {backward_op} is not implemented",),
        "NotImplemented in torch/csrc/autograd/functions/basic_ops.cpp, derivatives.yaml",
        key="Autograd",
        means=(
            "The first gradient was computed with create_graph=True, as gradient penalties, meta-learning and "
            "Hessians do, and backward came to it again. derivatives.yaml names no derivative of {op}."
        ),
        user=(
            "If first derivatives are enough: leave create_graph=True out, or choose the first-order variant of the "
            "method.",
            "Else use an implementation made of operators that have second derivatives. Attention: "
            "`with torch.nn.attention.sdpa_kernel(SDPBackend.MATH):` around the forward call.",
        ),
        author=("Write the backward of your operator with operators that have derivatives.",),
    ),
    Message(
        TextKind.NO_DERIVATIVE,
        "PyTorch has no derivative of {op}",
        ("derivative for {op} is not implemented",),
        "NotImplemented in torch/csrc/autograd/functions/basic_ops.cpp, derivatives.yaml",
        key="Autograd",
        means=(
            "The kernel at Autograd of {op} is one that PyTorch generates, and derivatives.yaml names no derivative. "
            "The forward call works; backward raises."
        ),
        user=(
            "Where no gradient is needed: torch.no_grad(), or `x.detach()` before the call.",
            "Write it with other operators, or give it a backward in a torch.autograd.Function.",
        ),
        author=("A kernel at AutogradCPU or AutogradCUDA of {op} stands before PyTorch's.",),
    ),
    Message(
        TextKind.NO_INPUT_DERIVATIVE,
        "PyTorch has no derivative for {label}",
        ("the derivative for '{label}' is not implemented",),
        "not_implemented in torch/csrc/autograd/FunctionsManual.cpp, derivatives.yaml",
        key="Autograd",
        means=(
            "derivatives.yaml says `not_implemented` for an input, here {label}; the other inputs may have a "
            "derivative. The forward call works; backward raises when it needs this one."
        ),
        user=(
            "If this input needs no gradient, detach it before the call: `x.detach()`.",
            "Else write it with other operators, or give it a backward in a torch.autograd.Function.",
        ),
    ),
    Message(
        TextKind.NOT_DIFFERENTIABLE,
        "{function} has no gradient for its argument {argument}, which requires one",
        ("The function '{function}' is not differentiable with respect to argument '{argument}'",),
        "check_no_requires_grad in torch/csrc/autograd/VariableTypeUtils.h, derivatives.yaml",
        key="Autograd",
        means=(
            "The kernel at Autograd of {function} does not accept {argument} with requires_grad=True, and raises in "
            "the forward call. derivatives.yaml has no derivative for {argument}; other arguments may have one."
        ),
        user=(
            "If {argument} needs no gradient, detach it: pass `{argument}.detach()`.",
            "Else write it with other operators, or give it a backward in a torch.autograd.Function.",
        ),
    ),
    Message(
        TextKind.NO_FORWARD_AD,
        "{function} has no derivative in forward mode",
        ("Trying to use forward AD with {function} that does not support it",),
        "VariableType*.cpp, autograd_not_implemented_fallback.cpp",
        key="Autograd",
        means=(
            "jvp, jacfwd and forward_ad ask the kernel at Autograd for a forward derivative. derivatives.yaml has none "
            "for {function}."
        ),
        user=("Use reverse mode: torch.func.vjp, jacrev, or backward().",),
        author=("torch.autograd.Function: implement `jvp`.",),
    ),
    Message(
        TextKind.OUT_GRADIENT,
        "{op} writes into an argument and can not be differentiated",
        ("{op}(): functions with out=... arguments don't support automatic differentiation",),
        "VariableTypeUtils.h, torch/_library/autograd.py",
        key="Autograd",
        means="The kernel at Autograd refuses an `out=` argument or an input that requires grad.",
        user=("Call it without out=, or under torch.no_grad().",),
    ),
    Message(
        TextKind.FORMULA_REFUSED,
        "a backward can not be registered for {op}",
        (
            "Cannot register autograd formula for operator tagged with torch.Tag.out: {op}",
            "Cannot register autograd formula for non-functional operator <CustomOpDef({op})>",
            "Cannot register autograd formula for non-functional operator {op} with schema",
            "impl_backward/impl_save_for_backward: the operator {op} already has",
            "register_autograd with kwarg-only Tensor args",
            "register_vmap with kwarg-only Tensor args",
            "custom_op with kwarg-only Tensor args",
            "Cannot use torch._custom_ops APIs to register backward formula for {*} Got operator {op}",
            'registration for <CustomOp(op="{op}")> at {*} but were unable to find a',
        ),
        "torch.library.register_autograd, CustomOpDef.register_autograd",
        means=(
            "A formula is possible for functional operators only: the schema mutates no argument, returns no view of "
            "one, and returns something. Tensors must not be keyword-only."
        ),
        author=(
            "Register the formula for a functional operator, and let the mutating one call it and copy.",
            "Or register a kernel at Autograd by hand: torch.library.Library.impl(…, 'Autograd').",
        ),
    ),
    Message(
        TextKind.INFERENCE_TENSOR,
        "a tensor that was made in inference mode is used outside of it",
        (
            "Inference tensors cannot be saved for backward",
            "Inplace update to inference tensor outside InferenceMode is not allowed",
            "Cannot set version_counter for inference tensor",
            "Inference tensors do not track version counter",
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",
            "Tried to call torch.autograd._unsafe_set_version() on a tensor that does not have a version counter",
            "A view was created in inference mode and",
            "clarify your code by moving both the view and the inplace either both inside the inference_mode block",
        ),
        "saved_variable.cpp, VariableTypeUtils.h, TensorImpl.h",
        key="ADInplaceOrView",
        means=(
            "A tensor that torch.inference_mode() made has neither an Autograd key nor ADInplaceOrView, and no version "
            "counter. Autograd can not save it, and outside of inference mode nothing may change it in place. It stays "
            "so after the block."
        ),
        user=(
            "Clone it outside of the block: `x.clone()` is an ordinary tensor.",
            "Use torch.no_grad() in place of torch.inference_mode() where its results are trained on later.",
            "Cached tensors (rotary tables, masks) must not be made in inference mode first.",
        ),
    ),
    Message(
        TextKind.WRONG_FORMULA,
        "the backward of {op} returns something else than one gradient per argument",
        (
            "The backward formula for {op} returned ",
            "function GeneratedBackwardFor_{name} returned a gradient different than None",
            "function GeneratedBackwardFor_{name} returned an incorrect number of gradients",
            "Expected the return from backward to be of the same structure as the inputs",
        ),
        "torch/_library/autograd.py",
        key="Autograd",
        means="The function that register_autograd was given returns a gradient, or None, for each argument.",
        author=("Return as many values as the operator has arguments; None for those without a gradient.",),
    ),
)
