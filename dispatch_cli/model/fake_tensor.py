"""What ``FakeTensorMode`` asks for of an operator, beside its kernels and its fake implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dispatch_cli.model.names import OperatorName


class FakeRules(NamedTuple):
    """What is registered in PyTorch's Python code for one operator.

    decomposition: the function that decomposes it, where that runs for sizes that are numbers
        (``torch._decomp.decomposition_table``, and ``torch_decomp_decompositions`` in ``fake_tensor.py``).
    no_decomposition: the mode decomposes it in no way: it has a Python meta function (``torch._decomp.meta_table``), or
        its C++ kernel at Meta takes symbolic sizes (``cpp_meta_supports_symint``).
    prim_meta: the function of a primitive that computes its result (``prim_meta_impl``).
    implementation: the mode's own function for it (``register_op_impl`` in ``fake_impls.py``). raises: the exception
        that this function raises in a mode without a ShapeEnv.
    """

    decomposition: str | None = None
    no_decomposition: bool = False
    prim_meta: str | None = None
    implementation: str | None = None
    raises: str | None = None


NO_FAKE_RULES = FakeRules()


class DeclaredFakeRules(NamedTuple):
    """The same, as a file says it of an operator."""

    operator: OperatorName
    rules: FakeRules
