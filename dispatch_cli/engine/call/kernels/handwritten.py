"""Kernels of PyTorch that are written by hand and do something of their own.

A kernel's place and its source file mostly tell what it does; these are the operators for which they do not. Every
entry is tried on a live PyTorch (tests/engine/call/judge).
"""

from __future__ import annotations

import re

from dispatch_cli.model.universe import NON_FUNCTIONAL

Place = tuple[str, str, str]
"""A kernel: the file of its source, the key it is registered at, the operator."""
_SOURCE = re.compile(r"(?:^|[/\\ ])([A-Za-z0-9_]+)\.(?:cpp|h):[0-9]+")
_NUMBER = re.compile(r"_[0-9]+$")
"""Number that torchgen appends to the name of a file when it writes several of them."""
PRIMS = re.compile(r"[/\\]torch[/\\]_prims[/\\]__init__\.py:[0-9]+")
"""Lines where operators of prims are registered; those that look at a device do so at BackendSelect, and compute."""


def place_of(debug: str, key: str, operator: str) -> Place | None:
    """Place that a kernel of PyTorch is from, by its debug text; None for a kernel without a source file in C++."""
    match = _SOURCE.search(debug)
    return None if match is None else (_NUMBER.sub("", match[1]), key, operator)


AUTOGRAD_BY_HAND = "VariableTypeManual"

COMPUTES: frozenset[Place] = frozenset(
    {
        (AUTOGRAD_BY_HAND, "Autograd", "aten::detach_"),
        (f"Register{NON_FUNCTIONAL}", NON_FUNCTIONAL, "aten::as_strided_"),  # others there call other operators
        ("BatchRulesFactory", "FuncTorchBatched", "aten::_has_same_storage_numel"),
        ("BatchRulesUnaryOps", "FuncTorchBatched", "aten::_assert_tensor_metadata"),
    }
)
"""The kernel computes the result where others go on."""

COMPUTES_IN_PYTHON = frozenset({("BackendSelect", "debugprims::load_tensor")})
"""Slots of operators whose kernel is a Python function and computes the result, too."""

_BATCHING_RULES = {
    "BatchRulesBinaryOps": "fill_.Tensor",
    "BatchRulesFactory": "linspace.Scalar_Tensor linspace.Tensor_Scalar linspace.Tensor_Tensor "
    "logspace.Scalar_Tensor logspace.Tensor_Scalar logspace.Tensor_Tensor",
    "BatchRulesLinearAlgebra": "addbmm addmm addmv baddbmm bmm dot linalg_matrix_exp mm mv vdot",
    "BatchRulesModules": "grid_sampler_2d grid_sampler_3d one_hot",
    "BatchRulesNorm": "_native_batch_norm_legit _native_batch_norm_legit.no_stats",
    "BatchRulesReduceOps": "all any bucketize.Tensor count_nonzero dist max mean median min nanmedian "
    "norm.Scalar prod sum",
    "BatchRulesScatterOps": "index_copy index_fill.int_Scalar index_fill.int_Tensor index_select "
    "select_scatter slice_scatter",
    "BatchRulesViews": "squeeze squeeze.dim t t_ trace",
    "LegacyBatchingRegistrations": "squeeze_.dim",
}
"""The batching rules that call other operators, as those of mm call matmul; the others call their own operator."""

CALLS_OTHERS: frozenset[Place] = frozenset(
    {
        (AUTOGRAD_BY_HAND, "ADInplaceOrView", "aten::_fw_primal"),  # alias
        (AUTOGRAD_BY_HAND, "ADInplaceOrView", "aten::_make_dual"),  # alias
        ("RegisterZeroTensor", "ZeroTensor", "aten::sub.Tensor"),  # add, on meta tensors
        ("BatchRulesRandomness", "FuncTorchVmapMode", "aten::native_dropout_backward"),
        *(
            (source, "FuncTorchBatched", f"aten::{name}")
            for source, names in _BATCHING_RULES.items()
            for name in names.split()
        ),
    }
)
"""The kernel goes on with other operators."""

NO_BATCHING_RULE = frozenset({("BatchRulesScatterOps", "FuncTorchBatched", "aten::as_strided_scatter")})
"""The batching rule only raises an error."""

NORMALIZES_WITHOUT_WEIGHT: frozenset[Place] = frozenset(
    ("BatchRulesNorm", "FuncTorchBatched", f"aten::{name}") for name in ("native_group_norm", "native_layer_norm")
)
"""The batching rule calls the operator without weight and bias, which it applies to the result: where one of them is
batched, that of native_layer_norm; in every case, that of native_group_norm."""

DECOMPOSES_FOR_JVP: frozenset[Place] = frozenset(
    ("VariableType", "Autograd", f"aten::{name}")
    for name in (
        *("_log_softmax_backward_data", "_softmax_backward_data", "nll_loss2d_backward", "nll_loss_backward"),
        *("batch_norm_backward", "cudnn_batch_norm_backward", "miopen_batch_norm_backward"),
        *("native_batch_norm_backward", "native_layer_norm_backward"),
    )
)
"""The generated autograd kernel has no formula for a forward derivative, and goes on with what
torch/_decomp/decompositions_for_jvp.py registers in its place where a tensor has a tangent."""

LIFTS_FUNCTIONAL = frozenset({"aten::lift", "aten::lift_fresh", "aten::lift_fresh_copy"})
"""Operators whose kernel for functionalization goes on with others if the tensor is functional already."""

EXCLUDES: frozenset[Place] = frozenset({("LegacyBatchingRegistrations", "FuncTorchBatched", "aten::cat")})
"""The batching rule excludes its key in every case, as the newer ones do."""

CALLS = {
    "aten::_sparse_sum.dim": "aten::_indices",
    "aten::bitwise_left_shift_.Tensor_Scalar": "aten::bitwise_left_shift.Tensor_out",
    "aten::bitwise_right_shift_.Tensor_Scalar": "aten::bitwise_right_shift.Tensor_out",
    "aten::rsub.Scalar": "aten::sub.Tensor",
}
"""Operators that composite kernels call, where the kernels' names do not tell, or tell something else."""

NOT_IMPLEMENTED: dict[Place, str] = {
    ("RegisterSparseMeta", "SparseMeta", "aten::isinf"): "nyi isinf for SparseMeta",
    **{
        ("RegisterCompositeExplicitAutograd", "CompositeExplicitAutograd", f"aten::{name}"): f"{name}{text}"
        for name, text in (
            ("convolution_overrideable", " not implemented."),
            ("convolution_backward_overrideable", ": You are likely triggering this"),
            ("_scaled_dot_product_fused_attention_overrideable", " not implemented."),
            ("_scaled_dot_product_fused_attention_overrideable_backward", " not implemented"),
        )
    },
}
"""The kernel only raises NotImplementedError; how its text begins."""
