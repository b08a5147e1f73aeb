"""Texts about gradients, about vmap and the other transforms of torch.func, and about functionalization."""

from __future__ import annotations

from dispatch_cli.answers.errors.kinds import Message
from dispatch_cli.model import printed_texts
from dispatch_cli.model.universe import AUTOGRAD

BATCHED = "FuncTorchBatched"

MESSAGES = (
    Message(
        "no-second-derivative",
        "[[{op}]][[{function}]][[{once}a backward]] has no derivative of its own: second derivatives are not possible",
        (
            "derivative for {backward_op} is not implemented{listed}",
            "trying to differentiate twice a function that was marked with @once_differentiable{once}",
            "{function} is not differentiable twice",
        ),
        "NotImplemented in torch/csrc/autograd/functions/basic_ops.cpp, derivatives.yaml",
        key=AUTOGRAD,
        means=(
            "The first gradient was computed with create_graph=True, as for gradient penalties, meta-learning and "
            "Hessians, and a second backward needs the derivative of its backward.[[{listed} derivatives.yaml has "
            "none for {op}.]][[{once} The backward is a Python function marked as once_differentiable.]]"
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
        "no-derivative",
        "there is no derivative of [[{op}]][[{label}]][[{function} with respect to {argument}]]",
        (
            "derivative for {op} is not implemented",
            "the derivative for '{label}' is not implemented{of_input}",
            "The function '{function}' is not differentiable with respect to argument '{argument}'{of_input}",
            "Trying to backward through {op} but no autograd formula was registered{custom}",
        ),
        "basic_ops.cpp, FunctionsManual.cpp, VariableTypeUtils.h, torch/_library/autograd.py",
        key=AUTOGRAD,
        means=(
            "The kernel at Autograd that PyTorch made for the operator has no derivative, or none for this input. The "
            "call itself works; backward raises."
        ),
        user=(
            "[!of_input] If no gradient is needed: use torch.no_grad(), or `x.detach()` before the call.",
            "[argument] If this input needs no gradient, detach it: pass `{argument}.detach()`.",
            "[label] If {label} is an argument that needs no gradient, detach it: pass `{label}.detach()`.",
            "[!custom] Try a newer PyTorch: derivatives are added in each release.",
            "Else use other operators, or put the call into a torch.autograd.Function with a backward of your own.",
        ),
        author=(
            "[custom] Register a formula: `my_op.register_autograd(backward, setup_context=setup_context)`.",
            "[!custom] Register a kernel at the autograd key of the tensors' device, such as AutogradCUDA for CUDA: it "
            "is chosen before PyTorch's kernel at Autograd.",
        ),
    ),
    Message(
        "no-forward-ad",
        "{function} has no forward-mode derivative",
        ("Trying to use forward AD with {function} that does not support it",),
        "VariableType*.cpp, autograd_not_implemented_fallback.cpp",
        key=AUTOGRAD,
        means="jvp, jacfwd and forward_ad need a forward-mode derivative. derivatives.yaml has none for {function}.",
        user=(
            "Use reverse mode: backward(), torch.func.vjp or jacrev.",
            "Try it on the CPU: some devices have kernels of their own with fewer derivatives, such as linear on MPS.",
        ),
        author=("Write a torch.autograd.Function with `setup_context`, `backward` and `jvp` around the call.",),
    ),
    Message(
        "inference-tensor",
        "a tensor that was created in inference mode is used outside of it",
        (
            "Inference tensors cannot be saved for backward",
            "Inplace update to inference tensor outside InferenceMode is not allowed",
            "Cannot set version_counter for inference tensor",
            "Inference tensors do not track version counter",
            "a tensor that does not have a version counter. Was it created in inference mode?",
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",
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
        "vmap-random",
        "a random operator is called under vmap without a choice of randomness",
        (
            "vmap: called random operation while in randomness error mode",
            "vmap: We do not yet support calling random operations inside of vmap",
            "vmap: Cannot ask for different inplace randomness on an unbatched tensor",
            "Vmap does not currently support same randomness with a batched tensor input",
        ),
        "BatchRulesRandomness.cpp, LegacyBatchingRegistrations.cpp",
        key="FuncTorchVmapMode",
        means=(
            "Under vmap every call has the key FuncTorchVmapMode. The kernels of random operators there check vmap's "
            "argument `randomness`, whose default is 'error'."
        ),
        user=(
            "Choose one: `vmap(f, randomness='different')` or `randomness='same'`.",
            "In-place random operators need a tensor that vmap maps over. Dropout: call model.eval() if you do not "
            "want it.",
        ),
    ),
    Message(
        "vmap-in-place",
        "{op} would write a batch into a tensor that is not batched",
        (
            "vmap: {op}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args",
            "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other`",
        ),
        "vmapIncompatibleInplaceError in BatchRulesHelper.cpp, BatchedFallback.cpp",
        key=BATCHED,
        means=(
            "vmap maps over an argument, but not over the tensor that is changed in place: that one has no room for "
            "one result per example."
        ),
        user=("Use the operator that returns its result: `x = x.add(y)` instead of `x.add_(y)`.",),
    ),
    Message(
        "vmap-data",
        "a function under vmap reads the data of a tensor, or the size of its result depends on data",
        (
            "vmap: It looks like you're calling .item() on a Tensor",
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow",
            "vmap: It looks like you're either (1) calling .item() on a Tensor or",
            "vmap: Attempted to vmap over [[`{argument}`]]",
            "vmap: We do not support batching operators that can [[output]][[support]] dynamic shape"
            "[[. Attempted to vmap over {op}]]",
        ),
        "BatchRulesDynamic.cpp, BatchRulesViews.cpp",
        key=BATCHED,
        means=(
            "vmap runs a function once for the whole batch. Code that depends on the data of one example, such as "
            "`.item()`, `if x > 0`, nonzero or a mask that selects elements, has no single result for the whole batch."
        ),
        user=(
            "Use operators whose result has a fixed size: torch.where instead of `if`, nonzero, masked_select and "
            "`x[mask]`.",
            "Or move that part out of vmap, into a loop over the batch.",
        ),
    ),
    Message(
        "function-transform",
        "a torch.autograd.Function lacks a method that the transforms of torch.func need",
        (
            printed_texts.FUNCTION_IN_TRANSFORM,
            "To use autograd.Function with vmap, you must either override the vmap staticmethod",
            "You tried to vmap over {function}, but it has both generate_vmap_rule=True and an",
            "NYI: Functionalize rule for custom_function_call",
            "You tried to vmap over {function}, but it does not have vmap support",
            "cannot use C++ torch::autograd::Function with functorch transforms",
        ),
        "torch/autograd/function.py, torch/_functorch/autograd_function.py",
        means=(
            "Under vmap, grad or jvp an autograd.Function is called as the higher-order operator "
            "custom_function_call, which needs a `setup_context` separate from `forward`, and for vmap a rule."
            "[[{of_library} The traceback goes through torch/_library/autograd.py: PyTorch made this Function for an "
            "operator of torch.library, and the author of the operator cannot change it.]]"
        ),
        user=(
            "[of_library] Use `x.requires_grad_()` and `torch.autograd.grad` instead of torch.func.grad; the operator "
            "needs a formula for that (register_autograd).",
            "[of_library] Or write a torch.autograd.Function around the operator: `forward(x)` calls it, and the "
            "staticmethod `setup_context(ctx, inputs, output)` saves the tensors for `backward`. Call it with `apply`.",
        ),
        author=(
            "[!of_library] Move the use of ctx from `forward` into a staticmethod `setup_context(ctx, inputs, "
            "output)`.",
            "[!of_library] For vmap: set `generate_vmap_rule = True`, or write a staticmethod `vmap(info, in_dims, "
            "*args)` that returns two values, the output and its out_dims.",
        ),
        contexts=("of_library",),
    ),
    Message(
        "functionalize-alias",
        "functionalization does not support {op}: its schema has alias annotations",
        (
            printed_texts.ALIASED_RESULT,
            "Found a custom (non-ATen) operator whose output has alias annotations: {op}({*}) -> (){nothing}",
            "Found a custom (non-ATen) operator that either mutates or its inputs: {op}",
        ),
        "functionalizeFallback in FunctionalizeFallbackKernel.cpp",
        key="Functionalize",
        means=(
            "The fallback at Functionalize refuses an operator whose schema has an alias annotation: of an argument "
            "that is changed in place, `Tensor(a!)`, or of a result that shares memory with an argument, `Tensor(a)`. "
            "torch.compile and torch.export rewrite operators that change arguments before the call gets there, if "
            "they return nothing."
        ),
        user=(
            "[!compile] Call a functional operator, and copy its result: `x.copy_(f(x))`, or call the operator outside "
            "of torch.func.functionalize.",
            "[nothing] This one returns nothing: torch.compile and torch.export rewrite it first, but not in a "
            "subgraph, such as one of torch.compiler.nested_compile_region; call it outside of that.",
            "[compile] Keep the call out of the compiled region: `@torch.compiler.disable` on the function that calls "
            "it.",
        ),
        author=(
            "[compile] If it changes an argument: let the schema return nothing, `-> ()`, and return the argument from "
            "a Python function around it. From PyTorch 2.13 on, `tags=torch.Tag.inplace` for the first argument that "
            "is returned, or `torch.Tag.out` for keyword-only ones, works too.",
            "[compile] If its result is a view: return a copy, and remove the alias from the schema; or register a "
            "kernel at CompositeImplicitAutograd that creates the view with PyTorch's own operators.",
            "[!compile] Register a kernel at Functionalize that calls a functional form and copies the result into the "
            "argument.",
        ),
        contexts=("compile",),
    ),
    Message(
        "no-grad-fn",
        "backward was called on a tensor that has no history",
        ("element {*} of tensors does not require grad and does not have a grad_fn",),
        "torch/csrc/autograd/autograd.cpp",
        key=AUTOGRAD,
        means=(
            "No call on the way to it was recorded by an autograd kernel: no input requires a gradient, or autograd "
            "was off, or an operator on the way has kernels for devices only, whose results are not recorded."
        ),
        user=(
            "Check that parameters require a gradient (`p.requires_grad`), and that nothing on the way is under "
            "torch.no_grad(), inference_mode() or `detach()`. Setting requires_grad on the loss hides the error, and "
            "nothing is trained.",
            "Go back from the loss, and look for the first tensor whose `requires_grad` is False.",
        ),
        author=("Give a custom operator a backward: `torch.library.register_autograd(op, backward)`.",),
        aside=True,
    ),
    Message(
        "bad-backward",
        "a backward does not fit its forward[[: {op}]][[: {function}]]",
        (
            "The backward formula for {op} returned an incorrect number of gradients ({rest}",
            "function {function} returned an incorrect number of gradients ({rest}",
            "function {function} returned a gradient different than None at position",
            "{op}: at least one output of this operator has requires_grad=True but the operator does not have an "
            "autograd kernel{elsewhere}",
            "Cannot register autograd formula for non-functional operator [[<CustomOpDef(]]{op}[[)>]] "
            "with{non_functional}",
            "You must implement the backward function for custom autograd.Function{no_backward}",
            "You must implement either the backward or vjp method for your custom autograd.Function{no_backward}",
            "Legacy autograd function with non-static forward method is deprecated{no_backward}",
            "Expected the return from backward to be of the same structure as the inputs",
            "Cannot register autograd formula for non-functional operator {*}{non_functional}",
            "with kwarg-only Tensor args. {**}make your tensors not kwarg-only{keyword}",
        ),
        "torch/_library/autograd.py, torch/library.py, torch/csrc/autograd/python_function.cpp",
        key=AUTOGRAD,
        means=(
            "A backward returns one gradient for each argument of the forward, in their order. [[{non_functional}An "
            "operator that changes an argument, or returns a view of one, cannot have a "
            "formula.]][[{keyword}Formulas and custom_op take tensors as positional arguments only.]][[ The text "
            "says: {rest}]]"
        ),
        author=(
            "[no_backward] Write `forward` and `backward` as static methods, with exactly these names, and call "
            "`F.apply(x)`.",
            "[elsewhere] Register the backward at an autograd key: with register_autograd, or a kernel at Autograd; "
            "not in the kernel of a device.",
            "[non_functional] Register the formula for an operator that returns a new tensor, and call that from a "
            "Python function that copies the result: `x.copy_(f(x))`.",
            "[keyword] Move the tensors before the `*` of the signature or the schema.",
            "Return a gradient, or None, for each argument; for a list of tensors, a list. In a "
            "torch.autograd.Function, count the arguments of `forward` without ctx. Before PyTorch 2.13 the numbers "
            "in the text are one too high for operators of torch.library.",
        ),
    ),
    Message(
        "vmap-escaped",
        "a tensor of vmap or grad is used outside of it",
        (
            printed_texts.ESCAPED,
            "maybe_layer.has_value() INTERNAL ASSERT FAILED",
        ),
        "TensorWrapper.cpp, VmapGeneratedPlumbing.h",
        key=BATCHED,
        means=(
            "Inside of vmap, grad and jvp, tensors are wrapped, and have the keys of that transform. A wrapped "
            "tensor was kept, in a list, a global or an attribute, and used when the transform was over."
        ),
        user=("Return what you need from the function, instead of keeping it.",),
    ),
    Message(
        "functional-mixed",
        "functional tensors and others meet in a call",
        (
            "mutating a non-functional tensor with a functional tensor is not allowed",
            "Tried to mutate a non-functional tensor with a functional tensor",
            "cannot mutate a non-functional tensor with a functional tensor",
            "Attempting to use FunctionalTensor on its own{alone}",
        ),
        "FunctionalTensorWrapper.cpp, RegisterFunctionalization.cpp, torch/_subclasses/functional_tensor.py",
        key="Functionalize",
        means=(
            "Under torch.compile, export and functionalize, inputs are wrapped so that changes in place can be "
            "replayed. [[{alone}A wrapped tensor came out of that region.]]"
        ),
        user=(
            "[!alone] Make the tensor that is changed in place (a buffer, a cache, a global) an argument of the "
            "function, or return a new tensor.",
            "[alone] Keep no tensors of the traced function, and use one tracer only. If it is PyTorch's own code, "
            "such as flex_attention: try a newer release.",
        ),
    ),
)
