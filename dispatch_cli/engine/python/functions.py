"""Python functions that cannot take what PyTorch passes them, or do not do what the schema says.

PyTorch takes every function when it is registered, and fails when it calls it. It passes arguments as the schema has
them: keyword-only ones by name, the others by position, and leaves out those at the end, and keyword-only ones, that
have their default value. Sources: torch/_library/autograd.py, torch/_functorch/autograd_function.py
(``custom_function_call_vmap``), ``parseIValuesToPyArgsKwargs`` in torch/csrc/autograd/python_variable.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.model.kernel import Kernel, WrapKind
from dispatch_cli.model.schema.model import (
    Argument,
    FunctionSchema,
    has_tensors,
    is_mutable,
    is_tensor,
    is_tensor_list,
    takes_tensors,
    writes,
)
from dispatch_cli.model.schema.types import TypeKind
from dispatch_cli.model.sources.function_body import ArgumentUse, FunctionBody
from dispatch_cli.model.universe import EXPLICIT, META, NON_FUNCTIONAL, Universe

_OF_ELEMENT = re.compile(r"torch\._foreach_|\w+(?:\[-?\d+\])?\.\w+_\(")
"""A write to tensors in a list, not to the list."""
_MAY_BE_NONE = (TypeKind.OPTIONAL, TypeKind.NONE, TypeKind.OTHER)
"""Types of results that None may be."""
_OF_VMAP = 2
"""Arguments that a batching rule gets before those of the operator: ``info`` and ``in_dims``."""


class FunctionMismatch(NamedTuple):
    """A call of a function that fails.

    function: its name. why: a sentence's end, after its name. always: every call fails, not only one with, or without,
    arguments that have defaults. by_default: at least one without them does. of_results: it is about what the function
    returns, not about what it takes. of_defaults: it lacks defaults that the schema has.
    """

    function: str
    why: str
    always: bool
    by_default: bool = False
    of_results: bool = False
    of_defaults: bool = False


def mismatches(kernel: Kernel, schema: FunctionSchema) -> Iterator[FunctionMismatch]:
    """The failing calls of the functions that a kernel is made of."""
    name, wraps = kernel.shown_function, kernel.wraps
    if wraps is not None and wraps.kind is WrapKind.AUTOGRAD:
        if kernel.setup_body is not None:
            yield from _of_setup(wraps.setup_context or "setup_context", kernel.setup_body, schema)
        if kernel.body is not None:
            yield from _of_backward(name, kernel.body, schema)
    elif kernel.body is not None:
        is_rule = wraps is not None and wraps.kind is WrapKind.VMAP
        yield from _of_function(name, kernel.body, schema, _OF_VMAP if is_rule else 0)
        if not is_rule:
            yield from _of_results(name, kernel.body, schema)


def _of_function(name: str, body: FunctionBody, schema: FunctionSchema, before: int) -> Iterator[FunctionMismatch]:
    """Calls with all arguments, and with those alone that have no default; all calls where both fail."""
    if schema.is_vararg:
        return
    positional = [argument for argument in schema.arguments if not argument.kwarg_only]
    needed = sum(argument.default is None for argument in positional)
    every = [argument.name for argument in schema.arguments if argument.kwarg_only]
    required = [argument.name for argument in schema.arguments if argument.kwarg_only and argument.default is None]
    fewest = body.refusal(before + needed, *required)
    whole = body.refusal(before + len(positional), *every)
    words = whole or fewest
    if words is None:
        return
    if whole is None:
        why = f"needs arguments that PyTorch leaves out where they equal the schema's defaults: {words}"
        yield FunctionMismatch(name, why, always=False, by_default=True, of_defaults=True)
        return
    taken = [keyword for keyword in every if keyword in required or keyword in body.signature.parameters]
    always = fewest is not None and all(
        body.refusal(before + count, *keywords) is not None
        for count in range(needed, len(positional) + 1)
        for keywords in (required, taken)
    )
    given = "info, in_dims and the arguments" if before else "the arguments"
    where = "" if fewest is not None else " where these have other values than their defaults"
    yield FunctionMismatch(name, f"does not take {given} of the schema{where}: {words}", always, fewest is not None)


def _of_results(name: str, body: FunctionBody, schema: FunctionSchema) -> Iterator[FunctionMismatch]:
    """Results of another number than the schema has. Of several, PyTorch hands on as many as there are."""
    if body.values is None or schema.is_varret:
        return
    (count, _), wanted = body.values, len(schema.returns)
    kind = schema.returns[0].type.kind if wanted == 1 else None
    if count == wanted or (count and kind is TypeKind.LIST):
        return
    if not count and (kind in _MAY_BE_NONE or schema.returns[0].alias is not None):
        return  # an alias is what C++ has passed, be it returned or not
    what = f"{count} value{'s' * (count != 1)}" if count else "nothing"
    why = f"returns {what} where the schema has {wanted} result{'s' * (wanted != 1)}"
    yield FunctionMismatch(name, why, always=wanted < 2 or not count, by_default=True, of_results=True)


def _of_setup(name: str, body: FunctionBody, schema: FunctionSchema) -> Iterator[FunctionMismatch]:
    keyword_only = ["keyword_only_inputs"] if any(argument.kwarg_only for argument in schema.arguments) else []
    keywords = ["ctx", "inputs", *keyword_only, "output"]
    if (words := body.refusal(0, *keywords)) is not None:
        yield FunctionMismatch(name, f"does not take the keyword arguments {', '.join(keywords)}: {words}", True)


def _of_backward(name: str, body: FunctionBody, schema: FunctionSchema) -> Iterator[FunctionMismatch]:
    results = len(schema.returns)
    if (words := body.refusal(1 + results)) is not None:
        yield FunctionMismatch(name, f"does not take ctx and a gradient for each of {results} results: {words}", True)
    inputs = [argument for argument in schema.arguments if not argument.kwarg_only]
    needed = sum(argument.default is None for argument in inputs)
    if body.values in (None, (0, 0)) or not has_tensors(schema):
        return
    fewest, most = body.values
    if fewest == 1 and any(is_tensor_list(result.type) for result in schema.returns):
        return  # a gradient that it returns as it is can be a list
    if fewest < len(inputs) or most > len(inputs):
        count = fewest if fewest < len(inputs) else most
        why = f"returns {count} gradient{'s' * (count != 1)} where the operator has {len(inputs)} positional arguments"
        yield FunctionMismatch(name, why, fewest < needed or most > len(inputs), of_results=True)


def computes(universe: Universe, key: str) -> bool:
    """True if a kernel at a key computes results for a schema, and no operators below it are recorded."""
    return (key in universe.backends and key != META) or key in (EXPLICIT, NON_FUNCTIONAL)


def undeclared_writes(kernel: Kernel, schema: FunctionSchema) -> Iterator[ArgumentUse]:
    """The writes of a kernel's function to tensors that the schema does not say to be written to."""
    for use in kernel.body.writes if kernel.body is not None else ():
        argument = _argument(kernel.body, use.argument, schema)
        if argument is None or writes(argument):
            continue
        if is_tensor(argument.type) or (is_tensor_list(argument.type) and _OF_ELEMENT.match(use.text)):
            yield use


