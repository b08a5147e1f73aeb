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
            "custom_op registers a kernel at Autograd that adds a node to the autograd graph and calls the operator. "
            "Without a formula that node raises when backward reaches it; the forward call works."
        ),
        user=("If no gradient is needed: use torch.no_grad(), or `x.detach()` before the call.",),
        author=("Register a formula: `my_op.register_autograd(backward, setup_context=setup_context)`.",),
    ),
    Message(
        TextKind.NOT_AT_AUTOGRAD,
        "{op} returns a tensor that requires a gradient, and has no kernel at an autograd key",
        (
            "{op}: at least one output of this operator has requires_grad=True but the operator does not have an "
            "autograd kernel defined at an autograd key",
        ),
        "autograd_registration_check in torch/testing/_internal/optests/autograd_registration.py",
        key="Autograd",
        means=(
            "The usual cause: a torch.autograd.Function is called in a kernel at CPU, CUDA or a composite key. That "
            "kernel runs below the autograd keys, so the gradient that it records is lost or wrong under "
            "torch.compile and other transforms."
        ),
        author=(
            "Register the gradient with torch.library.register_autograd, or register the autograd.Function as a "
            "kernel at the key Autograd.",
            "If the operator only calls operators of PyTorch: make it a plain function, or register its kernel at "
            "CompositeImplicitAutograd.",
        ),
    ),
    Message(
        TextKind.NO_SECOND_DERIVATIVE,
        "{op} computes a gradient and has no derivative of its own: second derivatives are not possible",
        ("derivative for {backward_op} is not implemented",),
        "NotImplemented in torch/csrc/autograd/functions/basic_ops.cpp, derivatives.yaml",
        key="Autograd",
        means=(
            "The first gradient was computed with create_graph=True, as for gradient penalties, meta-learning and "
            "Hessians, and a second backward needs the derivative of {op}. derivatives.yaml has none."
        ),
        user=(
            "If first derivatives are enough: do not pass create_graph=True, or choose the first-order variant of "
            "the method.",
            "Else use an implementation whose operators have second derivatives. For attention: `with "
            "torch.nn.attention.sdpa_kernel(SDPBackend.MATH):` around the forward call.",
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
            "PyTorch generates the kernel of {op} at Autograd, and derivatives.yaml has no derivative for it. The "
            "forward call works; backward raises."
        ),
        user=(
            "If no gradient is needed: use torch.no_grad(), or `x.detach()` before the call.",
            "Use other operators instead, or put the call into a torch.autograd.Function with a backward of your own.",
        ),
        author=(
            "Register a kernel of {op} at AutogradCPU or AutogradCUDA: it is chosen before PyTorch's kernel at "
            "Autograd.",
        ),
    ),
    Message(
        TextKind.NO_INPUT_DERIVATIVE,
        "PyTorch has no derivative for {label}",
        ("the derivative for '{label}' is not implemented",),
        "not_implemented in torch/csrc/autograd/FunctionsManual.cpp, derivatives.yaml",
        key="Autograd",
        means=(
            "derivatives.yaml says `not_implemented` for an input, here {label}; other inputs may have a derivative. "
            "The forward call works; backward raises when it needs this one."
        ),
        user=(
            "If this input needs no gradient, detach it before the call: `x.detach()`.",
            "Else use other operators, or put the call into a torch.autograd.Function with a backward of your own.",
        ),
    ),
    Message(
        TextKind.NOT_DIFFERENTIABLE,
        "{function} has no gradient for its argument {argument}, which requires one",
        ("The function '{function}' is not differentiable with respect to argument '{argument}'",),
        "check_no_requires_grad in torch/csrc/autograd/VariableTypeUtils.h, derivatives.yaml",
        key="Autograd",
        means=(
            "The kernel of {function} at Autograd raises in the forward call if {argument} requires a gradient, "
            "because derivatives.yaml has no derivative for it; other arguments may have one."
        ),
        user=(
            "If {argument} needs no gradient, detach it: pass `{argument}.detach()`.",
            "Else use other operators, or put the call into a torch.autograd.Function with a backward of your own.",
        ),
    ),
    Message(
        TextKind.NO_FORWARD_AD,
        "{function} has no forward-mode derivative",
        ("Trying to use forward AD with {function} that does not support it",),
        "VariableType*.cpp, autograd_not_implemented_fallback.cpp",
        key="Autograd",
        means=("jvp, jacfwd and forward_ad need a forward-mode derivative. derivatives.yaml has none for {function}."),
        user=("Use reverse mode: torch.func.vjp, jacrev, or backward().",),
        author=("In a torch.autograd.Function: implement `jvp`.",),
    ),
    Message(
        TextKind.OUT_GRADIENT,
        "{op} writes to an argument and cannot be differentiated",
        ("{op}(): functions with out=... arguments don't support automatic differentiation",),
        "VariableTypeUtils.h, torch/_library/autograd.py",
        key="Autograd",
        means="The kernel at Autograd refuses an `out=` argument, or an input, that requires a gradient.",
        user=("Call it without out=, or under torch.no_grad().",),
    ),
    Message(
        TextKind.FORMULA_REFUSED,
        "a backward cannot be registered for {op}",
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
            "Only functional operators can have a formula: the schema mutates no argument, returns no view of one, "
            "and returns something. Tensors must not be keyword-only."
        ),
        author=(
            "Register the formula for a functional operator, and write the mutating one as a call of it and a copy.",
            "Or write a kernel and register it at Autograd: torch.library.Library.impl(…, 'Autograd').",
        ),
    ),
    Message(
        TextKind.INFERENCE_TENSOR,
        "a tensor that was created in inference mode is used outside of it",
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
            "A tensor that was created under torch.inference_mode() has neither an autograd key nor ADInplaceOrView, "
            "and no version counter. Autograd cannot save it, and it cannot be changed in place outside of inference "
            "mode. This stays so after the block."
        ),
        user=(
            "Clone it outside of the block: `x.clone()` is an ordinary tensor.",
            "Use torch.no_grad() instead of torch.inference_mode() if the result is later used in training.",
            "Do not let code in inference mode be the first to fill a cache of tensors (rotary tables, masks).",
        ),
    ),
    Message(
        TextKind.WRONG_FORMULA,
        "the backward of {op} does not return one gradient per argument",
        (
            "The backward formula for {op} returned ",
            "function GeneratedBackwardFor_{name} returned a gradient different than None",
            "function GeneratedBackwardFor_{name} returned an incorrect number of gradients",
            "Expected the return from backward to be of the same structure as the inputs",
        ),
        "torch/_library/autograd.py",
        key="Autograd",
        means="The function that was passed to register_autograd has to return a gradient or None for each argument.",
        author=("Return as many values as the operator has arguments, with None for those without a gradient.",),
    ),
)
