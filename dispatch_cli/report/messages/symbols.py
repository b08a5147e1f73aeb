"""Texts about symbols that stand for sizes and values while a program is traced."""

from __future__ import annotations

from dispatch_cli.report.messages.kinds import Message, TextKind

MESSAGES = (
    Message(
        TextKind.NOT_SYMBOLIC,
        "a kernel got a symbolic size where it takes an integer",
        (
            "Cannot call {function}() on tensor with symbolic sizes/strides",
            "{function}() called on tensor with symbolic shape",
            "{function} called on tensor with symbolic shape",
            "TensorIterator does not support symbolic shapes; please implement this operator in torch/_refs",
            "This commonly happens when an operator/kernel does not support symbolic shapes at this dispatch key",
            "SymIntArrayRef expected to contain only concrete integers",
            "Cannot call {function} on a tensor with symbolic shapes/strides",
        ),
        "TensorImpl::throw_cannot_call_with_symbolic, KernelFunction_impl.h",
        means=(
            "Under torch.compile or torch.export with dynamic shapes, sizes are symbols. The kernel takes `int` or "
            "calls `sizes()`; it would need `SymInt` or `sym_sizes()`."
        ),
        user=("Compile with `dynamic=False`, or mark the dimension as static.",),
        author=(
            "Write SymInt for sizes in the schema; in C++ take c10::SymInt and call sym_sizes().",
            "Add a fake implementation (torch.library.register_fake): fake tensors then do not reach this kernel.",
        ),
    ),
    Message(
        TextKind.DATA_GUARD,
        "Python code needs a value that depends on data, and only a symbol of it is known",
        (
            "Could not guard on data-dependent expression",
            "Could not extract specialized integer from data-dependent expression",
        ),
        "GuardOnDataDependentSymNode in torch/fx/experimental/symbolic_shapes.py",
        means=(
            "Under torch.compile and torch.export, fake tensors have no data, so `.item()` and `nonzero()` return "
            "symbols, such as u0 in the text. A Python `if`, or a kernel at Meta, compares such a symbol, and the "
            "result of the comparison is not known."
        ),
        user=(
            "Before that, state what you know about it: `torch._check(n > 3)`.",
            "Use torch.where or torch.cond instead of `if`.",
            "torch.compile without `fullgraph=True` breaks the graph there and goes on. Or exclude the function: "
            "`@torch.compiler.disable`.",
        ),
        author=("In a fake implementation, do not compare a size that depends on data; use `torch._check`.",),
    ),
)
