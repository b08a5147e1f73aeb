"""Kernels of PyTorch that are written by hand and do something of their own.

A kernel's place and its source file mostly tell what it does; these are the operators for which they do not. Every
entry is tried on a live PyTorch (tests/engine/call/judge).
"""

from __future__ import annotations

COMPUTES = frozenset({("VariableTypeManual", "Autograd", "aten::detach_")})
"""It computes the result at an autograd key: source, key or alias, operator."""

CALLS_OTHERS = frozenset(
    {
        # aten::alias
        ("VariableTypeManual", "ADInplaceOrView", "aten::_fw_primal"),
        ("VariableTypeManual", "ADInplaceOrView", "aten::_make_dual"),
        # aten::add.Tensor on meta tensors
        ("RegisterZeroTensor", "ZeroTensor", "aten::sub.Tensor"),
    }
)
"""It calls or redispatches to other operators: source, key, operator."""
