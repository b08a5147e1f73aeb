"""Answers of a live PyTorch to questions about registrations and key sets.

usage: PYTHON live_answers.py < ASKED.json   (run with the Python that has PyTorch)

ASKED: the name of a function of `ANSWERS`, and what it is asked. Prints its answer as JSON.
"""

import importlib
import json
import os
import re
import sys
import tempfile
import warnings
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


def overrides(number: int, steps: Any) -> Any:
    """The previous kernel that each warning of an override names; the warnings come from C++ and from Python.

    Steps: ["cpp", KEY, NAME], ["python", KEY, NAME], ["drop", NAME].
    """
    torch.set_warn_always(True)
    warnings.simplefilter("always")
    name, registered = f"op{number}", {}
    definition = core._dispatch_library("FRAGMENT", "overrides", "")
    definition.def_(f"{name}(Tensor x) -> Tensor")
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        for kind, *rest in steps:
            if kind == "drop":
                dropped = registered.pop(rest[0])
                dropped._destroy() if isinstance(dropped, torch.library.Library) else dropped.reset()
                del dropped
            elif kind == "cpp":
                registered[rest[1]] = core._dispatch_library("IMPL", "overrides", "")
                registered[rest[1]].impl_t_t(name, *rest)
            else:
                registered[rest[1]] = torch.library.Library("overrides", "IMPL")
                registered[rest[1]].impl(name, lambda x: x.clone(), rest[0], allow_override=True)
        sys.stderr.flush()
        os.dup2(stderr, 2)
        os.close(stderr)
        file.seek(0)
        return re.findall(r"^  previous kernel: (.*)$", file.read().decode(), re.MULTILINE)


def blocks(number: int, history: Any) -> Any:
    """Blocks with the steps ["def", SCHEMA] or ["impl", KEY, DEBUG]: after each its error, dumps, and the invariants.

    A block that throws is destroyed on the spot, as a static initialiser's ``Library`` is.
    """
    held, after, name = [], [], f"blocks{number}::foo"
    for block in history:
        library, error = core._dispatch_library("FRAGMENT", f"blocks{number}", ""), None
        try:
            for step in block:
                if step[0] == "def":
                    library.def_(step[1])
                else:
                    library.impl_t_t("foo", dispatch=step[1], debug=step[2])
        except RuntimeError as refused:
            error = str(refused)
        else:
            held.append(library)
        del library
        dumps = {"dump": core._dispatch_dump(name), "table": core._dispatch_dump_table(name)}
        after.append({"error": error, **dumps, "holds": invariants_hold(name)})
    return after


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


ANSWERS: Any = {
    "fakes": lambda asked: [fakes(*each) for each in enumerate(asked)],
    "overrides": lambda asked: [overrides(*each) for each in enumerate(asked)],
    "blocks": lambda asked: [blocks(*each) for each in enumerate(asked)],
    "orders": orders,
    "expressions": lambda asked: [expression(text) for text in asked],
}

if __name__ == "__main__":
    case, question = json.load(sys.stdin)
    print(json.dumps(ANSWERS[case](question)), flush=True)
    os._exit(0)
