"""Answers of a live PyTorch to questions about registrations, key sets, schemas, gradients and names.

usage: PYTHON live_answers.py < ASKED.json   (run with the Python that has PyTorch)

ASKED: the name of a function of `ANSWERS`, and what it is asked. Prints its answer as JSON.
"""

import contextlib
import importlib
import json
import os
import re
import sys
import types
import warnings
from functools import partial
from typing import Any

torch: Any = importlib.import_module("torch")
core: Any = torch._C


def named(name: str) -> Any:
    def fake(x: Any) -> Any:
        return x

    fake.__name__ = name
    return fake


def fakes(number: int, steps: Any) -> Any:
    """Fake implementations: the error of each step or "", the active one in the end, and how many kernels are at Meta.

    Steps: ["fake", NAME, ALLOW_OVERRIDE or null], ["kernel", NAME, KEY], ["drop", NAME].
    """
    operator = f"op{number}"
    definition = core._dispatch_library("FRAGMENT", "fakes", "")
    definition.def_(f"{operator}(Tensor x) -> Tensor")
    libraries: Any = {}

    def take(kind: str, name: str, *rest: Any) -> str:
        try:
            if kind == "drop":
                if name in libraries:
                    libraries.pop(name)._destroy()
                return ""
            library = torch.library.Library("fakes", "FRAGMENT")
            if kind == "kernel":
                library.m.impl(operator, rest[0], named(name), False)
            else:
                options = {} if rest[0] is None else {"allow_override": rest[0]}
                torch.library.register_fake(f"fakes::{operator}", named(name), lib=library, **options)
            libraries[name] = library
        except RuntimeError as error:
            return re.sub(r"at \S+:\d+\.$", "at SOURCE.", str(error))
        return ""

    errors = [take(*step) for step in steps]
    entry = torch._library.simple_registry.singleton.find(f"fakes::{operator}")
    kernel = (getattr(entry, "fake_impl", None) or entry.abstract_impl).kernel
    active = None if kernel is None else kernel.func
    while hasattr(active, "__closure__") and active.__name__ == "inner":
        active = next(cell.cell_contents for cell in active.__closure__ if callable(cell.cell_contents))
    metas = re.findall(r"^Meta(?: \(inactive\))?: ", core._dispatch_dump(f"fakes::{operator}"), re.MULTILINE)
    return errors, None if active is None else active.__name__, len(metas)


def invariants_hold(name: str) -> bool:
    try:
        core._dispatch_check_invariants(name)
    except RuntimeError:
        return False
    return True


def orders(asked: Any) -> Any:
    """The invariants after sets of kernels in given orders.

    asked: ids (key -> number), and sets, each with its calls [KEY or null, KIND] and orders, lists of positions. The
    kinds are kernels of different functions, as PyTorch compares them: "impl", "def" (which defines the operator as
    well), "python" and "fallthrough".
    """
    keys = {key: core.DispatchKey(number) for key, number in asked["ids"].items()}
    namespaces = (f"orders{number}" for number in range(1 << 30))

    def holds(calls: Any, order: Any) -> bool:
        namespace = next(namespaces)
        library = core._dispatch_library("FRAGMENT", namespace, "")
        for position in order:
            key, kind = calls[position]
            if kind == "impl":
                library.impl_t_t("foo", dispatch=key or "")
            elif kind == "def":
                library.def_name_t_t("foo", dispatch=key or "")
            else:
                kernel = torch.library.fallthrough_kernel if kind == "fallthrough" else (lambda x: x)
                library.impl("foo", keys[key], kernel)
        return invariants_hold(f"{namespace}::foo")

    return [[holds(each["calls"], order) for order in each["orders"]] for each in asked["sets"]]


def expression(text: str) -> Any:
    """A key-set expression, which is one of Python, so that Python's precedence holds.

    None for one with a key that PyTorch's enum does not have in Python, or with a number where key sets cannot be made
    of numbers: PyTorch 2.4 cannot.
    """
    raw = getattr(core.DispatchKeySet, "from_raw_repr", None)
    scope = {name: core.DispatchKeySet(key) for name, key in core.DispatchKey.__members__.items()}
    scope["FULL_AFTER"] = lambda name: core._dispatch_keyset_full_after(getattr(core.DispatchKey, name))
    scope["raw"] = raw
    text = re.sub(r"FULL_AFTER\((\w+)\)", r"FULL_AFTER('\1')", text)
    text = re.sub(r"\b(0x[0-9a-f]+)", r"raw(\1)", text)
    try:
        keys = eval(text, {"__builtins__": {}}, scope)
    except (NameError, AttributeError, TypeError):
        return None
    bits = keys.raw_repr() if raw is not None else None
    return {"raw": bits, "text": str(keys), "highest": int(keys.highestPriorityTypeId())}


