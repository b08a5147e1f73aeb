"""Found through ``sys.path``; it makes schemas of signatures, and defines each operator once."""

import inspect
from typing import Optional, Union, get_args, get_origin

import torch

LIBRARY = torch.library.Library("pyx_guard", "FRAGMENT")
WORDS = {int: "int", float: "float", bool: "bool"}


def schema_of(function):
    signature = inspect.signature(function)
    parts = []
    for position, (name, parameter) in enumerate(signature.parameters.items()):
        kind = parameter.annotation
        if kind is torch.Tensor:
            text = f"Tensor(a{position}!)"
        elif kind == Optional[torch.Tensor]:
            text = "Tensor?"
        elif get_origin(kind) in (list, tuple) and get_args(kind)[0] is torch.Tensor:
            text = "Tensor[]"
        elif kind in (float, bool, str):
            text = kind.__name__
        else:
            text = "int"
        if parameter.default is not inspect.Parameter.empty:
            text += f" {name}={parameter.default}"
        else:
            text += f" {name}"
        parts.append(text)
    returned = signature.return_annotation
    if returned is None:
        result = "()"
    elif returned in [int, float, bool]:
        result = WORDS.get(returned, "int")
    else:
        result = "Tensor"
    return f"({', '.join(parts)}) -> {result}"


def guarded(function):
    first = list(inspect.signature(function).parameters.values())[0]
    if hasattr(torch.ops.pyx_guard, function.__name__):
        return function
    key = "CPU" if first.annotation is torch.Tensor else "CompositeExplicitAutograd"
    LIBRARY.define(function.__name__ + schema_of(function))
    LIBRARY.impl(function.__name__, function, key)
    return function
