"""Texts about Python's side of dispatch: subclasses of tensors, modes, and higher-order operators."""

from __future__ import annotations

from dispatch_cli.model.universe import PYTHON
from dispatch_cli.report.messages.kinds import Message, TextKind

MESSAGES = (
    Message(
        TextKind.NO_IMPL,
        "the higher-order operator {op} has no implementation for a mode or a tensor subclass",
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
        "the higher-order operator {op} does not support this use",
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
        means="Higher-order operators have only Python implementations: one per key, mode and tensor subclass.",
        user=("Do not change tensors in place in the function that you pass to it.",),
        author=(
            "Write the missing implementation: `@op.py_impl(…)`. `dispatch-cli table` shows the implementations "
            "of a declared operator.",
        ),
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
            "Higher-order operators have only Python implementations: one per key, mode, tensor subclass and "
            "transform of torch.func. The text names the class or transform that has none; the traceback shows the "
            "call of the operator. torch.export traces with modes of its own, so it needs implementations for "
            "ProxyTorchDispatchMode and FakeTensorMode even if a plain call works."
        ),
        user=("Call it outside of that transform or mode (vmap, grad, functionalize, torch.compile).",),
        author=(
            "Register one: `@op.py_impl(TransformType.Vmap)`, or with the class of the mode that the text names, "
            "such as `@op.py_impl(FakeTensorMode)` or `@op.py_impl(ProxyTorchDispatchMode)`. `dispatch-cli table` "
            "shows the implementations of a declared operator.",
        ),
    ),
    Message(
        TextKind.HIGHER_ORDER_GRADIENT,
        "the higher-order operator {op} has no gradient",
        ("Autograd not implemented for {op}",),
        "autograd_not_implemented in torch/_higher_order_ops/utils.py",
        key="Autograd",
        means=(
            "An argument requires a gradient and gradients are recorded. The implementation of {op} at Autograd runs "
            "the operator and then raises: the gradient is not implemented."
        ),
        user=("If no gradient is needed: call it under torch.no_grad(), or with `x.detach()`.",),
        author=(
            "Write an implementation with a torch.autograd.Function: `@op.py_impl(torch._C.DispatchKey.Autograd)`.",
        ),
    ),
    Message(
        TextKind.NO_SUBCLASS,
        "no tensor subclass and no mode of the call handles {op}",
        (
            "Multiple dispatch failed for '{op}'; all __torch_dispatch__ handlers returned NotImplemented",
            "no implementation found for '{op}' on types that implement __torch_dispatch__",
        ),
        "handle_torch_function_no_python_arg_parser in torch/csrc/utils/python_arg_parser.cpp",
        key=PYTHON,
        means=(
            "At the key Python the call goes to the modes and then to `__torch_dispatch__` of each tensor subclass "
            "among the arguments. All returned NotImplemented: none of them knows this operator, or this mixture of "
            "types."
        ),
        user=("Pass tensors of one subclass only, or plain tensors only.",),
        author=(
            "Handle {op} in `__torch_dispatch__`; return NotImplemented only for types that another subclass handles.",
        ),
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
            "Before anything is dispatched, PyTorch's Python functions call `__torch_function__` of the modes and of "
            "the classes of the arguments. All returned NotImplemented. The dispatcher was not reached."
        ),
        user=("Pass tensors of one class only, or plain tensors only.",),
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
        means="DTensor's `__torch_dispatch__` must know how each tensor is placed on the device mesh.",
        user=(
            "Convert the ordinary tensor, `distribute_tensor(x, mesh, [Replicate()])`; or the DTensor, `x.to_local()`.",
            "The usual cause is a buffer or a constant (a mask, a rotary table).",
        ),
    ),
    Message(
        TextKind.NO_SHARDING,
        "DTensor does not know how to shard {op}",
        ("Operator {op} does not have a sharding strategy registered",),
        "ShardingPropagator in torch/distributed/tensor/_sharding_prop.py",
        key=PYTHON,
        means=(
            "DTensor needs a sharding strategy for each operator, which says how arguments and results are placed. "
            "{op} has none."
        ),
        user=("Run it on local tensors: `x.to_local()`, then `DTensor.from_local(…)`.",),
        author=("Register a strategy: torch.distributed.tensor.experimental.register_sharding.",),
    ),
)
