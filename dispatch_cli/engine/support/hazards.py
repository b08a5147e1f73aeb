"""Facts of a schema that decide the outcome of a compiled call: writes and aliases that it declares, or leaves out.

Sources: ``can_auto_functionalize`` in torch/_higher_order_ops/auto_functionalize.py, ``FunctionalTensorMode`` in
torch/_subclasses/functional_tensor.py, ``FunctionalizeFallbackKernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from dispatch_cli.engine.call.schema_facts import BUILTIN, RETURNED, has_aliases
from dispatch_cli.engine.support.cell import Reason
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.kernel import WrapKind
from dispatch_cli.model.schema.model import FunctionSchema, has_tensors, is_mutable, writes
from dispatch_cli.model.schema.types import TypeKind
from dispatch_cli.model.universe import EXPLICIT, FUNCTIONALIZE, IMPLICIT, META, NON_FUNCTIONAL, Universe

TAGS_COUNT_FROM = (2, 13)
"""The first PyTorch whose functionalization takes an operator that returns what it writes to, by its tag."""
KEEPS_FROM = (2, 10)
"""The first PyTorch whose functionalization keeps an operator with a composite and a backend kernel whole."""
FLOAT_FROM = (2, 13)
"""A PyTorch whose torch.compile takes a float as result, which 2.4 does not."""
_UNTRACED = ("str", "Device")
_NUMBERS = ("float", "SymInt", "SymBool", "SymFloat", "Scalar", "ScalarType", "Layout", "MemoryFormat")
TRACED = frozenset({META, EXPLICIT, NON_FUNCTIONAL})
"""Keys with whose kernels a call is traced as it is, and not taken apart."""


def writes_in_silence(schema: FunctionSchema) -> bool:
    """True if the operator takes tensors, returns nothing and declares no write: a call of it seems to do nothing."""
    return not schema.returns and not schema.is_varret and has_tensors(schema) and not has_aliases(schema)


def drops_call(universe: Universe, schema: FunctionSchema, keys: Collection[str]) -> bool:
    """True if torch.compile drops every call of the operator, without an error.

    keys: where it has kernels; a fake implementation is one at Meta. Without any for tracing, the call is a graph
    break instead. One that a composite kernel takes apart before is not dropped itself. Operators that are registered
    as having side effects are not known here.
    """
    if not writes_in_silence(schema) or schema.name.namespace in BUILTIN:
        return False
    return not TRACED.isdisjoint(keys) or (IMPLICIT in keys and not decomposes(universe, schema, keys))


def traced_without_data(active: Mapping[str, Registration]) -> bool:
    """True if an operator is traced by a kernel that cannot read data: a fake one, at Meta or in Python.

    A composite kernel in C++ may read data, so that tracing it fails. active: registrations by their keys.
    """
    return META in active or any(active[key].kernel.python for key in (*TRACED, IMPLICIT) if key in active)


def decomposes(universe: Universe, schema: FunctionSchema, keys: Collection[str]) -> bool:
    """True if functionalization takes the operator apart by its kernel at CompositeImplicitAutograd.

    It does for every operator with aliases, and for others where autograd would: without a backend kernel. Before
    PyTorch 2.10 it does for all.
    """
    if IMPLICIT not in keys:
        return False
    if universe.release < KEEPS_FROM:
        return True
    return has_aliases(schema) or not any(key in universe.backends or key in TRACED for key in keys if key != META)


def mutable_result(schema: FunctionSchema) -> bool:
    """True if the operator returns what it writes to, as ``f_(Tensor(a!) x) -> Tensor(a!)``."""
    return any(map(writes, schema.returns))


def takes_tags(universe: Universe) -> bool:
    """True if this PyTorch functionalizes an operator with a mutable result that has ``Tag.inplace`` or ``Tag.out``."""
    return universe.release >= TAGS_COUNT_FROM


def not_functionalized(
    universe: Universe, schema: FunctionSchema, tags: Collection[str], keys: Collection[str]
) -> Reason | None:
    """The reason for which torch.compile refuses an operator by its schema; None where it does not.

    keys: where it has kernels.
    """
    if not has_aliases(schema) or FUNCTIONALIZE in keys or decomposes(universe, schema, keys):
        return None
    if schema.name.namespace not in BUILTIN and is_mutable(schema):
        if takes_tags(universe) and not RETURNED.isdisjoint(tags):
            return None
        if all(result.alias is None and result.type.kind is TypeKind.TENSOR for result in schema.returns):
            return None
    if mutable_result(schema):
        return Reason.MUTABLE_RESULT
    return Reason.ALIASED_RESULT if any(result.alias is not None for result in schema.returns) else Reason.CALL


def is_triton_op(kernels: Mapping[str, Sequence[Registration]]) -> bool:
    """True if ``torch.library.triton_op`` made the operator.

    A capture does not tell it from an operator of ``custom_op``, but that its function is its fake one, too, at first.
    """
    fakes = {at.kernel.fake.function for at in kernels.get(META, ()) if at.kernel.fake is not None}
    wrapped = [at.kernel.wraps for at in kernels.get(EXPLICIT, ()) if at.kernel.wraps is not None]
    return any(of.kind is WrapKind.TRITON or (of.kind is WrapKind.KERNEL and of.function in fakes) for of in wrapped)


def returns_untraced(universe: Universe, schema: FunctionSchema) -> bool | None:
    """True if torch.compile refuses what the operator returns ("torch.* op returned non-Tensor").

    None where the value decides. Source: ``handle_traced_output`` in torch/_dynamo/variables/builder.py.
    """
    kinds = [result.real_type.text for result in schema.returns]
    if any(kind in _UNTRACED for kind in kinds):
        return True
    kind = kinds[0] if len(kinds) == 1 else None
    if kind == "float" and universe.release >= FLOAT_FROM:
        return False
    return kind in ("int", "bool") or (None if kind in _NUMBERS else False)