def slots(asked: Any) -> Any:
    """The key whose kernel each slot runs after a history of registrations; None when none of the operator's does.

    asked: ids (key -> number), slots, and histories, each a list of keys at which an operator gets a kernel.
    """
    keys = {key: core.DispatchKey(number) for key, number in asked["ids"].items()}
    sets = [core.DispatchKeySet(keys[slot]) for slot in asked["slots"]]

    def run(name: str, history: Any) -> Any:
        library, ran = core._dispatch_library("FRAGMENT", "live_histories", ""), []
        library.def_(name + "(int x) -> int")
        for key in history:

            def kernel(keyset: Any, x: int, key: str = key) -> int:
                ran.append((key, str(keyset)))
                return x

            library.impl(name, keys[key], kernel, True)
        handle = core._dispatch_find_schema_or_throw("live_histories::" + name, "")
        answers = []
        for keyset in sets:
            ran.clear()
            with contextlib.suppress(RuntimeError):
                handle.redispatch_boxed(keyset, 0)
            answers.append(ran[0][0] if ran and ran[0][1] == str(keyset) else None)
        return answers

    return [run(f"op{number}", history) for number, history in enumerate(asked["histories"])]


def gradients(asked: Any) -> Any:
    """The fate of a gradient in calls of operators without a derivative.

    asked: operators with their kernels by key, "kernel" or "fallthrough"; and calls [OPERATOR, LAYOUT, GRAD].
    """
    library = torch.library.Library("lost", "DEF")
    for name, kernels in asked["operators"].items():
        library.define(f"{name}(Tensor x) -> Tensor")
        for key, kind in kernels.items():
            kernel = torch.library.fallthrough_kernel if kind == "fallthrough" else (lambda x: x.detach().clone())
            library.impl(name, kernel, key)
    torch.library.custom_op("lost::made", lambda x: x * 2, mutates_args=(), schema="(Tensor x) -> Tensor")
    return [gradient_of(getattr(torch.ops.lost, name), layout, grad) for name, layout, grad in asked["calls"]]


def gradient_of(function: Any, layout: str, grad: bool) -> str:
    x = torch.ones(2)
    x = (x.to_sparse() if layout == "sparse" else x).requires_grad_()
    with torch.set_grad_enabled(grad):
        result = function(x)
    if not result.requires_grad:
        return "no grad_fn"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            torch.autograd.backward(result, result.detach().clone())
        except RuntimeError as error:
            if "register_autograd" not in str(error):
                raise
            return "raises"
    lost = any("autograd kernel was not registered" in str(warning.message) for warning in caught)
    return "warns" if lost and x.grad is None else "gives a gradient"


def backend_names(asked: Any) -> Any:
    """Answers to a name of the backend at PrivateUse1. asked: the name, and names of keys that are read."""

    def tried(call: Any) -> Any:
        try:
            return call()
        except Exception:
            return None

    def backend_in_error(layout: Any) -> Any:
        """The key that the error of a missing kernel names; there is none for empty tensors at PrivateUse1."""
        try:
            torch.ops.aten.empty.memory_format([2], layout=layout, device=torch.device("privateuseone"))
        except NotImplementedError as error:
            return re.findall("arguments from the '(.*?)' backend", str(error))[0]
        return None

    name, keys = asked
    try:
        torch.utils.rename_privateuse1_backend(name)
    except RuntimeError as error:
        return {"refused": str(error).split("\n")[0]}
    module = types.ModuleType(name)
    vars(module).update(is_initialized=lambda: True, _lazy_init=lambda: None, current_device=lambda: 0)
    tried(lambda: torch._register_device_module(name, module))  # not for names that no device string can have
    return {
        "device": tried(lambda: str(torch.device(name))),
        "unnamed": tried(lambda: str(torch.device("privateuseone"))),
        "read": {key: tried(lambda key=key: core._dispatch_key_name(core._dispatch_key_parse(key))) for key in keys},
        "errors": [backend_in_error(layout) for layout in (torch.strided, torch.sparse_coo, torch.sparse_csr)],
    }


def schemas(texts: Any) -> Any:
    """Every text as a schema, as a schema without type variables, and as an operator's name, for which it is empty.

    Each is [null, what PyTorch prints] or [exception, its text]; what is printed is null where it is no UTF-8.
    """

    def answer(parse: Any, text: str) -> Any:
        try:
            parsed = parse(text)
        except Exception as error:
            return [type(error).__name__, str(error)]
        try:
            return [None, str(parsed)]
        except UnicodeDecodeError:
            return [None, None]

    without = partial(core.parse_schema, allow_typevars=False)
    parsers = (core.parse_schema, without, lambda text: core._dispatch_dump(text) and "")
    return [[answer(parse, text) for parse in parsers] for text in texts]


ANSWERS: Any = {
    "schemas": schemas,
    "fakes": lambda asked: [fakes(*each) for each in enumerate(asked)],
    "orders": orders,
    "slots": slots,
    "gradients": gradients,
    "backend names": backend_names,
    "expressions": lambda asked: [expression(text) for text in asked],
}

if __name__ == "__main__":
    case, question = json.load(sys.stdin)
    print(json.dumps(ANSWERS[case](question)), flush=True)
    os._exit(0)
