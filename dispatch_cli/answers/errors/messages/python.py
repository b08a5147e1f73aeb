"""Texts about Python's side of dispatch: subclasses of tensors, modes and higher-order operators."""

from __future__ import annotations

from dispatch_cli.answers.errors.kinds import Message
from dispatch_cli.model import printed_texts
from dispatch_cli.model.universe import PYTHON

MESSAGES = (
    Message(
        "no-subclass",
        "no tensor subclass and no mode of the call handles {op}",
        (
            "Multiple dispatch failed for '{op}'; all __torch_[[dispatch]][[function]]__ handlers returned "
            "NotImplemented",
            "dispatch: attempting to run unimplemented operator/function: {overload_name}{class}",
            "unimplemented operator/function: func=<OpOverload(op='{op}', overload='{overload}')>{class}",
            "NotImplementedError: {aten_overload}{class}",
            "no implementation found for '{op}' on types that implement __torch_[[dispatch]][[function]]__",
        ),
        "torch/overrides.py, torch/csrc/utils/python_arg_parser.cpp",
        means=(
            "A call goes first to `__torch_function__`, and later, at the key Python, to `__torch_dispatch__` of the "
            "modes and of the tensor subclasses among the arguments. None of them knows "
            "this function, or this mixture of types."
        ),
        user=(
            "Pass tensors of one subclass only, or plain tensors only.",
            "[class] Call it on an ordinary tensor: before torchao converts the weights, or on `x.to_padded_tensor(0)` "
            "of a nested one. Or use a newer release of the class's package.",
        ),
        author=("Handle {op} in that method; return NotImplemented only for types that another class handles.",),
    ),
    Message(
        "mixed-dtensor",
        "{op} was called with distributed tensors (DTensor) and ordinary ones",
        (
            "[[{op}[[:]] ]]got mixed torch.Tensor and DTensor[[, need to convert all torch.Tensor to DTensor]]",
            "{custom_op}[[:]] got mixed torch.Tensor and DTensor[[, need to convert all torch.Tensor to DTensor]]",
        ),
        "torch/distributed/tensor/_dispatch.py",
        key=PYTHON,
        means="DTensor's `__torch_dispatch__` must know how each tensor is placed on the device mesh.",
        user=(
            "[custom] DTensor has no rule for {op}: call it on local tensors, `x.to_local()`, and wrap its result, "
            "`DTensor.from_local(…)`.",
            "[!custom] Convert the ordinary tensor, `distribute_tensor(x, mesh, [Replicate()])`; or the DTensor, "
            "`x.to_local()`.",
            "[!custom] The usual cause is a buffer or a constant (a mask, a rotary table).",
            "[inference] The text also shows inference mode, in which DTensor gets composite operators whole, such as "
            "aten::linear, and not those that it knows. If no plain tensor is an argument: use torch.no_grad().",
        ),
        author=("[custom] Register a rule: torch.distributed.tensor.experimental.register_sharding.",),
        contexts=("inference",),
    ),
    Message(
        "no-sharding",
        "DTensor does not know how to shard {op}[[{placed} for these arguments]][[{meshes} for these meshes]]",
        (
            "Operator {op} does not have a sharding strategy registered",
            "Sharding propagation failed for Op(op={op},{placed}",
            "Sharding propagation failed on op Op(op={op},{placed}",
            "Sharding propagation failed for {overload_name}({placed}",
            "found no DeviceMesh from dtensor args for {op}!{nested}",
            "found no DeviceMesh from dtensor args for {op}{nested}",
            "{op}: DTensor does not support cross-mesh operation{meshes}",
            "Could not run pointwise computation across different mesh{meshes}",
        ),
        "torch/distributed/tensor/_dispatch.py, _sharding_prop.py",
        key=PYTHON,
        means=(
            "DTensor needs a sharding strategy for each operator, which says how arguments and results are placed. "
            "[[{placed}That of {op} refuses these placements; an error above the text may say why.]][[{nested}It "
            "looks for the mesh among the arguments, and found no DTensor there: it is in a keyword, or none is "
            "one.]][[{meshes}It combines tensors of one device mesh only.]]"
        ),
        user=(
            "Run it on local tensors: `x.to_local()`, then `DTensor.from_local(…)`.",
            "[placed] Or change the placement of an argument first: `x.redistribute(mesh, [Replicate()])`.",
            "[nested] Pass the DTensor as a positional argument; newer versions of PyTorch look at keywords, too.",
            "[meshes] Or create both on one mesh.",
            "In inference mode DTensor gets calls that other kernels take otherwise: try torch.no_grad() instead.",
        ),
        author=("Register a strategy: torch.distributed.tensor.experimental.register_sharding.",),
    ),
    Message(
        "no-rule",
        "{op} has no implementation in Python for this mode, subclass, key or device",
        (
            "There was no rule registered for HOP {op} and",
            "There was no rule registered for HigherOrderOperator {op} and",
            "could not find kernel for HigherOrderOperator {op} at dispatch key {key}",
            "HigherOrderOperator '{op}' is not supported for the given input types",
            "Autograd not implemented for {op}",
            "Current active mode {*} not registered",
            "KeyError: <TransformType.{*}",
            "{op} does not have a kernel registered for {device}{python_op}",
            "CustomOp(op=\"{op}\")>: when running with device='{device}' tensors: there is no{python_op}",
            printed_texts.NO_PYTHON_KERNEL,
        ),
        "HigherOrderOperator.dispatch and OpOverload in torch/_ops.py",
        means=(
            "Higher-order operators, such as cond and flex_attention, and operators under modes in Python, such as "
            "that of fake tensors, are looked up in a table in Python, by key, mode and class. {op} has nothing there."
        ),
        user=(
            "Call it outside of the mode (the text names it), or on plain tensors; rules are added in each release "
            "of PyTorch.",
        ),
        author=(
            "[!python_op] Register one: `op.py_impl(key_or_mode_class)(function)`; at Meta, with register_fake.",
            "[python_op] Register one: `@my_op.register_kernel('{device}')`; or leave `device_types` out of custom_op.",
        ),
    ),
)
