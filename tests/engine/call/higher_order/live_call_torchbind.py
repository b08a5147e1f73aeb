"""Call PyTorch's call_torchbind as users do, in every context that its example speaks of, and print how it ended.

usage: PYTHON live_call_torchbind.py   (run with the Python that has PyTorch)
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import Any

torch: Any = importlib.import_module("torch")
importlib.import_module("torch._higher_order_ops.effects")
call_torchbind: Any = importlib.import_module("torch._higher_order_ops.torchbind").call_torchbind
fake_script_object: Any = importlib.import_module("torch._library.fake_class_registry").FakeScriptObject
live: Any = importlib.import_module("live_higher_order")


class Object:
    """Stand-in for an object of a custom class."""

    def first(self, *args: Any) -> Any:
        """The first argument."""
        return args[0]


OBJECT = fake_script_object(Object(), "object", None)


def call(*args: Any) -> Any:
    """The operator, on the object."""
    return call_torchbind(OBJECT, "first", *args)


def inside(context: Any, *args: Any) -> Callable[[], Any]:
    """The call in a context."""

    def made() -> Any:
        with context:
            return call(*args)

    return made


def main() -> None:
    """Print [tensors, contexts, error] of every call, and of one its error in the backward pass."""
    plain = torch.ones(2)
    fakes = {name: mode.from_tensor(plain) for name, mode in live.FAKE.items()}
    needs = torch.ones(2, requires_grad=True)
    mode = "mode=FunctionalTensorMode"
    cases: list[tuple[list[str], list[str], Callable[[], Any]]] = [
        (["cpu"], [], lambda: call(plain)),
        (["cpu requires_grad"], [], lambda: call(needs)),
        (["fake=A", "fake=B"], [], lambda: call(fakes["A"], fakes["B"])),
        (["fake=A", "cpu"], [], lambda: call(fakes["A"], plain)),
        (["cpu"], ["mode=FakeTensorMode=A"], inside(live.FAKE["A"], plain)),
        (["fake=B"], ["mode=FakeTensorMode=A"], inside(live.FAKE["A"], fakes["B"])),
        (["cpu"], ["mode=Plain"], inside(live.Plain(), plain)),
        (["cpu functional"], [], lambda: call(torch._to_functional_tensor(plain))),
        (["cpu"], ["enable_functionalization"], inside(live.functionalization(), plain)),
        (["cpu functional"], ["functionalize"], lambda: torch.func.functionalize(call)(plain)),
        (["cpu"], [mode], inside(live.FunctionalTensorMode(), plain)),
        (["cpu"], [f"pre_dispatch_{mode}"], inside(live.FunctionalTensorMode(pre_dispatch=True), plain)),
        (["cpu batched"], ["vmap"], lambda: torch.vmap(call)(torch.ones(3, 2))),
        (["cpu grad-wrapped"], ["grad"], lambda: torch.func.grad(lambda one: call(one).sum())(plain)),
    ]
    results = []
    for tensors, contexts, keyword_values in cases:
        try:
            keyword_values()
            error = None
        except Exception as raised:
            error = live.shown(raised)
        results.append([tensors, contexts, error])
    try:
        call(needs * 1).sum().backward()
        backward = None
    except RuntimeError as raised:
        backward = live.shown(raised)
    print(json.dumps({"calls": results, "backward": backward}))


if __name__ == "__main__":
    main()
