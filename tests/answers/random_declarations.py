"""Random declarations as a user writes them, and changes of them made from the JSON of advice alone."""

from __future__ import annotations

import copy
import random
from typing import Any

SCHEMAS = (
    *("(Tensor x) -> Tensor", "(Tensor x) -> Tensor", "(Tensor x, Tensor y) -> Tensor", "(Tensor[] xs) -> Tensor"),
    *("(Tensor? x) -> Tensor", "(Tensor x) -> ()", "(Tensor(a!) x) -> Tensor(a!)", "(Tensor(a) x) -> Tensor(a)"),
    *("(int n) -> Tensor", "(int n, *, Device device) -> Tensor"),
)
ALIASES = (
    "Autograd",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutogradNestedTensor",
    "FuncTorchBatchedDecomposition",
)
RUNTIME = (
    *("CPU", "CUDA", "HIP", "XLA", "XPU", "MTIA", "PrivateUse1", "Meta", "FPGA", "MkldnnCPU"),
    *("SparseCPU", "SparseCUDA", "SparseCsrCPU", "QuantizedCPU", "NestedTensorCPU", "NestedTensorCUDA"),
    *("AutogradCPU", "AutogradCUDA", "AutogradOther", "AutogradPrivateUse1", "AutogradNestedTensor", "AutogradMeta"),
    *("ADInplaceOrView", "BackendSelect", "AutocastCPU", "Functionalize", "FuncTorchBatched", "Conjugate", "Python"),
)
FALLBACKS = ("PrivateUse1", "XPU", "AutogradPrivateUse1", "FuncTorchBatched")
TAKEN = ("aten::im2col", "aten::convolution", "aten::add.Tensor", "aten::to.dtype", "aten::bmm", "aten::avg_pool1d.out")
"""Operators of PyTorch for which others register."""


def declared(dice: random.Random) -> tuple[dict[str, Any], str]:
    """A document, and the operator to ask about. Its section ``operators`` comes last, in the short form."""
    document: dict[str, Any] = {"dispatch": 1}
    over = dice.random() < 0.15
    if over:
        document["extends"] = ["torch-2.15"]
    else:
        document["universe"] = dice.choice(("torch-2.4", "torch-2.15"))
        if dice.random() < 0.15:
            document["fallbacks"] = "none"
    name = dice.choice(TAKEN) if over else "demo::op"
    if dice.random() < 0.2 and over:
        document["fallbacks"] = {FALLBACKS[0]: "npu_fallback"}
    elif dice.random() < 0.15 and "fallbacks" not in document:
        document["fallbacks"] = dict.fromkeys(dice.sample(FALLBACKS[:2], dice.randint(1, 2)), "my_fallback")
    pairs = [(key, kernel_at(dice, key)) for key in keys(dice)]
    if dice.random() < 0.2 and pairs:  # the long form: a block for each kernel
        document["libraries"] = [] if over else [{"kind": "FRAGMENT", "namespace": "demo", "define": [schema(dice)]}]
        document["libraries"] += [
            {"kind": "IMPL", "namespace": name.partition("::")[0], "dispatch_key": key, "impl": {name: kernel}}
            for key, kernel in pairs
        ]
        return document, name
    head = {"name": name} if over or (pairs and dice.random() < 0.04) else {"func": f"demo::{schema(dice)}"}
    document["operators"] = [{**head, "dispatch": dict(pairs)}]
    if dice.random() < 0.1 and not over:  # another form of it
        dispatch = {key: kernel_at(dice, key, "other") for key in keys(dice)}
        document["operators"].append({"func": "demo::op_(Tensor(a!) x) -> Tensor(a!)", "dispatch": dispatch})
    return document, name


def schema(dice: random.Random) -> str:
    return f"op{dice.choice(SCHEMAS)}"


def keys(dice: random.Random) -> list[str]:
    """Some keys, in the order in which they are registered."""
    chosen_keys = dice.sample(ALIASES, dice.choice((0, 1, 1, 2))) + dice.sample(RUNTIME, dice.choice((0, 1, 1, 2, 3)))
    if dice.random() < 0.3:
        chosen_keys.append("CPU")
    chosen_keys = list(dict.fromkeys(chosen_keys))
    dice.shuffle(chosen_keys)
    return chosen_keys


def kernel_at(dice: random.Random, key: str, name: str = "k") -> Any:
    """A kernel, or a fallthrough. name: how the kernel's begins; those of one name are one function."""
    if dice.random() < 0.1:
        return {"fallthrough": True}
    if key.startswith("Autograd") and dice.random() < 0.3:
        goes = dice.choice((False, "below-key", "below-autograd", "other-operators"))
        return {"kernel": f"{name}_{key}", "redispatches": goes}
    return f"{name}_{key}"


def changed(document: dict[str, Any], edits: list[dict[str, Any]]) -> dict[str, Any]:
    """The declarations after a change; nothing but the edits of the JSON is looked at."""
    new = copy.deepcopy(document)
    entries = new.setdefault("operators", [])
    for edit in edits:
        if edit["action"] == "remove":
            assert _take_out(new, edit["operator"], edit["key"]) is not None, edit
    for edit in edits:
        if edit["action"] == "register-fallback":
            block = {"kind": "IMPL", "namespace": "_", "dispatch_key": edit["key"], "fallback": edit["function"]}
            new["libraries"] = [*new.get("libraries", []), block]
        if edit["action"] == "register" and edit["function"] == "fake":
            entries.append({"name": edit["operator"], "fake": edit["kernel"]})
        elif edit["action"] == "register":
            kernel = kernel_of(document, edit)
            entries.append({"name": edit["operator"], "dispatch": {edit["key"]: kernel}})
    return new


def kernel_of(document: dict[str, Any], edit: dict[str, Any]) -> Any:
    """The kernel that an edit registers."""
    if edit["function"] == "fallthrough":
        return {"fallthrough": True}
    if edit["function"] == "fallback":
        return document["fallbacks"][edit["key"]]
    if edit["function"] == "same-as":
        return _take_out(copy.deepcopy(document), edit["operator"], edit["source"])
    assert edit["function"] == "own"
    if edit["redispatches"] is None:
        return edit["kernel"]
    return {"kernel": edit["kernel"], "redispatches": edit["redispatches"]}


def _take_out(document: dict[str, Any], operator: str, key: str) -> Any:
    """The last kernel of an operator at a key, taken out of the document."""
    for entry in reversed(document.get("operators", [])):
        name = entry.get("name") or entry["func"].partition("(")[0]
        if name == operator and key in entry.get("dispatch", {}):
            return entry["dispatch"].pop(key)
    for block in reversed(document.get("libraries", [])):
        if block.get("dispatch_key") == key and operator in block.get("impl", {}):
            return block["impl"].pop(operator)
    return None
