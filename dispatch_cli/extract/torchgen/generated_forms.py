"""The forms of a function that torchgen makes of another one. Source: ``torchgen/native_function_generation.py``."""

from __future__ import annotations

from collections.abc import Iterable

from dispatch_cli.extract.torchgen.native_name import NativeName
from dispatch_cli.extract.torchgen.schema import NativeArgument, NativeSchema, SchemaKind

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


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