def checks_aliases(kernel: Kernel) -> bool:
    """True if ``torch.library.custom_op`` made it of a function, whose results PyTorch compares with the arguments."""
    return kernel.wraps is not None and kernel.wraps.kind in (WrapKind.KERNEL, WrapKind.TRITON)


def returned_arguments(kernel: Kernel, schema: FunctionSchema) -> Iterator[ArgumentUse]:
    """The results of a kernel's function that share storage with tensors, or with each other, and must not.

    Where the schema of a custom operator has aliases, these are the arguments themselves: a view is another tensor.
    """
    aliased = any(result.alias is not None for result in schema.returns)
    if not schema.returns or (aliased and (is_mutable(schema) or not checks_aliases(kernel))):
        return
    for use in kernel.body.returns if kernel.body is not None else ():
        argument = _argument(kernel.body, use.argument, schema)
        shared = [argument] if argument is not None else schema.returns if checks_aliases(kernel) else ()
        tensors = bool(shared) and all(map(takes_tensors, shared))
        if tensors and (not aliased or use.text == use.argument):
            yield use


def _argument(body: FunctionBody | None, parameter: str, schema: FunctionSchema) -> Argument | None:
    """The argument of the schema that a parameter gets: a keyword-only one by its name, others by their position."""
    keyword_only = next(
        (argument for argument in schema.arguments if argument.kwarg_only and argument.name == parameter), None
    )
    names = [] if body is None or keyword_only is not None else [text.rstrip("=") for text in body.parameters]
    positional = [argument for argument in schema.arguments if not argument.kwarg_only]
    place = [name for name in names if name != "/"].index(parameter) if parameter in names else len(positional)
    return positional[place] if place < len(positional) else keyword_only
