"""A script for a Python that has PyTorch: the names of ``torch._C`` that are about dispatch, and what some of them do.

usage: PYTHON live_names.py; writes JSON.
"""

from __future__ import annotations

import json
import pickle
import re
from typing import Any

import torch

C: Any = torch._C
ABOUT_DISPATCH = re.compile(
    r"^_dispatch|^_?Dispatch|DispatchKey|_parse_dispatch_key|functionality|AutoDispatch|PythonDispatcher|PreDispatch"
    r"|^_after_\w+_keyset|_additional_keys|[Ff]unctorch|_functionalization|only_lift|_DisableTorchDispatch"
)
METHODS = ("_DispatchModule", "_DispatchOperatorHandle", "DispatchKeySet")


def signature(thing: Any) -> str | None:
    """The first line of what pybind says of a function."""
    return (getattr(thing, "__doc__", None) or "").strip().partition("\n")[0] or None


def names() -> dict[str, Any]:
    """Every name: the signature of a function, the signatures of the methods of a class, or what kind it is."""
    texts: dict[str, Any] = {}
    for name in filter(ABOUT_DISPATCH.search, dir(C)):
        thing = getattr(C, name)
        if isinstance(thing, type):
            members = {own: signature(member) for own, member in vars(thing).items() if callable(member)}
            members = {own: said for own, said in members.items() if said and said.startswith(f"{own}(")}
            texts[name] = members if name in METHODS else {"__init__": members.get("__init__")}
        else:
            texts[name] = signature(thing) if callable(thing) else type(thing).__name__
    return texts


def keyset(keys: list[str]) -> Any:
    key_set = C.DispatchKeySet(getattr(C.DispatchKey, keys[0]))
    for key in keys[1:]:
        key_set = key_set | C.DispatchKeySet(getattr(C.DispatchKey, key))
    return key_set


def raised(call: Any) -> list[str]:
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error)]
    return []


def pickled(value: Any) -> list[Any]:
    """The unpickled value, and if it is equal; the error where it cannot be pickled (key sets in 2.4)."""
    try:
        back = pickle.loads(pickle.dumps(value))
    except TypeError as error:
        return ["TypeError", str(error)]
    return [str(back), back == value]


def facts() -> dict[str, Any]:
    module = C._dispatch_library("FRAGMENT", "live_names", "")
    key, some = C.DispatchKey.SparseCPU, keyset(["CPU", "Conjugate"])
    return {
        "wrapped": str(C._additional_keys_to_prop_for_wrapper_tensors),
        "modes": {name: [int(one), str(one), repr(one)] for name, one in C._TorchDispatchModeKey.__members__.items()},
        "pickled": [pickled(item) for item in (key, some)],
        "tags": raised(lambda: module.define("f(Tensor x) -> Tensor", tags=["x"])),
    }


def main() -> None:
    print(json.dumps({"names": names(), "facts": facts()}), flush=True)


if __name__ == "__main__":
    main()
