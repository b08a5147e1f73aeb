"""Call operators on a live PyTorch, as they are declared and after a change, and say which calls work.

usage: PYTHON live_advice.py ASKED.json SAID.json   (run with the Python that has PyTorch)

ASKED: cases, each with a schema, kernels [key, how it goes on] before and after, and calls: a tensor (or none), whether
in inference mode, under vmap, and a device argument. SAID: of each case, for each call, the error before and after.
Kernels compute a result, call other operators, or redispatch, and return what they get.
"""

import contextlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, List  # noqa: UP035

import torch

warnings.simplefilter("ignore")
core: Any = torch._C
functorch = core._functorch
NAMESPACE = "live_advice"
library = core._dispatch_library("FRAGMENT", NAMESPACE, "", "live_advice.py", 1)  # as C++ does; it refuses less
ids: Dict[str, int] = {}  # noqa: UP006
LAYOUTS = {"sparse": torch.sparse_coo, "sparse_csr": torch.sparse_csr}


class Foreign(torch.Tensor):
    """A tensor of a device that this build does not have."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


def tensor(text: str) -> Any:
    device, *kinds = text.split()
    kind = kinds[0] if kinds else ""
    if device not in ("cpu", "meta"):
        own: Dict[str, Any] = {"layout": LAYOUTS[kind]} if kind in LAYOUTS else {}  # noqa: UP006
        return torch.Tensor._make_wrapper_subclass(Foreign, (2, 2), device=device, **own)  # type: ignore[attr-defined]
    if kind == "nested":
        return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    if kind == "quantized":
        return torch.quantize_per_tensor(torch.ones(2, 2), 1.0, 0, torch.quint8)
    plain = torch.ones(2, 2, device=device)
    if kind == "mkldnn":
        return plain.to_mkldnn()
    return plain.to_sparse(layout=LAYOUTS[kind]) if kind else plain


def operator(name: str) -> Any:
    return getattr(getattr(torch.ops, NAMESPACE), name).default


def first_tensor(values: Any) -> Any:
    for value in values:
        inner = first_tensor(value) if isinstance(value, (list, tuple)) else value
        if isinstance(inner, torch.Tensor):
            return inner
    return None


def result(schema: str, values: Any) -> Any:
    if schema.endswith("()"):
        return None
    return first_tensor(values) if "-> Tensor(" in schema else torch.ones(2, 2)


def by_device(arguments: Any, named: Any) -> Any:
    device = next(
        (argument for argument in (*arguments, *named.values()) if isinstance(argument, torch.device)),
        torch.device("cpu"),
    )
    return core.DispatchKeySet(key_of(KEYS[device.type]))


KEYS: Dict[str, str] = {}  # noqa: UP006


def key_of(name: str) -> Any:
    return core.DispatchKey(ids[name])


def make_kernel(name: str, schema: str, goes: str) -> Callable[..., Any]:
    def kernel(keyset: Any, *arguments: Any, **named: Any) -> Any:
        if goes in ("computes", "other-operators"):
            return result(schema, arguments)
        if goes == "by-device" and "Device" in schema:
            return operator(name).redispatch(by_device(arguments, named), *arguments, **named)
        if goes == "unwrapped":
            level = functorch.maybe_current_level()
            values = [
                functorch._unwrap_batched(argument, level)[0] if isinstance(argument, torch.Tensor) else argument
                for argument in arguments
            ]
            with core._ExcludeDispatchKeyGuard(core.DispatchKeySet(core.DispatchKey.FuncTorchBatched)):
                return operator(name)(*values, **named)
        if goes == "below-autograd":
            rest = keyset & core._dispatch_keyset_full_after(core.DispatchKey.AutogradOther)
        else:
            own = core._to_functionality_key(keyset.highestPriorityTypeId())
            rest = keyset & core._dispatch_keyset_full_after(own)
        return operator(name).redispatch(rest, *arguments, **named)

    return kernel


def define(name: str, schema: str, kernels: List[Any]) -> None:  # noqa: UP006
    library.define(f"{name}{schema}")
    for key, goes in kernels:
        if goes == "fallthrough":
            library.impl(name, key, torch.library.fallthrough_kernel, False)
        else:
            library.impl(name, key, make_kernel(name, schema, goes), True)


def call(name: str, asked: Any) -> Any:
    called = operator(name)
    try:
        with contextlib.ExitStack() as stack:
            if asked["inference"]:
                stack.enter_context(torch.inference_mode())
            positional: List[Any] = []  # noqa: UP006
            named = {}
            value = None if asked["tensor"] is None else tensor(asked["tensor"])
            if isinstance(value, Foreign):
                python = core.DispatchKeySet(core.DispatchKey.Python)
                python = python | core.DispatchKeySet(core.DispatchKey.PythonTLSSnapshot)
                stack.enter_context(core._ExcludeDispatchKeyGuard(python))
            for argument in called._schema.arguments:
                kind = str(argument.type)
                if kind == "List[Tensor]":
                    positional.append([] if value is None else [value])
                elif "Tensor" in kind:
                    positional.append(value)
                elif "Device" in kind:
                    named[argument.name] = torch.device(asked["device"])
                else:
                    positional.append(1)
            if asked["vmap"]:
                torch.vmap(lambda *given: (called(*given, **named), given)[1])(*positional)  # it may return nothing
            else:
                called(*positional, **named)
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return None


def main() -> None:
    asked = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    ids.update(asked["ids"])
    KEYS.update(asked["devices"])
    results = []
    for number, case in enumerate(asked["cases"]):
        answers = {}
        for when in ("before", "after"):
            name = f"op{number}_{when}"
            define(name, case["schema"], case[when])
            answers[when] = [call(name, asked_call) for asked_call in case["calls"]]
        results.append(answers)
    Path(sys.argv[2]).write_text(json.dumps(results), encoding="utf-8")


main()
