"""Texts about symbols that stand for sizes and values while a program is traced."""

from __future__ import annotations

from dispatch_cli.report.messages.kinds import Message, TextKind

MESSAGES = (
    Message(
        TextKind.NOT_SYMBOLIC,
        "a kernel was given a symbolic size that it takes as an integer",
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
            "Under torch.compile or export with dynamic shapes, sizes are symbols. The kernel that was reached takes "
            "`int` or calls `sizes()`, where `SymInt` or `sym_sizes()` is needed."
        ),
        user=("Compile with `dynamic=False`, or mark the dimension as static.",),
        author=(
            "In the schema, write SymInt for sizes; in C++ take c10::SymInt and use sym_sizes().",
            "A fake implementation (torch.library.register_fake) keeps fake tensors from reaching this kernel.",
        ),
    ),
    Message(
        TextKind.DATA_GUARD,
        "Python asks for a value that depends on data, of which only a symbol is known",
        (
            "Could not guard on data-dependent expression",
            "Could not extract specialized integer from data-dependent expression",
        ),
        "GuardOnDataDependentSymNode in torch/fx/experimental/symbolic_shapes.py",
        means=(
            "Under torch.compile and torch.export fake tensors have no data. What `.item()` or `nonzero()` returned is "
            "a symbol, such as u0 in the text. Python's `if`, or a kernel at Meta, compares it, and nothing says what "
            "the answer is."
        ),
        user=(
            "Say what is known of it before that: `torch._check(n > 3)`.",
            "Use torch.where or torch.cond in place of `if`.",
            "torch.compile without `fullgraph=True` breaks the graph there and goes on; or keep the function out: "
            "`@torch.compiler.disable`.",
        ),
        author=("In a fake implementation, do not compare a size that depends on data; use `torch._check`.",),
    ),
)
