"""Call PyTorch's own operators, each with one of its kernels replaced, and say whether that kernel ran and with what.

usage: PYTHON live_own_kernels.py < ASKED   (run with the Python that has PyTorch)

ASKED: calls with an operator, tensors, contexts and options, and the key whose kernel is replaced for the
time of the call. The replacement ends the call. SAID: the key set that it got; null when it did not run, with the
error.
"""

import contextlib
import importlib
import json
import sys
from typing import Any, Dict, List  # noqa: UP035

calls: Any = importlib.import_module("live_calls")  # it lies beside this file
torch = calls.torch


def value_of(kind: str) -> Any:
    """Something that an argument without a default takes; what it is does not matter, since nothing is computed."""
    plain: Dict[str, Any] = {"int": 1, "SymInt": 1, "float": 0.5, "bool": True, "number": 1, "Scalar": 1, "str": ""}  # noqa: UP006
    if kind in plain:
        return plain[kind]
    if kind.startswith("List["):
        return [value_of(kind[5:-1])]
    return None


def options_of(asked: Any) -> Any:
    """The options that are given, as PyTorch takes them."""
    readers = {"device": torch.device, "layout": calls.LAYOUTS.get, "dtype": lambda name: getattr(torch, name)}
    return {name: reader(asked[name]) for name, reader in readers.items() if asked[name] is not None}


def arguments_for(schema: Any, tensors: List[Any], asked: Any) -> Any:  # noqa: UP006
    """Arguments for a call: those that are given, and others as they come."""
    options, left = options_of(asked), list(tensors)
    positional: List[Any] = []  # noqa: UP006
    named: Dict[str, Any] = {}  # noqa: UP006
    for argument in schema.arguments:
        if "Tensor" in str(argument.type):
            value = left.pop(0) if left else None
        elif argument.name in options:
            value = options[argument.name]
        elif argument.has_default_value():
            value = argument.default_value
        else:
            value = value_of(str(argument.type))
        if argument.kwarg_only:
            named[argument.name] = value
        else:
            positional.append(value)
    return positional, named


def call(asked: Any) -> Any:
    name, _, overload = asked["operator"].partition(".")
    operator = getattr(getattr(torch.ops.aten, name.removeprefix("aten::")), overload or "default")
    got: List[str] = []  # noqa: UP006

    def kernel(keyset: Any, *_arguments: Any, **_named: Any) -> None:
        got.append(calls.keys_in(keyset))
        raise calls.Ended

    answer: Any = {"keyset": None, "error": None}
    library = torch.library.Library("aten", "IMPL")
    try:
        tensors = [calls.make_tensor(text) for text in asked["tensors"]]
        with contextlib.ExitStack() as stack:
            for position, text in enumerate(asked["contexts"]):
                level = stack.enter_context(calls.context(text, position))
                for pair in tensors:
                    if level in pair[1]:
                        pair[0] = calls.wrap(pair[1][level], pair[0], level)
            given = [pair[0] for pair in tensors]
            positional, named = arguments_for(operator._schema, given, asked["options"])
            library.m.impl(asked["operator"], asked["key"], kernel, True)
            operator(*positional, **named)
    except calls.Ended:
        answer["keyset"] = got[0]
    except Exception as error:
        answer["error"] = type(error).__name__ + ": " + str(error)[:300]
    finally:
        library.m.reset()
    return answer


def main() -> None:
    asked = json.load(sys.stdin)
    calls.ids.update(asked["ids"])
    calls.functionalities.extend(asked["functionalities"])
    print(json.dumps([call(question) for question in asked["calls"]]))


if __name__ == "__main__":
    main()
