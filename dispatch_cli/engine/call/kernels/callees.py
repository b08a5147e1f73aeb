"""Operators that PyTorch's own composite kernels call.

Of a kernel that torchgen writes, the operator and its forms tell which:
- for CompositeExplicitAutogradNonFunctional, the functional and the in-place form of a structured operator compute the
  shape, and call the ``out=`` form (``StructuredRegisterDispatchKey.gen_one`` in
  ``torchgen/dest/register_dispatch_key.py``). The forms have the same arguments (``FunctionSchema.signature``).
- The copy of a view calls the view (``torchgen/gen_functionalization_type.py``).
- The forms that torchgen adds call the one that they are made of (``gen_composite_functional_kernel`` and
  ``gen_composite_out_kernel`` in ``torchgen/native_function_generation.py``).

Names tell it of others: those of lists of tensors (``ForeachOpsKernels.cpp``) call the operator for each tensor, and
those that take a number for a tensor make a tensor of it (``wrapped_scalar_tensor``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from dispatch_cli.engine.call.kernels.own_kernels import CALLS, ITERATES, WRAPS, Does, does, of_operators, place_of
from dispatch_cli.engine.call.schema_facts import arguments_of, most_tensors
from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.calls.call import Layout
from dispatch_cli.model.calls.options import Options
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema, writes
from dispatch_cli.model.universe import META, NON_FUNCTIONAL

_COMPOSITE = re.compile(r"\bRegisterCompositeExplicitAutograd(?:NonFunctional)?(?:_[0-9]+)?\.cpp:[0-9]+$")
GENERATED, VIEW_COPY = "generated", "view_copy"
"""Tags: the operator is not in ``native_functions.yaml``; it copies the view that another one makes."""
_OUT = "out"
_COPY = "_copy"
_FOREACH = "_foreach_"
_OF_EACH = {
    "": ("",),
    "List": ("Tensor", "Tensor_Tensor"),
    "Scalar": ("Tensor_Scalar", "Scalar", ""),
    "ScalarList": ("Tensor_Scalar", "Scalar", ""),
    "ScalarAndTensor": ("Scalar",),
}
"""The overload of an operator of lists, and those that the operator of one tensor may have for it."""
_ONE_OF = {"maximum": "clamp_min", "minimum": "clamp_max"}
"""The operators of lists whose kernels call an operator of another name for each tensor."""
_EXPLICIT = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
"""The alias keys at which a kernel may call other operators, below autograd."""
_IN_CPP = re.compile(r"\.(?:cpp|h|cc|cu):[0-9]+$")
_STRUCTURED = Does(WRAPS)
_NOT_STRIDED = frozenset(Layout) - {Layout.STRIDED}


def called_by(dispatcher: Dispatcher, name: OperatorName, tags: tuple[str, ...], debug: str) -> OperatorName | None:
    """The operator that such a kernel calls; None for another kernel. debug: the kernel's text."""
    if _COMPOSITE.search(debug) is None:
        return None
    if (rows := of_operators(CALLS).get(str(name))) is not None:
        return OperatorName.parse(rows[0].does.text)
    if (callee := always_called_by(dispatcher, name, tags, debug)) is not None:
        return callee
    callee = next((callee for callee in _by_name(name) if callee in dispatcher), None)
    if callee is not None and _takes_number(name) and not _more(dispatcher, callee, name):
        return None
    return callee


def always_called_by(
    dispatcher: Dispatcher, name: OperatorName, tags: tuple[str, ...], debug: str
) -> OperatorName | None:
    """The operator that a kernel which torchgen writes calls, whatever it is given; None for another kernel."""
    if _COMPOSITE.search(debug) is None:
        return None
    callee = next((callee for callee in _generated_from(name, tags) if callee in dispatcher), None)
    return callee or _out_form(dispatcher, name, tags, debug)


def refused_layout(callee: OperatorName, values: Iterable[Value]) -> Layout | None:
    """The layout that a structured operator refuses before its ``out=`` form is called; None where it takes all.

    Its shape is computed by a TensorIterator, whose tensors are strided (``OperandInfo::validate``).
    """
    if str(callee) not in of_operators(ITERATES):
        return None
    layouts = (value.spec.layout for value in values if value.spec is not None and not value.is_absent)
    return next((layout for layout in layouts if layout in _NOT_STRIDED), None)


