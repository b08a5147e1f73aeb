"""The forms of a function that torchgen makes of another one. Source: ``torchgen/native_function_generation.py``."""

from __future__ import annotations

from collections.abc import Iterable

from dispatch_cli.extract.torchgen.native_name import NativeName
from dispatch_cli.extract.torchgen.schema import NativeArgument, NativeSchema, SchemaKind

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def functional_form(schema: NativeSchema) -> NativeSchema:
    """The functional form of a schema (``generate_function``)."""
    name = schema.name._replace(inplace=False, functional=schema.kind is SchemaKind.MUTABLE)
    returns = [one._replace(alias=None) for one in schema.returns]
    returns += [NativeArgument(one.type, f"{one.name}_out", None, None) for one in schema.written()]
    return NativeSchema(name, _bare(schema.positional), _bare(schema.without_options()), (), returns)


def out_form(schema: NativeSchema) -> NativeSchema:
    """The form of a schema that writes to arguments ``out`` (``generate_function``)."""
    overload = f"{schema.name.overload}_out" if schema.name.overload else "out"
    name = NativeName(schema.name.base, dunder=schema.name.dunder, overload=overload)
    if schema.kind is SchemaKind.INPLACE:
        own = schema.positional[schema.self_index]
        positional = [one._replace(alias=None) if one is own else one for one in schema.positional]
        out = [NativeArgument(own.type, "out", None, own.alias)]
        return NativeSchema(name, positional, schema.keyword, out, schema.returns)
    used = "".join(argument.alias.partition(" ")[0] for argument in schema.arguments if argument.alias is not None)
    letters = [letter for letter in _LETTERS if letter not in used] or [*_LETTERS]
    tensors = all(one.type == "Tensor" for one in schema.returns)
    out, returns = [], []
    for index, one in enumerate(schema.returns):
        letter = letters[index % len(letters)]
        if one.is_tensor:
            argument_name = "out" if len(schema.returns) == 1 else f"out{index}"
            out.append(NativeArgument(one.type, argument_name, None, f"{letter}!"))
            if tensors:
                returns.append(NativeArgument(one.type, None, None, f"{letter}!"))
        else:
            returns.append(one)
    if schema.kind is SchemaKind.MUTABLE:
        return NativeSchema(name, schema.positional, schema.keyword, out, returns)
    return NativeSchema(name, _bare(schema.positional), _bare(schema.without_options()), out, returns)


def _bare(arguments: Iterable[NativeArgument]) -> list[NativeArgument]:
    return [argument if argument.alias is None else argument._replace(alias=None) for argument in arguments]
