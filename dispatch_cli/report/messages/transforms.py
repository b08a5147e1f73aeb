"""Texts about vmap and the other transforms of torch.func, and about functionalization."""

from __future__ import annotations

from dispatch_cli.report.messages.kinds import Message, TextKind

BATCHED = "FuncTorchBatched"

MESSAGES = (
    Message(
        TextKind.VMAP_OFF,
        "vmap has no batching rule for {op}, and its slow fallback is disabled",
        ("{op} hit the vmap fallback which is currently disabled",),
        "warnFallback in aten/src/ATen/functorch/BatchedFallback.cpp",
        key=BATCHED,
        means=(
            "The slot FuncTorchBatched of {op} holds PyTorch's fallback (rule 9), which calls the operator in a "
            "loop. It was disabled by torch._C._functorch._set_vmap_fallback_enabled(False)."
        ),
        user=("Enable it again, or write the function without this operator.",),
        author=("Register a batching rule: torch.library.register_vmap, or a kernel at FuncTorchBatched.",),
    ),
    Message(
        TextKind.VMAP_RANDOM,
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
        TextKind.VMAP_IN_PLACE,
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
        TextKind.VMAP_DATA,
        "a function under vmap reads the data of a tensor",
        (
            "vmap: It looks like you're calling .item() on a Tensor",
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow",
            "vmap: It looks like you're either (1) calling .item() on a Tensor or",
            "vmap: Attempted to vmap over [[`{argument}`]]",
            "This is not supported inside of vmap, please try to rewrite",
            "under vmap transform is not allowed",
        ),
        "BatchRulesDynamic.cpp, BatchRulesViews.cpp",
        key=BATCHED,
        means=(
            "vmap runs a function once for the whole batch. Code that depends on the data of one example, such as "
            "`.item()`, `if x > 0` or a mask that selects elements, has no single result for the whole batch."
        ),
        user=("Use torch.where instead of `if` and masks.", "Move that part out of vmap."),
    ),
    Message(
        TextKind.VMAP_SHAPE,
        "the size of the result of {op} can differ between the examples of a batch, which vmap does not support",
        (
            "vmap: We do not support batching operators that can output dynamic shape[[. Attempted to vmap over {op}]]",
            "vmap: We do not support batching operators that can support dynamic shape",
        ),
        "BatchRulesDynamic.cpp",
        key=BATCHED,
        means=(
            "The size of its result depends on the data, such as the number of nonzero elements or of elements that "
            "a mask selects. vmap returns one tensor for the whole batch, so all examples must have the same size."
        ),
        user=(
            "Use an operator that keeps the size: torch.where with a mask instead of nonzero, masked_select or "
            "`x[mask]`.",
            "Or call it outside of vmap, in a loop over the batch.",
        ),
    ),
    Message(
        TextKind.FUNCTION_TRANSFORM,
        "a torch.autograd.Function lacks a method that the transforms of torch.func need",
        (
            "In order to use an autograd.Function with functorch transforms",
            "To use autograd.Function with vmap, you must either override the vmap staticmethod",
            "You tried to vmap over {function}, but it does not have vmap support",
            "You tried to vmap over {function}, but it has both generate_vmap_rule=True",
            "cannot use C++ torch::autograd::Function with functorch transforms",
            "NYI: Functionalize rule for custom_function_call",
        ),
        "torch/autograd/function.py, torch/_functorch/autograd_function.py",
        means=(
            "Under vmap, grad or jvp an autograd.Function is called as the higher-order operator "
            "custom_function_call, which needs a `setup_context` separate from `forward`, and for vmap a rule."
        ),
        author=(
            "Move the use of ctx from `forward` into a staticmethod `setup_context(ctx, inputs, output)`.",
            "For vmap: set `generate_vmap_rule = True`, or write a staticmethod `vmap(info, in_dims, *args)` that "
            "returns two values, the output and its out_dims. A function for register_vmap returns the same two.",
        ),
    ),
    Message(
        TextKind.CUSTOM_OP_TRANSFORM,
        "torch.func cannot differentiate an operator whose gradient was registered by register_autograd",
        (),
        "make_autograd_impl in torch/_library/autograd.py, torch/autograd/function.py",
        key="Autograd",
        means=(
            "The traceback goes through torch/_library/autograd.py: PyTorch made this torch.autograd.Function for "
            "register_autograd. Its `forward` also uses ctx, but torch.func.grad needs a separate `setup_context`. "
            "The author of the operator cannot change that Function."
        ),
        user=(
            "Use `x.requires_grad_()` and `torch.autograd.grad` instead of torch.func.grad.",
            "Or write a torch.autograd.Function around the operator: `forward(x)` calls it, and the staticmethod "
            "`setup_context(ctx, inputs, output)` saves the tensors for `backward`. Call it with `apply`.",
        ),
        author=(
            "Offer a torch.autograd.Function with a `setup_context` staticmethod that calls the operator in "
            "`forward`. A `setup_context` for register_autograd does not help here.",
        ),
        instead_of=TextKind.FUNCTION_TRANSFORM,
        frame="torch/_library/autograd.py",
    ),
    Message(
        TextKind.VMAP_RULE,
        "the vmap rule did not return (output, out_dims)",
        (
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure",
            "vmap staticmethod returned an incompatible (output, out_dims) tuple",
        ),
        "validate_vmap_returns_tuple_of_two_elements in torch/_functorch/autograd_function.py",
        key=BATCHED,
        means=(
            "The vmap rule was called: the `vmap` staticmethod of a torch.autograd.Function, or the function that "
            "was passed to register_vmap. It has to return two values: the output, and the dimension of it that is "
            "the batch. The text says what it returned."
        ),
        author=(
            "Return both: `return result, 0` if dimension 0 is the batch, or `None` for an output without a batch.",
            "With several outputs, out_dims has the structure of the output: `return (a, b), (0, 0)`. With one "
            "output it is one number.",
        ),
    ),
    Message(
        TextKind.FUNCTORCH_ESCAPED,
        "a tensor of vmap or grad is used outside of it",
        (
            "Either your tensor may have escaped from inside a function being vmapped",
            "inside functorch transform is not allowed",
        ),
        "dead_tensor_wrapper_fallback in aten/src/ATen/functorch/TensorWrapper.cpp",
        key="FuncTorchGradWrapper",
        means=(
            "The transform that created this tensor has ended. The tensor was kept in a variable, a list or an "
            "attribute."
        ),
        user=("Return the tensor from the function that is transformed; do not store it outside.",),
    ),
    Message(
        TextKind.FUNCTIONALIZE_ALIAS,
        "functionalization does not support {op}: its schema has alias annotations",
        (
            "Found a custom (non-ATen) operator whose output has alias annotations: {op}",
            "Found a custom (non-ATen) operator that either mutates or its inputs: {op}",
        ),
        "functionalizeFallback in FunctionalizeFallbackKernel.cpp",
        key="Functionalize",
        means=(
            "The fallback at Functionalize refuses every operator whose schema has an alias annotation: of an "
            "argument that is changed in place, `Tensor(a!)`, or of a result that shares memory with an argument, "
            "`Tensor(a)`. torch.compile and torch.export rewrite operators that only change arguments before the "
            "call gets there; torch.func.functionalize does not."
        ),
        user=(
            "If the operator only changes arguments in place: use torch.compile or torch.export instead of "
            "torch.func.functionalize, or call the operator outside of the function.",
        ),
        author=(
            "If it changes an argument: define an operator that returns the new value, and copy that into the "
            "argument in a Python function.",
            "If its result is a view: return a copy, and remove the alias from the schema.",
            "Or register a kernel at CompositeImplicitAutograd that creates the view with PyTorch's own operators.",
        ),
    ),
    Message(
        TextKind.FUNCTIONALIZE_MIXED,
        "an ordinary tensor is changed in place by a functional tensor",
        (
            "mutating a non-functional tensor with a functional tensor is not allowed",
            "{function}: Tried to mutate a non-functional tensor with a functional tensor",
            "{function}: cannot mutate a non-functional tensor with a functional tensor",
            "{function}: We do not currently support x.set_(y) where y is not a FunctionalTensor",
        ),
        "RegisterFunctionalization_*.cpp, FunctionalizeFallbackKernel.cpp",
        key="Functionalize",
        means="A tensor from outside of the functionalized function is changed in it, by a result of that function.",
        user=("Make the outer tensor an argument of the function.",),
    ),
    Message(
        TextKind.FUNCTIONALIZE_UNSUPPORTED,
        "functionalization does not support {function} here",
        (
            "Attempted to call {function}() during the functionalization pass",
            "Attempted to resize a view tensor to a larger size. This is not allowed in the functionalization pass",
            "While executing {function}, functionalization encountered a tensor being mutated",
            "was an as_strided() call. as_strided() is non-compositional, and therefore is not possible to "
            "functionalize",
        ),
        "FunctionInverses.cpp, FunctionalizeFallbackKernel.cpp",
        key="Functionalize",
        means=(
            "When the base of a view is changed, functionalization has to compute the view again and to undo it. "
            "PyTorch has no way to do so for {function} here."
        ),
        user=("Keep the call out of the compiled region, or use the operator that copies.",),
    ),
    Message(
        TextKind.NOT_DECOMPOSED,
        "{op} could decompose, but is kept whole in tracing before dispatch",
        (
            "At pre-dispatch tracing, we assume that any custom op marked with CompositeImplicitAutograd and have "
            "functional schema are safe to not decompose[[. Found {op}]]",
            "At pre-dispatch tracing, we will assume that any custom op that is marked with CompositeImplicitAutograd",
        ),
        "FunctionalTensor in torch/_subclasses/functional_tensor.py",
        key="CompositeImplicitAutograd",
        means=(
            "torch.export does not decompose operators with a CompositeImplicitAutograd kernel whose schema mutates "
            "and aliases nothing."
        ),
        author=("If the schema is right, change nothing. Else correct it, or decompose with a decomposition table.",),
        warning=True,
    ),
)
