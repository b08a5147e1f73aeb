"""Texts about fake and meta tensors: shapes without data, as torch.compile, export and FakeTensorMode use them."""

from __future__ import annotations

from dispatch_cli.report.messages.kinds import Message, TextKind

META = "Meta"

MESSAGES = (
    Message(
        TextKind.NO_FAKE,
        "{op} was made by torch.library.custom_op and has no fake implementation",
        (
            "There was no fake impl registered for <CustomOpDef({op})>",
            "<CustomOp(op=\"{op}\")>: when running with device='Meta' tensors: there is no abstract impl registered",
            "No fake kernel was found for {op}, and although we have previously registered some profiles",
        ),
        "CustomOpDef._register_to_dispatcher in torch/_library/custom_ops.py",
        key=META,
        means=(
            "torch.compile, export and make_fx call operators with fake tensors, which have a shape and no data. For "
            "these an operator needs a fake implementation, which says what the result looks like. {op} has none: "
            "the kernel that custom_op registers at Meta raises this error."
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
        TextKind.FAKE_MODULE,
        "the fake implementation of {op} is in a Python module that is not imported, or that is not the declared one",
        (
            "Operator '{op}' was defined in C++ and has a Python fake impl",
            "Operator '{op}' specified that its python fake impl is in the Python module",
            "Tried to register an python registration stub (pystub) for {op} that specifies the Python module",
        ),
        "torch.library._check_pystubs_once, throw_abstract_impl_not_imported_error",
        key=META,
        means=(
            "A library that defines operators in C++ names the module of their fake implementations by "
            "`m.set_python_module`."
        ),
        user=("Import that Python module before the call.",),
        author=("Name the module that calls `register_fake` in the C++ `m.set_python_module(…)`.",),
    ),
    Message(
        TextKind.DYNAMIC_OUTPUT,
        "the size of the result of {op} depends on data, which fake tensors do not have",
        (
            "DynamicOutputShapeException: {op}",
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
            "torch.compile: set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`, or accept a graph "
            "break.",
            "FakeTensorMode: pass `shape_env=ShapeEnv()`, and use fake tensors instead of meta tensors.",
            "Use operators whose result has a fixed size, such as torch.where instead of a mask.",
        ),
        author=("In the fake implementation, get the size from `torch.library.get_ctx().new_dynamic_size()`.",),
    ),
    Message(
        TextKind.DATA_DEPENDENT,
        "{op} reads data, which fake tensors do not have",
        (
            "DataDependentOutputException: {op}",
            "It appears that you're trying to get value out of a tracing tensor with {op}",
        ),
        "torch/_subclasses/fake_impls.py, torch/fx/experimental/proxy_tensor.py",
        key=META,
        means=(
            "`.item()`, `if tensor:`, `int(tensor)` and the like need the value of a tensor. There is none while a "
            "program is traced."
        ),
        user=(
            "torch.compile: `torch._dynamo.config.capture_scalar_outputs = True`, or accept a graph break.",
            "Use torch.where or torch.cond instead of a Python `if` on a tensor.",
        ),
        author=(
            "If a fake implementation calls it (the traceback shows a function that was passed to register_fake): "
            "use only the shapes and dtypes of the arguments there, no `.item()`, no `if x.sum() > 0`.",
            "If the size of the result depends on data, use `torch.library.get_ctx().new_dynamic_size()` for it.",
        ),
    ),
    Message(
        TextKind.FAKE_MIXED,
        "{op} was called with a fake tensor and a real one",
        (
            "Please convert all Tensors to FakeTensors first",
            "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
            "'allow_non_fake_inputs'[[. Found in {op}(]]",
            "Can't call metadata mutating ops on non-Fake Tensor inputs[[. Found in {op}(]]",
            "got mixed fake and real tensors",
        ),
        "FakeTensorMode.validate_and_convert_non_fake_tensors",
        means=(
            "Under FakeTensorMode all tensors have to be fake. A real one came in from outside: a parameter, a "
            "constant, a buffer, or a tensor that was created before the mode."
        ),
        user=(
            "Make the tensor an argument or a buffer of the module, so that it is converted too.",
            "`fake_mode.from_tensor(x)` converts one; `FakeTensorMode(allow_non_fake_inputs=True)` converts all.",
        ),
        author=("Do not use real tensors in a fake implementation, such as a cached table.",),
    ),
    Message(
        TextKind.FAKE_MODES,
        "one call has fake tensors of two FakeTensorModes",
        (
            "Mixing fake modes NYI",
            "All fake tensor modes must be the same",
            "fake mode ({**}) from {*} doesn't match mode",
        ),
        "FakeTensorMode.validate_and_convert_non_fake_tensors, torch._guards.detect_fake_mode",
        means="A fake tensor belongs to the mode that made it; no other mode accepts it.",
        user=(
            "Use one FakeTensorMode for all tensors: `torch._guards.detect_fake_mode(args)` returns the one that "
            "is in use.",
        ),
    ),
    Message(
        TextKind.FAKE_DATA,
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
        user=("torch.compile: exclude the function with `torch._dynamo.disable` (or `torch.compiler.disable`).",),
        author=(
            "Make the code an operator (torch.library.custom_op or TORCH_LIBRARY) with a fake implementation "
            "(register_fake).",
            "If it is an operator already: a kernel at CompositeImplicitAutograd must not read memory. Register it "
            "at the keys of the backends.",
        ),
    ),
    Message(
        TextKind.FAKE_DEVICES,
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
        TextKind.FAKE_MISMATCH,
        "the fake implementation of {op} does not agree with its kernel",
        (
            "When comparing the output of {op} on FakeTensor and concrete Tensors, found mismatch",
            "Real tensor propagation found {*} mismatch {**}for func: {op}",
            "This error most often comes from a incorrect fake (aka meta) kernel for a custom op",
            "MetadataMismatchError: {*}mismatch",
            # of the code that inductor writes
            "wrong number of dimensions{*} for op: {torch_op}",
        ),
        "FakeTensorMode._maybe_infer_fake_kernel_from_pytree_out, torch/_subclasses/fake_utils.py",
        means="The fake result and the real one differ in size, stride, dtype, device or aliasing.",
        author=("Correct the fake implementation or the kernel; `torch.library.opcheck` compares the two.",),
    ),
    Message(
        TextKind.FAKE_UNSUPPORTED,
        "this tensor cannot be made fake",
        (
            "UnsupportedFakeTensorException: ",
            "UnsupportedOperatorException: torch.compile does not support ",
            "UnsupportedOperatorException: torch.compile doesn't support ",
            "meta converter nyi",
            "quantized nyi in meta tensors",
        ),
        "MetaConverter in torch/_subclasses/fake_tensor.py",
        means=(
            "FakeTensorMode has no fake form for this kind of tensor, such as a quantized one, or one of an unknown "
            "layout or subclass."
        ),
        user=("Keep it out of the compiled region, or convert it to an ordinary strided tensor first.",),
        author=("A wrapper subclass has to implement __tensor_flatten__ and __tensor_unflatten__.",),
    ),
    Message(
        TextKind.FAKE_CLASS,
        "an object of a custom C++ class has no fake class",
        (
            "ScriptObject's {*} haven't registered a fake class",
            "is not registered. Please use register_fake_class",
            "Tried to call {*} on a FakeScriptObject",
            "Torchbind op {op} received a FakeScriptObject input when dispatching {key}",
        ),
        "torch/_library/fake_class_registry.py",
        means="While tracing, an object of a torchbind class is replaced by one of a fake class.",
        author=("Register one: torch._library.register_fake_class('namespace::Class').",),
    ),
    Message(
        TextKind.META_DATA,
        "the call needs the data of a meta tensor, which has none",
        (
            "Cannot copy out of meta tensor; no data",
            "Tensor.item() cannot be called on meta tensors",
            "Cannot inplace into non-meta tensor with meta tensor argument",
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
        TextKind.META_MIXED,
        "one call has a tensor on the device meta and one on {other_device}",
        (
            "Tensor on device meta is not on the expected device {other_device}",
            "Tensor on device {other_device} is not on the expected device meta",
        ),
        "check_same_device in torch/_prims_common/__init__.py",
        key=META,
        means=(
            "A tensor on the device meta has a shape and no data. The kernel at Meta was called, and it requires all "
            "tensors on one device. `x.to('cpu')` does not help: there is nothing to copy."
        ),
        user=(
            "If the meta tensor should have data: create it with `module.to_empty(device='cpu')` or "
            "`torch.empty_like(x, device='cpu')`, and load the weights, before the call.",
            "If you only need shapes: move the other tensors to meta too, `x.to('meta')`.",
        ),
        author=("Create new tensors on the device of an argument: `torch.empty(..., device=x.device)`.",),
    ),
)