def _out_form(dispatcher: Dispatcher, name: OperatorName, tags: tuple[str, ...], debug: str) -> OperatorName | None:
    """The ``out=`` form of a structured operator, of which the kernel is another form's."""
    if VIEW_COPY in tags or does(place_of(debug, NON_FUNCTIONAL, str(name))) != _STRUCTURED:
        return None
    schema = dispatcher.operator(name).schema
    if schema is None or any(argument.kwarg_only for argument in schema.arguments if writes(argument)):
        return None
    base, taken = name.name.removesuffix("_"), _signature(schema)
    likely = (OperatorName(base, _OUT), OperatorName(base, f"{name.overload}_{_OUT}"))
    others = (other for other in dispatcher if other.name == base)
    for other in chain((other for other in likely if other in dispatcher), others):
        operator = dispatcher.operator(other)
        if other != name and GENERATED not in operator.tags and operator.schema is not None:
            by_keyword = any(argument.kwarg_only for argument in operator.schema.arguments if writes(argument))
            if by_keyword and _signature(operator.schema) == taken:
                return other
    return None


def _signature(schema: FunctionSchema) -> tuple[tuple[str, str, bool], ...]:
    """The arguments that all forms of an operator have."""
    return tuple(
        (argument.name, argument.real_type.text, argument.kwarg_only)
        for argument in schema.arguments
        if not (argument.kwarg_only and writes(argument))
    )


def calls_more(name: OperatorName, tags: tuple[str, ...]) -> bool:
    """True if the kernel does more after that call: one for ``out`` may resize that, and copies the result."""
    return str(name) in of_operators(CALLS) or _writes_out(name, tags)


def _writes_out(name: OperatorName, tags: tuple[str, ...]) -> bool:
    return GENERATED in tags and (name.overload == _OUT or name.overload.endswith(f"_{_OUT}"))


def calls_hidden(slot: str, entry: TableEntry) -> bool:
    """True if a kernel in C++ may call operators that are not known, and that may have no kernel for the slot.

    At the slot Meta that is taken to make no difference: nearly every operator has a kernel there.
    """
    registration, kernel = entry.registration, entry.kernel
    if slot == META or registration is None or kernel is None or kernel.redispatches is not None:
        return False
    return registration.key in _EXPLICIT and _IN_CPP.search(kernel.debug) is not None


def _takes_number(name: OperatorName) -> bool:
    return "scalar" in name.overload.lower() and _FOREACH not in name.name


def _more(dispatcher: Dispatcher, called: OperatorName, name: OperatorName) -> bool:
    """True if an operator takes more tensors than another one."""
    counts = []
    for operator in (called, name):
        definition = dispatcher.operator(operator).definition
        counts.append(None if definition is None else most_tensors(definition.schema))
    return counts[0] is not None and counts[1] is not None and counts[0] > counts[1]


def _generated_from(name: OperatorName, tags: tuple[str, ...]) -> Iterator[OperatorName]:
    """The operators that the kernel of a copy of a view, or of a form that torchgen adds, may be made of."""
    overload = name.overload
    if VIEW_COPY in tags and name.name.endswith(_COPY) and not overload.endswith(_OUT):
        yield name._replace(name=name.name.removesuffix(_COPY))
    if GENERATED not in tags:
        return
    if _writes_out(name, tags):
        inner = overload.removesuffix(_OUT).removesuffix("_")
        yield name._replace(overload=inner)
        yield name._replace(name=f"{name.name}_", overload=inner)
    else:
        yield name._replace(name=f"{name.name}_")


def _by_name(name: OperatorName) -> Iterator[OperatorName]:
    """The operators that the kernel of an operator of lists, or of one that takes a number, may call."""
    overload = name.overload
    namespace, _, short = name.name.partition("::")
    if short.startswith(_FOREACH):
        each = short.removeprefix(_FOREACH)
        of_each = f"{namespace}::{_ONE_OF.get(each, each)}"
        yield from (name._replace(name=of_each, overload=other) for other in _OF_EACH.get(overload, ()))
    elif _takes_number(name):
        out = _OUT if overload.endswith(_OUT) else ""
        yield from (
            other
            for other in (name._replace(overload=f"Tensor_{out}" if out else "Tensor"), name._replace(overload=out))
            if other != name
        )


def without_results(schema: FunctionSchema | None, values: tuple[Value, ...]) -> tuple[Value, ...]:
    """The tensors of a call without those that are there to be written to by name, and without what is no tensor."""
    arguments = arguments_of(schema, len(values))
    return tuple(
        value
        for argument, value in zip(arguments, values, strict=True)
        if not value.is_absent and (argument is None or not (argument.kwarg_only and writes(argument)))
    )


def like_result(schema: FunctionSchema | None, values: tuple[Value, ...], options: Options) -> Options:
    """The options that a generated kernel passes to a factory: those of the tensor that it writes to."""
    arguments = arguments_of(schema, len(values))
    for argument, value in zip(arguments, values, strict=True):
        if argument is not None and argument.kwarg_only and writes(argument) and value.spec is not None:
            return options._replace(device=value.spec.device, layout=value.spec.layout.value)
    return options
