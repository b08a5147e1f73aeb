"""Do random things to the Python side of operators of a live PyTorch, and print what it answers, as JSON.

usage: PYTHON live_python_operators.py SEED COUNT   (run with the Python that has PyTorch)

The operators are made here: registrations in C++'s tables through ``torch.library``, Python kernels, and questions, in
any order. The answers are those of ``_get_dispatch`` and its cache.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
from typing import Any

torch: Any = importlib.import_module("torch")
modes: Any = importlib.import_module("torch.utils._python_dispatch")

KEYS = (
    "CPU",
    "CUDA",
    "Meta",
    "SparseCPU",
    "QuantizedCPU",
    "AutogradCPU",
    "AutogradOther",
    "BackendSelect",
    "Functionalize",
    "CompositeImplicitAutograd",
    "CompositeImplicitAutogradNestedTensor",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "Autograd",
)
ASKED = (
    "Undefined",
    "CPU",
    "CUDA",
    "Meta",
    "SparseCPU",
    "NestedTensorCPU",
    "AutogradCPU",
    "AutogradOther",
    "AutogradNestedTensor",
    "BackendSelect",
    "Functionalize",
    "Python",
    "PreDispatch",
    "AutocastCPU",
    "HPU",
)


class Mode(modes.TorchDispatchMode):  # type: ignore[misc]
    """A mode that operators can have a rule for."""


def key_of(name: str) -> Any:
    """A dispatch key by its name."""
    return torch._C._parse_dispatch_key(name)


def answer_of(operator: Any, handler: Any) -> list[str]:
    """What was chosen: a key whose C++ kernel runs, a Python kernel, or the handler of modes."""
    if isinstance(handler, torch._C.DispatchKey):
        return ["cpp-kernel", torch._C._dispatch_key_name(handler)]
    named = [torch._C._dispatch_key_name(key) for key, kernel in operator.py_kernels.items() if kernel is handler]
    return ["python-kernel", *named] if named else ["mode-impls"]


def attempt(act: Any) -> list[str]:
    """What an act answers, or its error."""
    try:
        answer = act()
        return answer if isinstance(answer, list) else ["done"]
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        text = str(error).replace(f"<class '{__name__}.Mode'>", "<class 'Mode'>")
        return ["error", text]


def history(dice: random.Random, number: int) -> dict[str, Any]:
    """A history of one operator: every act with its answer, and what is remembered after it."""
    library = torch.library.Library("python_operators", "FRAGMENT")
    name = f"op{number}"
    library.define(f"{name}(Tensor x) -> Tensor")
    operator = getattr(torch.ops.python_operators, name).default
    taken: set[str] = set()
    acts = []
    for _ in range(dice.randint(3, 14)):
        kind = dice.choice(("ask", "ask", "ask", "ask", "cpp", "cpp", "python", "python", "mode", "uncache"))
        key = dice.choice(ASKED if kind in ("ask", "uncache") else KEYS)
        if kind == "cpp" and key in taken:
            continue
        acts.append([kind, key, *act(library, operator, name, kind, key, taken), remembered(operator)])
    return {"name": name, "acts": acts}


def act(library: Any, operator: Any, name: str, kind: str, key: str, taken: set[str]) -> list[Any]:
    """Do one thing; its answer."""
    if kind == "cpp":
        taken.add(key)
        return [attempt(lambda: library.impl(name, lambda x: x, key))]
    if kind == "python":
        wanted = "Python" if key == "QuantizedCPU" else key

        def kernel(x: Any) -> Any:
            return x

        return [attempt(lambda: operator.py_impl(key_of(wanted))(kernel))]
    if kind == "mode":
        return [attempt(lambda: operator.py_impl(Mode)(lambda _mode, x: x))]
    if kind == "uncache":
        operator._uncache_dispatch(asked_key(key))
        return [["done"]]
    known = operator._dispatch_cache.get(asked_key(key))
    return [
        attempt(lambda: answer_of(operator, known if known is not None else operator._get_dispatch(asked_key(key))))
    ]


def asked_key(name: str) -> Any:
    """A key that a call can arrive at; Undefined cannot be parsed."""
    return torch._C.DispatchKey.Undefined if name == "Undefined" else key_of(name)


def remembered(operator: Any) -> dict[str, list[str]]:
    """The cache."""
    return {
        torch._C._dispatch_key_name(key): answer_of(operator, handler)
        for key, handler in operator._dispatch_cache.items()
    }


if __name__ == "__main__":
    DICE = random.Random(int(sys.argv[1]))
    print(json.dumps([history(DICE, number) for number in range(int(sys.argv[2]))]))
