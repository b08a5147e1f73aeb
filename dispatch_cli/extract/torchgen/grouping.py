"""Groups of functions that are forms of one another, and the functions that torchgen adds.

Source: ``torchgen/native_function_generation.py`` and ``get_grouped_by_view_native_functions`` in ``torchgen/gen.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.native_function import NativeFunction, NativeKernel
from dispatch_cli.extract.torchgen.schema import NativeArgument, NativeName, NativeSchema, SchemaKind

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
Forms = dict[SchemaKind, NativeFunction]
_KEPT_TAGS = frozenset({"nondeterministic_seeded", "view_copy"})
_INPLACE_ALONE = frozenset({"polygamma_"})
"""``INPLACE_OPS_THAT_DONT_GET_GROUPED_PROPERLY``."""


def functional_form(schema: NativeSchema) -> NativeSchema:
    """The functional form of a schema (``generate_function``)."""
    name = schema.name._replace(inplace=False, functional=schema.kind is SchemaKind.MUTABLE)
    returns = [result._replace(alias=None) for result in schema.returns]
    returns += [NativeArgument(argument.type, f"{argument.name}_out", None, None) for argument in schema.written()]
    return NativeSchema(name, _bare(schema.positional), _bare(schema.without_options()), (), returns)


def out_form(schema: NativeSchema) -> NativeSchema:
    """The form of a schema that writes to arguments ``out`` (``generate_function``)."""
    overload = f"{schema.name.overload}_out" if schema.name.overload else "out"
    name = NativeName(schema.name.base, dunder=schema.name.dunder, overload=overload)
    if schema.kind is SchemaKind.INPLACE:
        own = schema.positional[schema.self_index]
        positional = [argument._replace(alias=None) if argument is own else argument for argument in schema.positional]
        out = [NativeArgument(own.type, "out", None, own.alias)]
        return NativeSchema(name, positional, schema.keyword, out, schema.returns)
    used = "".join(argument.alias.partition(" ")[0] for argument in schema.arguments if argument.alias is not None)
    letters = [letter for letter in _LETTERS if letter not in used] or [*_LETTERS]
    tensors = all(result.type == "Tensor" for result in schema.returns)
    out, returns = [], []
    for index, result in enumerate(schema.returns):
        letter = letters[index % len(letters)]
        if result.is_tensor:
            argument_name = "out" if len(schema.returns) == 1 else f"out{index}"
            out.append(NativeArgument(result.type, argument_name, None, f"{letter}!"))
            if tensors:
                returns.append(NativeArgument(result.type, None, None, f"{letter}!"))
        else:
            returns.append(result)
    if schema.kind is SchemaKind.MUTABLE:
        return NativeSchema(name, schema.positional, schema.keyword, out, returns)
    return NativeSchema(name, _bare(schema.positional), _bare(schema.without_options()), out, returns)


def _bare(arguments: Iterable[NativeArgument]) -> list[NativeArgument]:
    return [argument if argument.alias is None else argument._replace(alias=None) for argument in arguments]


class ViewGroup(NamedTuple):
    """A view with its in-place form and its copy."""

    view: NativeFunction
    inplace: NativeFunction | None
    copy: NativeFunction | None


def group(functions: Iterable[NativeFunction]) -> tuple[list[Forms], list[NativeFunction]]:
    """The functions by what they compute, and those that are left over: a second one of the same form."""
    groups: dict[str, Forms] = {}
    twice = []
    for function in functions:
        forms = groups.setdefault(f"{function.namespace}::{function.schema.signature}", {})
        if function.schema.kind in forms:
            twice.append(function)
        else:
            forms[function.schema.kind] = function
    return list(groups.values()), twice


def add_generated(groups: Iterable[Forms], of_core: bool) -> list[NativeFunction]:
    """The functions that torchgen adds (``add_generated_native_functions``); the groups have them afterwards.

    of_core: it adds some for composite functions with the tag ``core``, too.
    """
    added = []
    for forms in groups:
        base = _base(forms, of_core)
        if base is None:
            continue
        has_out = SchemaKind.OUT in forms
        if not has_out and _can_have_out(base) and any("out" in name for name in base.autogen):
            forms[SchemaKind.OUT] = _generated(base, SchemaKind.OUT)
            added.append(forms[SchemaKind.OUT])
        if SchemaKind.FUNCTIONAL not in forms and SchemaKind.OUT in forms:
            forms[SchemaKind.FUNCTIONAL] = _generated(base, SchemaKind.FUNCTIONAL)
            added.append(forms[SchemaKind.FUNCTIONAL])
    return added


def _base(forms: Forms, of_core: bool) -> NativeFunction | None:
    """The function that others are made of; None where none are."""
    functions = forms.values()
    if all(function.manual_binding for function in functions):
        return None
    if any(function.is_view and function.schema.name.full_base != "set_" for function in functions):
        return None
    if all(function.implicit for function in functions) and not (
        of_core and any("core" in function.tags for function in functions)
    ):
        return None
    if SchemaKind.OUT in forms and len(forms) == 1:
        return None
    inplace = forms.get(SchemaKind.INPLACE)
    if inplace is not None and inplace.name in _INPLACE_ALONE:
        return None
    for kind in (SchemaKind.MUTABLE, SchemaKind.INPLACE, SchemaKind.OUT, SchemaKind.FUNCTIONAL):
        if kind in forms:
            return forms[kind]
    return None


def _can_have_out(function: NativeFunction) -> bool:
    schema = function.schema
    return schema.kind is SchemaKind.INPLACE or any(result.is_tensor for result in schema.returns)


def _generated(base: NativeFunction, kind: SchemaKind) -> NativeFunction:
    schema = out_form(base.schema) if kind is SchemaKind.OUT else functional_form(base.schema)
    function = NativeFunction(base.namespace, schema, base.autogen_at)
    kernel = function.name.replace(".", "_") if kind is SchemaKind.OUT else schema.cpp_name
    if any(argument.type.startswith("SymInt") for argument in (*base.schema.positional, *base.schema.keyword)):
        kernel += "_symint"
    function.dispatch[keys.EXPLICIT] = NativeKernel(kernel, base.autogen_at)
    function.generated = True
    function.abstract = base.abstract
    function.tags = ("generated", *(tag for tag in base.tags if tag in _KEPT_TAGS))
    return function


def is_complete(forms: Forms) -> bool:
    """True if the forms are one of torchgen's groups (``NativeFunctionsGroup``): otherwise each stands for itself."""
    return SchemaKind.FUNCTIONAL in forms and SchemaKind.OUT in forms


def view_groups(functions: Sequence[NativeFunction]) -> list[ViewGroup]:
    """The views, each with its in-place form and its copy."""
    views: dict[str, NativeFunction] = {}
    inplace: dict[str, NativeFunction] = {}
    for function in functions:
        if function.is_view:
            of = inplace if function.schema.name.inplace else views
            of.setdefault(function.schema.view_signature, function)
    copies: dict[str, NativeFunction] = {}
    for function in functions:
        if not function.is_view and function.schema.kind is SchemaKind.FUNCTIONAL:
            signature = function.schema.view_signature
            if signature in views:
                copies.setdefault(signature, function)
    return [ViewGroup(view, inplace.get(name), copies.get(name)) for name, view in views.items()]
