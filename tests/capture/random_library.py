"""Random registrations from Python, as a module to import and as the declarations that a person would write."""

from __future__ import annotations

import json
from collections.abc import Iterable
from random import Random
from typing import Any

Action = dict[str, Any]

SCHEMAS = (
    "(Tensor x) -> Tensor",
    "(Tensor x, Tensor y) -> Tensor",
    "(Tensor(a!) x) -> Tensor(a!)",
    "(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    "(Tensor(a) x) -> Tensor(a)",
    "(Tensor x, SymInt n) -> Tensor",
    "(Tensor[] x) -> ()",
    "(int n) -> Tensor",
)
KEYS = (
    *("CPU", "CUDA", "PrivateUse1", "Meta", "SparseCPU", "QuantizedCPU", "NestedTensorCPU", "MkldnnCPU"),
    *("Autograd", "AutogradCPU", "AutogradPrivateUse1", "AutogradOther", "AutogradNestedTensor", "ADInplaceOrView"),
    *("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"),
    *("FuncTorchBatched", "FuncTorchBatchedDecomposition", "Functionalize", "Python", "BackendSelect", "Tracer"),
    *("Conjugate", "Negative", "ZeroTensor", "AutocastCPU", "CompositeImplicitAutogradNestedTensor"),
)
PYTHON_KEYS = ("CPU", "Meta", "AutogradCPU", "CompositeImplicitAutograd", "Autograd")
OF_PYTORCH = (
    *(
        "aten::mm",
        "aten::add.Tensor",
        "aten::relu",
        "aten::relu_",
        "aten::softmax.int",
        "aten::im2col",
        "aten::to.dtype",
    ),
    *("aten::view", "aten::bmm.out", "aten::zeros_like", "aten::convolution", "aten::_softmax", "aten::sum"),
)
FALLBACK_KEYS = ("PrivateUse1", "HPU")

MODULE = '''\
"""Registers what ACTIONS say, as far as PyTorch takes it, and writes which it took to ACCEPTED."""

import json

import torch

ACTIONS = json.loads({actions!r})
libraries = []


def kernel(*arguments, **others):
    return arguments[0] if arguments else None


def custom(action):
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    def mutating(x: torch.Tensor) -> None:
        x.zero_()

    writes, device = action["mutates"], action["device"]
    made = torch.library.custom_op(
        action["name"], mutating if writes else function, mutates_args=("x",) if writes else (), device_types=device
    )
    if action["autograd"]:
        made.register_autograd(lambda context, grad: grad)
    if action["vmap"]:
        made.register_vmap(lambda info, dims, x: (x, dims[0]))


def named(number):
    def function(*arguments):
        return kernel(*arguments)

    function.__name__ = function.__qualname__ = f"function_{{number}}"
    return function


def run(number, action):
    namespace, _, rest = action.get("name", "_::").partition("::")
    base, _, overload = rest.partition(".")
    if action["do"] == "custom":
        custom(action)
    elif action["do"] == "py_impl":
        packet = getattr(getattr(torch.ops, namespace), base)
        getattr(packet, overload or "default").py_impl(getattr(torch._C.DispatchKey, action["key"]))(lambda *all: None)
    else:
        library = torch.library.Library(namespace, action["library"])
        libraries.append(library)
        if action["do"] == "define":
            library.define(rest + action["schema"])
        elif action["do"] == "fallback":
            library.fallback(lambda *all: None, action["key"])
        else:
            chosen = torch.library.fallthrough_kernel if action["fallthrough"] else named(number)
            library.impl(rest, chosen, action["key"])


accepted = []
for number, action in enumerate(ACTIONS):
    try:
        run(number, action)
    except Exception:
        continue
    accepted.append(number)
with open({accepted!r}, "w") as file:
    json.dump(accepted, file)
'''


def actions(random: Random, count: int) -> list[Action]:
    """*count* operators of a few libraries with their registrations, and registrations for operators of PyTorch's."""
    found: list[Action] = []
    for number in range(count):
        name = f"random_{random.randrange(3)}::op{number}"
        kind = random.choice(("defined", "defined", "defined", "custom", "dangling", "pytorch"))
        if kind == "custom":
            choices = {field: random.random() < 0.4 for field in ("mutates", "autograd", "vmap")}
            device = random.choice((None, "cpu", "cuda"))
            choices["autograd"] &= not choices["mutates"]  # refused for an operator that writes to its arguments
            found.append({"do": "custom", "name": name, "device": device, **choices})
        elif kind == "pytorch":
            name = random.choice(OF_PYTORCH)
        elif kind == "defined":
            schema = random.choice(SCHEMAS)
            found.append({"do": "define", "library": "FRAGMENT", "name": name, "schema": schema})
        for key in random.sample(KEYS, random.choice((0, 1, 1, 2, 3, 4)) if kind == "defined" else kind != "custom"):
            skips = random.random() < 0.15
            found.append({"do": "impl", "library": "FRAGMENT", "name": name, "key": key, "fallthrough": skips})
        if kind != "dangling" and random.random() < 0.15:
            found.append({"do": "py_impl", "name": name, "key": random.choice(PYTHON_KEYS)})
    if random.random() < 0.5:
        key = random.choice(FALLBACK_KEYS)
        found.append({"do": "fallback", "library": "IMPL", "name": "_::", "key": key})
    return found


def module_text(chosen: list[Action], accepted: str) -> str:
    """A module that runs the actions and writes to *accepted* the numbers of those that PyTorch takes."""
    return MODULE.format(actions=json.dumps(chosen), accepted=accepted)


def declarations(taken: Iterable[Action], base: str) -> dict[str, Any]:
    """The same by hand: a file that extends *base*, every registration in the short form."""
    operators: dict[str, dict[str, Any]] = {}
    fallbacks: dict[str, str] = {}

    def register(name: str, key: str, kernel: Any) -> None:
        operators.setdefault(name, {"name": name}).setdefault("dispatch", {}).setdefault(key, []).append(kernel)

    for number, action in enumerate(taken):
        name, function = action["name"], {"kernel": f"function_{number}", "python": True}
        if action["do"] == "define":
            operators[name] = {"func": name + action["schema"]}
        elif action["do"] == "impl":
            register(name, action["key"], {"fallthrough": True} if action["fallthrough"] else function)
        elif action["do"] == "fallback":
            fallbacks[action["key"]] = f"function_{number}"
        elif action["do"] == "py_impl":
            one = operators.setdefault(name, {"name": name})
            one.setdefault("python_dispatch", {})[action["key"]] = f"function_{number}"
        else:
            mutates = action["mutates"]
            arguments = "(Tensor(a0!) x) -> ()" if mutates else "(Tensor x) -> Tensor"
            operators[name] = {"func": name + arguments, "tags": ["pt2_compliant_tag"]}
            device = {None: "CompositeExplicitAutograd", "cpu": "CPU", "cuda": "CUDA"}[action["device"]]
            # what torch.library.custom_op registers, each from PyTorch's own files
            operators[name]["fake"] = {"missing": True}
            for key in ("Autograd", device, *["FuncTorchBatched"] * action["vmap"]):
                register(name, key, {**function, "kernel": f"function_{number}_{key}"})
            if mutates:
                register(name, "ADInplaceOrView", f"function_{number}_in_place")
    document: dict[str, Any] = {"dispatch": 1, "extends": [base], "operators": list(operators.values())}
    return {**document, "fallbacks": fallbacks} if fallbacks else document
