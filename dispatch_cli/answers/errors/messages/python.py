"""Texts about Python's side of dispatch: subclasses of tensors, modes and higher-order operators."""

from __future__ import annotations

from dispatch_cli.answers.errors.kinds import Message, TextKind
from dispatch_cli.model.universe import PYTHON

MESSAGES = (
    Message(
        TextKind.NO_SUBCLASS,
        "no tensor subclass and no mode of the call handles {op}",
        (
            "Multiple dispatch failed for '{op}'; all __torch_[[dispatch]][[function]]__ handlers returned "
            "NotImplemented",
            "no implementation found for '{op}' on types that implement __torch_[[dispatch]][[function]]__",
        ),
        "torch/overrides.py, torch/csrc/utils/python_arg_parser.cpp",
        means=(
            "A call goes first to `__torch_function__`, and later, at the key Python, to `__torch_dispatch__` of the "
            "modes and of the tensor subclasses among the arguments. All returned NotImplemented: none of them knows "
            "this function, or this mixture of types."
        ),
        user=("Pass tensors of one subclass only, or plain tensors only.",),
        author=("Handle {op} in that method; return NotImplemented only for types that another class handles.",),
    ),
    Message(
        TextKind.MIXED_DTENSOR,
        "{op} was called with distributed tensors (DTensor) and ordinary ones",
        ("[[{op}[[:]] ]]got mixed torch.Tensor and DTensor[[, need to convert all torch.Tensor to DTensor]]",),
        "torch/distributed/tensor/_dispatch.py",
        key=PYTHON,
        means="DTensor's `__torch_dispatch__` must know how each tensor is placed on the device mesh.",
        user=(
            "Convert the ordinary tensor, `distribute_tensor(x, mesh, [Replicate()])`; or the DTensor, `x.to_local()`.",
            "The usual cause is a buffer or a constant (a mask, a rotary table).",
            "[inference] The text also shows inference mode, in which DTensor gets composite operators whole, such as "
            "aten::linear, and not those that it knows. If no plain tensor is an argument: use torch.no_grad().",
        ),
        author=("For an operator of your own: torch.distributed.tensor.experimental.register_sharding.",),
        contexts=("inference",),
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
        user=(
            "Run it on local tensors: `x.to_local()`, then `DTensor.from_local(…)`.",
            "In inference mode DTensor gets calls that other kernels take otherwise: try torch.no_grad() instead.",
        ),
        author=("Register a strategy: torch.distributed.tensor.experimental.register_sharding.",),
    ),
    Message(
        TextKind.ALIASED_OUTPUT,
        "{op} returns an argument, or a view of one, and its schema does not say so",
        (
            "{op} (with implementation in {**}): The output of this custom operator (1) must not also be an input",
            "The output of this custom operator (1) must not also be an input",
            "Argument {argument} is not defined to alias output but was aliasing",
            "Dispatcher operators below autograd are not allowed to directly return inputs",
            "Tensors returned from custom ops (1) must not be inputs to the custom op",
        ),
        "check_aliasing_constraint in torch/_library/utils.py, torch/_subclasses/schema_check_mode.py",
        means=(
            "torch.compile and autograd rely on the schema. An operator whose schema declares no alias must return "
            "memory of its own, or results are silently wrong."
        ),
        author=("Return `x.clone()`. An operator that only changes arguments should return nothing.",),
    ),
)
