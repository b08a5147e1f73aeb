"""A script for a Python that has PyTorch: the names of ``torch._C`` that are about dispatch.

usage: PYTHON live_names.py; writes JSON.
"""

from __future__ import annotations

import json
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


def main() -> None:
    print(json.dumps(names()), flush=True)


if __name__ == "__main__":
    main()
