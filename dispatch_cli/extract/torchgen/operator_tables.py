"""Operators that torchgen's generators treat by name.

Where versions of PyTorch differ, the names of all of them are here: a name that a version does not treat specially is
not one of its operators.
"""

from __future__ import annotations

MANUAL_AUTOGRAD_AND_TRACER = frozenset(
    {
        "options",
        "data",
        "set_data",
        "is_leaf",
        "output_nr",
        "_version",
        "retain_grad",
        "_backward",
        "requires_grad_",
        "resize_",
        "resize_as_",
        "detach",
        "detach_",
        "copy_",
        "_fw_primal",
        "_make_dual",
    }
)
"""C++ functions whose kernels at Autograd and Tracer are written by hand (``packaged/autograd/gen_trace_type.py``)."""

RETURNS_VIEWS = frozenset(
    {
        "numpy_T",
        "alias",
        "as_strided",
        "diagonal",
        "expand",
        "permute",
        "select",
        "slice",
        "slice_inverse",
        "split",
        "split_with_sizes",
        "squeeze",
        "t",
        "transpose",
        "unfold",
        "unsqueeze",
        "flatten",
        "view",
        "unbind",
        "_indices",
        "_values",
        "indices",
        "values",
        "crow_indices",
        "col_indices",
        "ccol_indices",
        "row_indices",
        "sparse_coo_tensor_with_dims_and_tensors",
        "_reshape_alias",
        "_test_autograd_multiple_dispatch_view",
        "view_as_complex",
        "view_as_real",
        "_conj",
        "_neg_view",
        "_nested_get_values",
        "_nested_view_from_buffer",
        "_nested_view_from_jagged",
        "chunk",
        "detach",
        "contiguous",
        "reshape",
        "reshape_as",
        "expand_as",
        "view_as",
        "real",
        "imag",
        "narrow",
        "movedim",
        "tensor_split",
        "swapdims",
        "swapaxes",
        "mT",
        "mH",
        "adjoint",
        "matrix_H",
    }
)
"""Names, without ``_`` and overload, of operators that are views for autograd (``gen_inplace_or_view_type.py``)."""

NOT_FUNCTIONALIZED = frozenset(
    {
        "adaptive_avg_pool3d_backward.grad_input",
        "_slow_conv2d_backward.grad_input",
        "_cummax_helper",
        "_cummin_helper",
        "polygamma_",
        "record_stream",
        "resize_",
        "resize_as_",
        "_fill_mem_eff_dropout_mask_",
        "_flash_attention_forward_no_dropout_inplace",
        "_cudnn_attention_forward_no_dropout_inplace",
    }
)
"""Operators without a kernel at Functionalize, although they write (``gen_functionalization_type.py``)."""

BACKEND_SELECT_BY_HAND = frozenset({"is_pinned", "_pin_memory"})
"""Operators that have a kernel at BackendSelect in the template ``RegisterBackendSelect.cpp``.

Only in versions in which they have a kernel for CUDA, too.
"""
