"""Texts about Python's side of dispatch: subclasses of tensors, modes, and higher-order operators."""

from __future__ import annotations

from dispatch_cli.model.universe import PYTHON
from dispatch_cli.report.messages.kinds import Message, TextKind

MESSAGES = (
    Message(
        TextKind.NO_IMPL,
        "the higher-order operator {op} has no implementation for a mode or a subclass of tensors",
        (
            "There was no rule registered for HigherOrderOperator {op}[[ and mode {object}]]",
            "There was no rule registered for HOP {op}[[ and subclass {object}]]",
            "HigherOrderOperator '{op}' is not supported for the given",
        ),
        "HigherOrderOperator.dispatch in torch/_ops.py",
        key=PYTHON,
    ),
    Message(
        TextKind.HIGHER_ORDER_RULE,
        "the higher-order operator {op} does not do this",
        (
            "The {op} HigherOrderOperator does not currently support training with in-place input or buffer mutations",
            "HigherOrderOperator {op} does not implement a gen_schema",
            "'_HigherOrderNamespace' 'torch.ops.higher_order' object has no attribute '{name}'",
            "'_PyOpNamespace' 'torch.ops.higher_order' object has no attribute '{name}'",
            "Direct instantiation of HigherOrderOperator is not allowed",
            "might be aliasing the input or the output!",
            "might be modifying the input!",
            "where aliases appear. In particular, these inputs",
            "where the inputs are mutated. In particular, these nodes",
            "Aliasing is not supported for HOP subgraph",
            "Unsupported: unsupported HigherOrderOperator[[ Explanation: Unable to create higher order operator "
            "variable for {op}.]]",
            "NYI: PyDispatcher has not implemented support for {key}",
        ),
        "HigherOrderOperator in torch/_ops.py",
        means="Higher-order operators have Python implementations only, one per key, mode and subclass.",
        user=("Do not change tensors in place inside the function that is given to it.",),
        author=("Give it an implementation: `@op.py_impl(…)`. `dispatch-cli table` shows those of a declared one.",),
    ),
    Message(
        TextKind.NO_ENTRY,
        "a higher-order operator has no implementation for a transform of torch.func, or for a mode",
        (
            "KeyError: <TransformType.{name}: ",
            "KeyError: <class '{subclass_mode}'>",
            "Current active mode {object} not registered",
        ),
        "dispatch_functorch in torch/_functorch/pyfunctorch.py, HigherOrderOperator.dispatch in torch/_ops.py",
        means=(
            "Higher-order operators have Python implementations only: one per key, mode, subclass and transform of "
            "torch.func, each in a table of the operator. The text names what the table lacks, by its class; the call "
            "of the operator is in the traceback. torch.export traces with modes of its own: an operator that runs in "
            "a plain call needs implementations for ProxyTorchDispatchMode and FakeTensorMode there."
        ),
        user=("Call it outside of that transform or mode: of vmap, grad, functionalize or torch.compile.",),
        author=(
            "Register one: `@op.py_impl(TransformType.Vmap)`, or with the class of the mode that the text names, such "
            "as `@op.py_impl(FakeTensorMode)` or `@op.py_impl(ProxyTorchDispatchMode)`. "
            "`dispatch-cli table` shows those of a declared operator.",
        ),
    ),
    Message(
        TextKind.HIGHER_ORDER_GRADIENT,
        "the higher-order operator {op} has no gradient",
        ("Autograd not implemented for {op}",),
        "autograd_not_implemented in torch/_higher_order_ops/utils.py",
        key="Autograd",
        means=(
            "An argument requires a gradient and gradients are recorded. What {op} has at Autograd runs the operator, "
            "and raises: nobody wrote how to compute its gradient."
        ),
        user=("If no gradient is needed: call it under torch.no_grad(), or with `x.detach()`.",),
        author=(
            "Give it an implementation that uses a torch.autograd.Function: "
            "`@op.py_impl(torch._C.DispatchKey.Autograd)`.",
        ),
    ),
    Message(
        TextKind.NO_SUBCLASS,
        "no subclass of tensors and no mode in the call handles {op}",
        (
            "Multiple dispatch failed for '{op}'; all __torch_dispatch__ handlers returned NotImplemented",
            "no implementation found for '{op}' on types that implement __torch_dispatch__",
        ),
        "handle_torch_function_no_python_arg_parser in torch/csrc/utils/python_arg_parser.cpp",
        key=PYTHON,
        means=(
            "At the key Python the call goes to the modes and then to `__torch_dispatch__` of each subclass among the "
            "arguments. Each returned NotImplemented: none knows this operator, or this mixture of types."
        ),
        user=("Give all arguments as tensors of one subclass, or as plain tensors.",),
        author=("Handle {op} in `__torch_dispatch__`; return NotImplemented only for types that another one handles.",),
    ),
    Message(
        TextKind.NO_TORCH_FUNCTION,
        "no class among the arguments and no mode implements {function} in __torch_function__",
        (
            "Multiple dispatch failed for '{function}'; all __torch_function__ handlers returned NotImplemented",
            "no implementation found for '{function}' on types that implement __torch_function__",
        ),
        "handle_torch_function in torch/overrides.py, torch/csrc/utils/python_arg_parser.cpp",
        means=(
            "PyTorch's Python functions ask `__torch_function__` of the modes and of the arguments' classes before "
            "anything is dispatched. Each returned NotImplemented. The dispatcher and its keys were not reached."
        ),
        user=("Give all arguments as tensors of one class, or as plain tensors.",),
        author=(
            "Handle {function} in `__torch_function__`, or call `super().__torch_function__`; return NotImplemented "
            "only for types that another class handles.",
        ),
    ),
    Message(
        TextKind.MIXED_DTENSOR,
        "{op} was called with distributed tensors (DTensor) and ordinary ones",
        ("{op}[[:]] got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor",),
        "torch/distributed/tensor/_dispatch.py",
        key=PYTHON,
        means="DTensor's `__torch_dispatch__` needs to know how each tensor is placed on the mesh.",
        user=(
            "Convert the other one: `distribute_tensor(x, mesh, [Replicate()])`, or `x.to_local()` the other way.",
            "Buffers and constants (masks, rotary tables) are forgotten most often.",
        ),
    ),
    Message(
        TextKind.NO_SHARDING,
        "DTensor does not know how to shard {op}",
        ("Operator {op} does not have a sharding strategy registered",),
        "ShardingPropagator in torch/distributed/tensor/_sharding_prop.py",
        key=PYTHON,
        means="DTensor runs an operator by a strategy that says how arguments and results are placed. {op} has none.",
        user=("Run it on local tensors: `x.to_local()`, then `DTensor.from_local(…)`.",),
        author=("torch.distributed.tensor.experimental.register_sharding gives it one.",),
    ),
)
