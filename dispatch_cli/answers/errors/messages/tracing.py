"""Texts about fake and meta tensors and symbols, as torch.compile, export and FakeTensorMode use them."""

from __future__ import annotations

from dispatch_cli.answers.errors.kinds import Message
from dispatch_cli.model.universe import META

MESSAGES = (
    Message(
        "no-fake",
        "{op} was made by torch.library.custom_op and has no fake implementation",
        ("There was no fake impl registered for <CustomOpDef({op})>",),
        "CustomOpDef._register_to_dispatcher in torch/_library/custom_ops.py",
        key=META,
        means=(
            "torch.compile, export and make_fx call operators with fake tensors, which have a shape and no data. The "
            "fake implementation of an operator says what the result looks like; without one, the kernel that "
            "custom_op registers at Meta raises this error."
        ),
        user=(
            "The operator works without torch.compile, export or fake tensors. Ask the library for a fake "
            "implementation.",
        ),
        author=(
            "Write one: `@my_op.register_fake` on a function with the same arguments that returns "
            "`torch.empty_like(x)` or the like.",
        ),
    ),
    Message(
        "dynamic-output",
        "the size of the result of {op} depends on data, which fake tensors do not have",
        (
            "DynamicOutputShapeException: {op}",
            "dynamic shape operator: {op}",
            "Operator `{op}`'s output shape depends on input Tensor data",
            "You're trying to run this operator with meta Tensors (as opposed to FakeTensors), but this operator may "
            "return an output Tensor with data-dependent shape",
            "Attempted to call get_ctx() for the meta implementation for {op}[[.]]",
        ),
        "torch/_subclasses/fake_impls.py, torch/_library/fake_impl.py",
        key=META,
        means=(
            "Operators such as nonzero, unique and masked_select return as many elements as the data require. A fake "
            "tensor has no data, so a symbolic size has to be used instead; here that is turned off or not possible."
        ),
        user=(
            "torch.compile before PyTorch 2.12: set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`, or "
            "accept a graph break.",
            "FakeTensorMode: pass `shape_env=ShapeEnv()`, and use fake tensors instead of meta tensors.",
            "Use operators whose result has a fixed size, such as torch.where instead of a mask.",
        ),
        author=("In the fake implementation, get the size from `torch.library.get_ctx().new_dynamic_size()`.",),
    ),
    Message(
        "data-dependent",
        "{op} reads data, which fake tensors do not have",
        (
            "DataDependentOutputException: {op}",
            "data dependent operator: {op}",
            "Operator `{op}` has a non-Tensor output whose value is dependent on the data",
            "It appears that you're trying to get value out of a tracing tensor with {op}",
        ),
        "torch/_subclasses/fake_impls.py, torch/fx/experimental/proxy_tensor.py",
        key=META,
        means=(
            "`.item()`, `if tensor:`, `int(tensor)` and the like need the value of a tensor. There is none while a "
            "program is traced."
        ),
        user=(
            "Use torch.where or torch.cond instead of a Python `if` on a tensor.",
            "torch.compile: leave `fullgraph=True` out, or exclude the function: `@torch.compiler.disable`.",
            "FakeTensorMode and make_fx, for `.item()`: `FakeTensorMode(shape_env=ShapeEnv())`, "
            "`make_fx(f, tracing_mode='symbolic')`.",
        ),
        author=(
            "If a fake implementation calls it (the traceback shows a function that was passed to register_fake): "
            "use only the shapes and dtypes of the arguments there, no `.item()`, no `if x.sum() > 0`.",
            "If the size of the result depends on data, use `torch.library.get_ctx().new_dynamic_size()` for it.",
        ),
    ),
    Message(
        "data-guard",
        "Python code needs a value that depends on data, and only a symbol of it is known",
        (
            "Could not guard on data-dependent expression",
            "Could not extract specialized integer from data-dependent expression",
        ),
        "GuardOnDataDependentSymNode in torch/fx/experimental/symbolic_shapes.py",
        means=(
            "Under torch.compile and torch.export, fake tensors have no data, so `.item()` and `nonzero()` return "
            "symbols, such as u0 in the text. A Python `if`, or a kernel at Meta, compares such a symbol."
        ),
        user=(
            "Before that, state what you know about it: `torch._check(n > 3)`.",
            "Use torch.where or torch.cond instead of `if`.",
            "torch.compile without `fullgraph=True` breaks the graph there and goes on. Or exclude the function: "
            "`@torch.compiler.disable`.",
        ),
        author=("In a fake implementation, do not compare a size that depends on data; use `torch._check`.",),
    ),
    Message(
        "fake-mixed",
        "[[{real}a fake tensor and a real one meet]][[{modes}fake tensors of two FakeTensorModes meet]][[ in {op}]]",
        (
            "Please convert all Tensors to FakeTensors first[[ or instantiate FakeTensorMode with "
            "'allow_non_fake_inputs'[[. Found in {op}(]]]]{real}",
            "Invoking operators with non-Fake Tensor inputs in FakeTensorMode is not yet supported{real}",
            "Can't call metadata mutating ops on non-Fake Tensor inputs[[. Found in {op}(]]{real}",
            "Mixing fake modes NYI{modes}",
            "fake mode ({**}) from {*} doesn't match mode{modes}",
        ),
        "FakeTensorMode.validate_and_convert_non_fake_tensors, torch._guards.detect_fake_mode",
        means=(
            "Under FakeTensorMode all tensors have to be fake, and made by that mode.[[{real} A real one came in from "
            "outside: a parameter, a constant, a buffer, or a tensor that was created before the mode.]]"
        ),
        user=(
            "[real] Make the tensor an argument or a buffer of the module, so that it is converted too.",
            "[real] `fake_mode.from_tensor(x)` converts one, `FakeTensorMode(allow_non_fake_inputs=True)` all.",
            "[modes] Use one FakeTensorMode for all tensors: `torch._guards.detect_fake_mode(args)` returns the one "
            "that is in use. If you made none: export or trace the module itself, not what torch.compile returned.",
        ),
        author=("[real] Do not use real tensors in a fake implementation, such as a cached table.",),
    ),
    Message(
        "fake-data",
        "a kernel reads the memory of a tensor that has none",
        (
            "Cannot access data pointer of Tensor (e.g. FakeTensor, FunctionalTensor)",
            "Cannot access data pointer of Tensor that doesn't have storage",
            "Accessing the data pointer of FakeTensor is deprecated",
            "Cannot access data pointer of Storage that is invalid",
            "The tensor has a non-zero number of elements, but its data is not allocated yet",
            "Cannot access storage of {function}",
        ),
        "TensorImpl.h, StorageImpl.cpp",
        means=(
            "Fake, functional, batched, meta and sparse tensors have no memory of their own to point to. Code for "
            "real tensors got one: either it is not behind an operator, or its operator has no fake implementation "
            "and is a composite that reads memory."
        ),
        user=(
            "torch.compile: exclude the function with `torch.compiler.disable`.",
            "vmap, jvp, grad and functionalize: call it outside of the transform.",
        ),
        author=(
            "Make the code an operator (torch.library.custom_op or TORCH_LIBRARY) with a fake implementation "
            "(register_fake).",
            "If it is an operator already: a kernel at CompositeImplicitAutograd must not read memory. Register it "
            "at the keys of the backends.",
        ),
    ),
    Message(
        "fake-devices",
        "the fake tensors of {op} are on {device} and {other_device}",
        (
            "Unhandled FakeTensor Device Propagation for {op}, found two different devices {device}, {other_device}",
            "FakeTensorDeviceMismatchError: Expected all tensors to be on the same device, but found at least two "
            "devices, {device} and {other_device}",
        ),
        "FakeTensor._find_common_device",
        means=(
            "FakeTensorMode itself compares the devices of the arguments, as most kernels do; no kernel was called. "
            "The real call mostly fails too."
        ),
        user=("Move the tensors to one device.",),
        author=("In a fake implementation, create the result on the device of an argument, not on the CPU.",),
    ),
    Message(
        "fake-unsupported",
        "this tensor or object cannot be made fake",
        (
            "UnsupportedFakeTensorException: ",
            "meta converter nyi",
            "quantized nyi in meta tensors",
            "ScriptObject's {*} haven't registered a fake class",
            "Tried to call {*} on a FakeScriptObject",
            "Torchbind op {op} received a FakeScriptObject input when dispatching {key}{script_object}",
        ),
        "MetaConverter in torch/_subclasses/fake_tensor.py, torch/_library/fake_class_registry.py",
        means=(
            "FakeTensorMode has no fake form for this kind of tensor, such as a quantized one, or one of an unknown "
            "layout or subclass. An object of a C++ class needs a fake class."
        ),
        user=("Keep it out of the compiled region, or convert it to an ordinary strided tensor first.",),
        author=(
            "[script_object] Register a Python implementation of {op} at {key}, or a fallthrough.",
            "[!script_object] For a C++ class, register a fake one: "
            "torch._library.register_fake_class('namespace::Class').",
        ),
    ),
    Message(
        "meta-data",
        "the call needs the data of a meta tensor, which has none",
        (
            "Cannot copy out of meta tensor; no data",
            "Tensor.item() cannot be called on meta tensors",
        ),
        "aten/src/ATen/native/Copy.cpp",
        key=META,
        means="A meta tensor has a shape and no data, so there is nothing to copy or read.",
        user=(
            "For a module: call `module.to_empty(device=…)` instead of `module.to(device)`, then load the weights.",
            "With accelerate or transformers: `device_map` or `low_cpu_mem_usage` left a part of the model on the "
            "device 'meta'. Load the model without them, or with a map that has room for all of it.",
        ),
    ),
    Message(
        "fake-mismatch",
        "the fake implementation[[ of {op}]] describes another result than the kernel returns",
        (
            "output of {op} on FakeTensor and concrete Tensors, found mismatched tensor metadata",
            "MetadataMismatchError: ",
            "This error most often comes from a incorrect fake (aka meta) kernel for a custom op",
            "expected size {*}, stride {*} at dim=",
            "wrong number of dimensions{*} for op: torch.ops.{dotted_op}",
            "Real tensor propagation found {*}mismatch between",
            "Real tensor propagation found {*}mismatch between {*} for func: {op}",
        ),
        "torch/_subclasses/fake_utils.py, assert_size_stride of torch/_inductor, torch/testing/_internal/optests",
        key=META,
        means=(
            "torch.compile plans with the shape, strides, dtype and device that the fake implementation returns, and "
            "the kernel returned something else; most often other strides.[[ The check says: {rest}]]"
        ),
        user=(
            "If the operator is not yours: exclude the function that calls it, `@torch.compiler.disable`, and show "
            "this text to its authors. For one of PyTorch's own (aten::), try another release.",
        ),
        author=(
            "Let both return the same: `torch.empty_strided` or `x.new_empty` in the fake implementation with the "
            "sizes and strides of the kernel's result; or end the kernel with `.contiguous()`.",
            "`torch.library.opcheck(op, args)` compares the two without torch.compile.",
        ),
    ),
)
