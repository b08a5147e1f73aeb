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
            "torch.compile, export and make_fx call operators on fake tensors, which have a shape and no data. They "
            "need a function that says what the result looks like. {op} has none: what custom_op registers for it at "
            "Meta raises this."
        ),
        user=(
            "Without torch.compile, export or fake tensors the operator runs. Ask the library for a fake "
            "implementation.",
        ),
        author=(
            "Give it one: `@my_op.register_fake` over a function of the same arguments that returns "
            "`torch.empty_like(x)` or the like.",
        ),
    ),
    Message(
        TextKind.FAKE_MODULE,
        "the fake implementation of {op} is in a Python module that is not imported, or not the declared one",
        (
            "Operator '{op}' was defined in C++ and has a Python fake impl",
            "Operator '{op}' specified that its python fake impl is in the Python module",
            "Tried to register an python registration stub (pystub) for {op} that specifies the Python module",
        ),
        "torch.library._check_pystubs_once, throw_abstract_impl_not_imported_error",
        key=META,
        means="A library that defines operators in C++ says with `m.set_python_module` which module has the fake ones.",
        user=("Import that Python module before the call.",),
        author=("Let the C++ `m.set_python_module(…)` and the module of `register_fake` name the same module.",),
    ),
    Message(
        TextKind.DYNAMIC_OUTPUT,
        "the size of what {op} returns depends on data, which fake tensors do not have",
        (
            "DynamicOutputShapeException: {op}",
            "You're trying to run this operator with meta Tensors (as opposed to FakeTensors), but this operator may "
            "return an output Tensor with data-dependent shape",
            "Attempted to call get_ctx() for the meta implementation for {op}[[.]]",
        ),
        "torch/_subclasses/fake_impls.py, torch/_library/fake_impl.py",
        key=META,
        means=(
            "Operators such as nonzero, unique and masked_select return as many elements as the data says. A fake "
            "tensor has no data, so that a symbolic size has to stand for it, which is off or not possible here."
        ),
        user=(
            "torch.compile: set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`, or accept a graph "
            "break.",
            "FakeTensorMode: give it `shape_env=ShapeEnv()`; use fake tensors in place of meta tensors.",
            "Rewrite with operators of fixed size, such as torch.where in place of a mask.",
        ),
        author=("In the fake implementation: `size = torch.library.get_ctx().new_dynamic_size()`.",),
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
            "`.item()`, `if tensor:`, `int(tensor)` and the like need the value of a tensor. While a program is traced "
            "there is none."
        ),
        user=(
            "torch.compile: `torch._dynamo.config.capture_scalar_outputs = True`, or accept a graph break.",
            "Use torch.where or torch.cond where Python's `if` asks a tensor.",
        ),
        author=(
            "If a fake implementation calls it (the traceback shows a function that was given to register_fake): use "
            "only the shapes and dtypes of its arguments, and no `.item()`, no `if x.sum() > 0`.",
            "If the size of the result depends on data: `torch.library.get_ctx().new_dynamic_size()` stands for it.",
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
            "Under FakeTensorMode every tensor has to be fake. A real one came in from outside: a parameter, a "
            "constant, a buffer, or a tensor that was made before the mode."
        ),
        user=(
            "Make the tensor an argument or a buffer of the module, so that it is converted too.",
            "`fake_mode.from_tensor(x)` converts one; `FakeTensorMode(allow_non_fake_inputs=True)` converts all.",
        ),
        author=("A fake implementation must not use real tensors, such as a cached table.",),
    ),
    Message(
        TextKind.FAKE_MODES,
        "fake tensors of two FakeTensorModes meet in one call",
        (
            "Mixing fake modes NYI",
            "All fake tensor modes must be the same",
            "fake mode ({**}) from {*} doesn't match mode",
        ),
        "FakeTensorMode.validate_and_convert_non_fake_tensors, torch._guards.detect_fake_mode",
        means="A fake tensor belongs to the mode that made it; another mode does not take it.",
        user=("Use one FakeTensorMode for all: `torch._guards.detect_fake_mode(args)` finds the one that is there.",),
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
            "Fake, functional, batched, meta and sparse tensors have no memory of their own to point to. A kernel for "
            "real tensors was reached with one: it is called directly and not through an operator, or its operator has "
            "no fake implementation and is a composite of such code."
        ),
        user=("torch.compile: keep the function out with `torch._dynamo.disable` (or `torch.compiler.disable`).",),
        author=(
            "Make the code an operator: torch.library.custom_op or TORCH_LIBRARY, with register_fake.",
            "If it is an operator: it must not have a kernel at CompositeImplicitAutograd that reads memory.",
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
            "FakeTensorMode itself compares the devices of the arguments, as most real operators do: no kernel was "
            "called. The real call fails too, mostly."
        ),
        user=("Move the tensors to one device.",),
        author=("A fake implementation creates its result on the device of an argument, not on the CPU.",),
    ),
    Message(
        TextKind.FAKE_MISMATCH,
        "the fake implementation of {op} says something else than the kernel returns",
        (
            "When comparing the output of {op} on FakeTensor and concrete Tensors, found mismatch",
            "Real tensor propagation found {*} mismatch {**}for func: {op}",
            "This error most often comes from a incorrect fake (aka meta) kernel for a custom op",
            "MetadataMismatchError: {*}mismatch",
            # of the code that inductor writes
            "wrong number of dimensions{*} for op: {torch_op}",
        ),
        "FakeTensorMode._maybe_infer_fake_kernel_from_pytree_out, torch/_subclasses/fake_utils.py",
        means="Sizes, strides, dtype, device or aliasing of the fake result differ from those of the real one.",
        author=("Correct the fake implementation, or the kernel: `torch.library.opcheck` compares the two.",),
    ),
    Message(
        TextKind.FAKE_UNSUPPORTED,
        "this tensor can not be made fake",
        (
            "UnsupportedFakeTensorException: ",
            "UnsupportedOperatorException: torch.compile does not support ",
            "UnsupportedOperatorException: torch.compile doesn't support ",
            "meta converter nyi",
            "quantized nyi in meta tensors",
        ),
        "MetaConverter in torch/_subclasses/fake_tensor.py",
        means="FakeTensorMode knows no fake form of this kind of tensor: quantized, of an unknown layout or subclass.",
        user=("Keep it out of the compiled region, or convert it to a strided tensor before.",),
        author=("A wrapper subclass needs __tensor_flatten__ and __tensor_unflatten__.",),
    ),
    Message(
        TextKind.FAKE_CLASS,
        "an object of a custom class has no fake class",
        (
            "ScriptObject's {*} haven't registered a fake class",
            "is not registered. Please use register_fake_class",
            "Tried to call {*} on a FakeScriptObject",
            "Torchbind op {op} received a FakeScriptObject input when dispatching {key}",
        ),
        "torch/_library/fake_class_registry.py",
        means="While tracing, an object of a torchbind class is replaced by one of a fake class.",
        author=("Declare one: torch._library.register_fake_class('namespace::Class').",),
    ),
    Message(
        TextKind.META_DATA,
        "data of a meta tensor is asked for",
        (
            "Cannot copy out of meta tensor; no data",
            "Tensor.item() cannot be called on meta tensors",
            "Cannot inplace into non-meta tensor with meta tensor argument",
        ),
        "aten/src/ATen/native/Copy.cpp",
        key=META,
        means="A meta tensor has a shape and no data. The kernel at Meta can not copy or read what is not there.",
        user=(
            "Modules: `module.to_empty(device=…)` and then load the weights, in place of `module.to(device)`.",
            "accelerate, transformers: `device_map` or `low_cpu_mem_usage` left a part of the model on the device "
            "'meta'. Load it without them, or with a map that has room for all of it.",
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
            "A tensor on the device meta has a shape and no data. The kernel at Meta was called, which compares the "
            "devices of its tensors. `x.to('cpu')` does not help: there is nothing to copy."
        ),
        user=(
            "If the meta tensor is meant to have data: make it with `module.to_empty(device='cpu')` or "
            "`torch.empty_like(x, device='cpu')`, and load the weights, before the call.",
            "If only shapes are wanted: move the other tensors to meta too, `x.to('meta')`.",
        ),
        author=("Create new tensors on the device of an argument: `torch.empty(..., device=x.device)`.",),
    ),
)
