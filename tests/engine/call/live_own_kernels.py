"""Call PyTorch's own operators, each with one of its kernels replaced, and say whether that kernel ran and with what.

usage: PYTHON live_own_kernels.py < ASKED   (run with the Python that has PyTorch)

ASKED: calls with an operator, tensors, contexts and options, and the key whose kernel is replaced for the
time of the call. The replacement ends the call. SAID: the key set that it got; null when it did not run, with the
error. Or factories, of whose calls a kernel at every backend key notes its key set and ends the call, and calls of
Python's functions and of torch.ops with a generator, with the key at which a kernel does so.
"""

import contextlib
import importlib
import json
import sys
from typing import Any, Dict, List  # noqa: UP035

calls: Any = importlib.import_module("live_calls")  # it lies beside this file
torch = calls.torch
core = calls.core


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


def operator_of(text: str) -> Any:
    name, _, overload = text.partition(".")
    return getattr(getattr(torch.ops.aten, name.removeprefix("aten::")), overload or "default")


@contextlib.contextmanager
def noting(operator: str, keys: List[str], got: List[str]) -> Any:  # noqa: UP006
    """While a kernel at each key notes its key set, and ends the call."""

    def kernel(keyset: Any, *_arguments: Any, **_named: Any) -> None:
        got.append(calls.keys_in(keyset))
        raise calls.Ended

    library = torch.library.Library("aten", "IMPL")
    for key in keys:
        library.m.impl(operator, key, kernel, True)
    try:
        yield
    finally:
        library.m.reset()


def call(asked: Any) -> Any:
    operator = operator_of(asked["operator"])
    got: List[str] = []  # noqa: UP006
    answer: Any = {"keyset": None, "error": None}
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
            stack.enter_context(noting(asked["operator"], [asked["key"]], got))
            operator(*positional, **named)
    except calls.Ended:
        answer["keyset"] = got[0]
    except Exception as error:
        answer["error"] = type(error).__name__ + ": " + str(error)[:300]
    return answer


def outcome(call: Any, got: List[str]) -> Any:  # noqa: UP006
    got.clear()
    try:
        call()
    except calls.Ended:
        return got[0] if got else "ended"
    except Exception as error:
        return [type(error).__name__, str(error)]
    return "returned"


def factory(asked: Any, keys: List[str]) -> List[Any]:  # noqa: UP006
    operator = operator_of(asked["operator"])
    results = []
    got: List[str] = []  # noqa: UP006
    tensors_of_calls = [[calls.make_tensor(text)[0] for text in call["tensors"]] for call in asked["calls"]]
    with noting(asked["operator"], keys, got):
        for asked_call, tensors in zip(asked["calls"], tensors_of_calls):  # noqa: B905
            positional, named = arguments_for(operator._schema, tensors, asked_call["options"])
            with core._AutoDispatchBelowADInplaceOrView():
                results.append(outcome(lambda args=(positional, named): operator(*args[0], **args[1]), got))
    return results


def with_generator(asked: Any) -> Any:
    got: List[str] = []  # noqa: UP006
    tensors = [calls.make_tensor(text)[0] for text in asked["tensors"]]
    with contextlib.ExitStack() as stack:
        for position, text in enumerate(asked["contexts"]):
            stack.enter_context(calls.context(text, position))
        stack.enter_context(noting(asked["operator"], [asked["key"]], got))
        names: Dict[str, Any] = {"torch": torch, "x": tensors, "g": torch.Generator()}  # noqa: UP006
        return outcome(lambda: eval(asked["call"], names), got)


def dtype_number(dtype: str) -> Any:
    """The number of a dtype as a default; None where this version has no such one."""
    if not hasattr(torch, dtype):
        return None
    return core.parse_schema("f(ScalarType t=" + dtype + ") -> ()").arguments[0].default_value


def layout(number: int) -> Any:
    """The layout of that number: of the tensor that is made with it, or as the error about it names it."""
    try:
        return str(torch.ops.aten.empty.memory_format([2, 2], layout=number).layout)
    except RuntimeError as error:
        return str(error)


def factories(asked: Any) -> Any:
    return {
        "factories": [factory(operator, asked["keys"]) for operator in asked["factories"]],
        "generators": [with_generator(generator) for generator in asked["generators"]],
        "dtypes": [dtype_number(name) for name in asked["dtypes"]],
        "layouts": [str(calls.LAYOUTS[name]) for name in asked["layouts"]],
        "layout_of": [layout(number) for number in range(len(asked["layouts"]))],
    }


def main() -> None:
    asked = json.load(sys.stdin)
    calls.ids.update(asked["ids"])
    calls.functionalities.extend(asked["functionalities"])
    answers = factories(asked) if "factories" in asked else [call(question) for question in asked["calls"]]
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
