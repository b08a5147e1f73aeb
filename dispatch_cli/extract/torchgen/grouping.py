"""Groups of functions that are forms of one another, and the functions that torchgen adds.

Source: ``torchgen/native_function_generation.py`` and ``get_grouped_by_view_native_functions`` in ``torchgen/gen.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from string import ascii_lowercase
from typing import NamedTuple

from dispatch_cli.extract.torchgen import function_keys as keys
from dispatch_cli.extract.torchgen.native_function import NativeFunction, NativeKernel
from dispatch_cli.extract.torchgen.schema import NativeSchema, SchemaKind, annotation, made_schema, without_annotations
from dispatch_cli.model.schema.model import AliasInfo, takes_tensors
from dispatch_cli.model.schema.types import TypeKind

Forms = dict[SchemaKind, NativeFunction]
_KEPT_TAGS = frozenset({"nondeterministic_seeded", "view_copy"})
_INPLACE_ALONE = frozenset({"polygamma_"})
"""``INPLACE_OPS_THAT_DONT_GET_GROUPED_PROPERLY``."""


def functional_form(schema: NativeSchema) -> NativeSchema:
    """The functional form of a schema (``generate_function``)."""
    name = schema.name._replace(inplace=False, functional=schema.kind is SchemaKind.MUTABLE)
    written = [replace(argument, name=f"{argument.name}_out", default=None) for argument in schema.written()]
    arguments = without_annotations((*schema.positional, *schema.without_options()))
    return made_schema(schema, name, schema.overload, arguments, without_annotations((*schema.returns, *written)))


def out_form(schema: NativeSchema) -> NativeSchema:
    """The form of a schema that writes to arguments ``out`` (``generate_function``)."""
    overload = f"{schema.overload}_out" if schema.overload else "out"
    name = schema.name._replace(inplace=False, functional=False)
    out, returns = [], []
    if schema.kind is SchemaKind.INPLACE:
        own = schema.positional[schema.self_index]
        positional = [replace(it, alias=None) if it is own else it for it in schema.positional]
        out = [replace(own, name="out", default=None, kwarg_only=True)]
        return made_schema(schema, name, overload, (*positional, *schema.keyword, *out), schema.returns)
    annotations = [alias for argument in schema.schema.arguments if (alias := annotation(argument)) is not None]
    used = {letter for alias in annotations for letter in alias.before}
    letters = [letter for letter in ascii_lowercase if letter not in used] or [*ascii_lowercase]
    tensors = all(str(result.real_type) == "Tensor" for result in schema.returns)
    for index, result in enumerate(schema.returns):
        letter = letters[index % len(letters)]
        if takes_tensors(result):
            argument_name = "out" if len(schema.returns) == 1 else f"out{index}"
            alias = AliasInfo((letter,), (letter,), True)
            if result.real_type.kind is TypeKind.LIST:
                alias = AliasInfo(write=True, contained=(alias,))
            out.append(replace(result, name=argument_name, alias=alias, kwarg_only=True))
            if tensors:
                returns.append(replace(result, name="", alias=alias))
        else:
            returns.append(result)
    given = (*schema.positional, *schema.keyword)
    if schema.kind is not SchemaKind.MUTABLE:
        given = (*without_annotations(schema.positional), *without_annotations(schema.without_options()))
    return made_schema(schema, name, overload, (*given, *out), returns)


class ViewGroup(NamedTuple):
    """A view with its in-place form and its copy."""

    view: NativeFunction
    inplace: NativeFunction | None
    copy: NativeFunction | None


def group(functions: Iterable[NativeFunction]) -> list[Forms]:
    """The functions by what they compute."""
    groups: dict[str, Forms] = {}
    for function in functions:
        forms = groups.setdefault(f"{function.namespace}::{function.schema.signature}", {})
        forms.setdefault(function.schema.kind, function)
    return list(groups.values())


def add_generated(groups: Iterable[Forms], of_core: bool) -> list[NativeFunction]:
    """The functions that torchgen adds (``add_generated_native_functions``); the groups have them afterwards.

    of_core: it adds some for composite functions with the tag ``core``, too.
    """
    added = []
    for forms in groups:
        base = _base(forms, of_core)
        if base is None:
            continue
        can_have_out = base.schema.kind is SchemaKind.INPLACE or any(map(takes_tensors, base.schema.returns))
        if SchemaKind.OUT not in forms and can_have_out and "out" in base.autogen:
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
    if any(function.is_view and function.schema.full_base != "set_" for function in functions):
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


def _generated(base: NativeFunction, kind: SchemaKind) -> NativeFunction:
    schema = out_form(base.schema) if kind is SchemaKind.OUT else functional_form(base.schema)
    kernel = f"{schema.full_base}_{schema.overload}" if kind is SchemaKind.OUT else schema.cpp_name
    if any(str(argument.real_type).startswith("SymInt") for argument in base.schema.schema.arguments):
        kernel += "_symint"
    return NativeFunction(
        schema=schema,
        at=base.autogen_at,
        generated=True,
        abstract=base.abstract,
        tags=("generated", *(tag for tag in base.tags if tag in _KEPT_TAGS)),
        dispatch={keys.EXPLICIT: NativeKernel(kernel, base.autogen_at)},
    )


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
