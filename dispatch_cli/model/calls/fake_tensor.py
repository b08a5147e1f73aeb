"""Facts about an operator that ``FakeTensorMode`` asks for, beside its kernels and its fake implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.model.universe import Universe

CONSTRUCTORS = "torch._subclasses.fake_impls.constructors"
"""The mode's own function for factories: it calls the operator with the device ``meta``."""
FBGEMM = "fbgemm::gmm"
"""An operator whose own kernel may run on zeros, beside those of some namespaces."""


class FakeRules(NamedTuple):
    """Registrations in PyTorch's Python code for one operator.

    decomposition: the function that decomposes it, where that runs for sizes that are numbers
        (``torch._decomp.decomposition_table``, and ``torch_decomp_decompositions`` in ``fake_tensor.py``).
    no_decomposition: the mode decomposes it in no way: it has a Python meta function (``torch._decomp.meta_table``), or
        its C++ kernel at Meta takes symbolic sizes (``cpp_meta_supports_symint``).
    prim_meta: the function of a primitive that computes its result (``prim_meta_impl``).
    implementation: the mode's own function for it (``register_op_impl`` in ``fake_impls.py``). raises: the exception
        that this function raises in a mode without a ShapeEnv.
    meta_refuses: the arguments for which the Python meta function raises NotImplementedError when they are given.
    mixes: the device type whose tensors may be in a call beside tensors of another device, as ``cpu``; None where all
        tensors have to be on one device. zero_dim_counts: that holds of CPU tensors without dimensions, too, which may
        otherwise be beside all others (``FakeTensor._find_common_device``).
    side_effects: calls are kept when their results are not used (``torch.fx.node.has_side_effect``, and effects that
        ``torch.library`` registers).
    """

    decomposition: str | None = None
    no_decomposition: bool = False
    prim_meta: str | None = None
    implementation: str | None = None
    raises: str | None = None
    mixes: str | None = None
    zero_dim_counts: bool = False
    meta_refuses: tuple[str, ...] = ()
    side_effects: bool = False


NO_FAKE_RULES = FakeRules()


class DeclaredFakeRules(NamedTuple):
    """The rules for one operator as a file declares them."""

    operator: OperatorName
    rules: FakeRules


def runs_on_zeros(universe: Universe, name: OperatorName) -> bool:
    """True if the mode may run the operator's real kernel on zeros (``can_run_unsafe_fallback``)."""
    return name.namespace in universe.fake_fallbacks or str(name) == FBGEMM
