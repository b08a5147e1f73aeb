"""Calls of PyTorch's own kernels at BackendSelect, of custom operators, and with a generator.

usage: PYTHON live_factories.py < ASKED   (run with the Python that has PyTorch)

ASKED: of PyTorch's factories, calls with tensors and options: a kernel at every backend key notes its key set and ends
the call. Custom operators: for which devices they are registered, and a device to call them with. Calls of Python's
functions and of torch.ops with a generator: the key at which a kernel notes its key set.
"""

import contextlib
import importlib
import json
import sys
from typing import Any, Dict, List  # noqa: UP035

calls: Any = importlib.import_module("live_calls")  # it lies beside this file
own: Any = importlib.import_module("live_own_kernels")
torch = calls.torch
core = calls.core


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
    name, _, overload = asked["operator"].partition(".")
    operator = getattr(getattr(torch.ops.aten, name.removeprefix("aten::")), overload or "default")
    results = []
    got: List[str] = []  # noqa: UP006
    tensors_of_calls = [[calls.make_tensor(text)[0] for text in call["tensors"]] for call in asked["calls"]]
    with noting(asked["operator"], keys, got):
        for asked_call, tensors in zip(asked["calls"], tensors_of_calls):  # noqa: B905
            positional, named = own.arguments_for(operator._schema, tensors, asked_call["options"])
            with core._AutoDispatchBelowADInplaceOrView():
                results.append(outcome(lambda args=(positional, named): operator(*args[0], **args[1]), got))
    return results


def custom(number: int, asked: Any) -> Any:
    """A factory made by ``torch.library.custom_op``: its registrations, and for each device what became of a call."""
    got: List[str] = []  # noqa: UP006

    def fill(n: int, device: torch.device) -> torch.Tensor:  # type: ignore[name-defined]  # noqa: ARG001
        got.append(device.type)
        raise calls.Ended

    name = "live_factories::fill" + str(number)
    operator = torch.library.custom_op(name, fill, mutates_args=(), device_types=asked["registered"])
    outcomes = [outcome(lambda device=device: operator(1, torch.device(device)), got) for device in asked["devices"]]
    return {"dump": core._dispatch_dump(name), "said": outcomes}


def with_generator(asked: Any) -> Any:
    got: List[str] = []  # noqa: UP006
    tensors = [calls.make_tensor(text)[0] for text in asked["tensors"]]
    with contextlib.ExitStack() as stack:
        for position, text in enumerate(asked["contexts"]):
            stack.enter_context(calls.context(text, position))
        stack.enter_context(noting(asked["operator"], [asked["key"]], got))
        names: Dict[str, Any] = {"torch": torch, "x": tensors, "g": torch.Generator()}  # noqa: UP006
        return outcome(lambda: eval(asked["call"], names), got)


def main() -> None:
    asked = json.load(sys.stdin)
    calls.ids.update(asked["ids"])
    calls.functionalities.extend(asked["functionalities"])
    answers = {
        "factories": [factory(operator, asked["keys"]) for operator in asked["factories"]],
        "custom": [custom(number, one) for number, one in enumerate(asked["custom"])],
        "generators": [with_generator(generator) for generator in asked["generators"]],
        "dtypes": [_number(name) for name in asked["dtypes"]],
        "layouts": [str(calls.LAYOUTS[name]) for name in asked["layouts"]],
        "layout_of": [_layout(number) for number in range(len(asked["layouts"]))],
    }
    print(json.dumps(answers))


def _number(dtype: str) -> Any:
    """The number of a dtype as a default; None where this version has no such one."""
    if not hasattr(torch, dtype):
        return None
    return core.parse_schema("f(ScalarType t=" + dtype + ") -> ()").arguments[0].default_value


def _layout(number: int) -> Any:
    """The layout of that number: of the tensor that is made with it, or as the error about it names it."""
    try:
        return str(torch.ops.aten.empty.memory_format([2, 2], layout=number).layout)
    except RuntimeError as error:
        return str(error)


if __name__ == "__main__":
    main()
