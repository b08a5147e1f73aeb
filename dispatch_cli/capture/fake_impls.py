"""Which kernels at Meta a running PyTorch has from ``torch.library.register_fake``, and what these are.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from collections.abc import Callable

    Data = dict[str, Any]

META = "Meta"
_IN_PYTORCH = re.compile(r"torch/(?:library|_library/\w+)\.py:\d+$")
"""How the text of a kernel ends whose library PyTorch has made for a user."""
_WRAPPERS = 8
"""How many functions PyTorch puts around a user's, at most."""


def note(operator: Data, clean: Callable[[str], str], name_of: Callable[[Any], str]) -> None:
    """Note in a dumped operator which of its kernels at Meta are of fake implementations.

    The dump has the newest kernel first, and a fake implementation's kernel is of Python: without a signature, boxed
    only. Where there are more of these than fake implementations, those from PyTorch's own files come first, and then
    the newest ones.
    """
    fakes = _registered(operator["name"])
    if not fakes:
        return
    candidates = [one for one in operator["kernels"].get(META, ()) if one["signature"] is None and not one["unboxed"]]
    own = [one for one in candidates if _IN_PYTORCH.search(one["debug"])]
    if len(candidates) > len(fakes) and len(own) >= len(fakes):
        candidates = own
    for kernel, fake in zip(candidates, reversed(fakes)):  # noqa: B905  (Python 3.8 has no strict)
        function = _users(fake.func)
        known = {"missing": True} if function is None else {"kernel": clean(name_of(function))}
        kernel["fake"] = {**known, "source": clean(str(fake.source))}


def _registered(name: str) -> list[Any]:
    """The fake implementations of an operator, oldest first (``torch._library.simple_registry``)."""
    registry = importlib.import_module("torch._library.simple_registry").singleton
    entry = registry._data.get(name)
    holder = getattr(entry, "fake_impl", None) or getattr(entry, "abstract_impl", None)
    if holder is None:
        return []
    kernels = getattr(holder, "kernels", None)
    if kernels is None:
        kernels = [] if holder.kernel is None else [holder.kernel]
    return list(kernels)


def _users(function: Any) -> Any:
    """The user's function inside the ones that PyTorch puts around it; None where there is none (``custom_op``)."""
    for _ in range(_WRAPPERS):
        inner = getattr(function, "__wrapped__", None)
        if inner is None and str(getattr(function, "__module__", "")).startswith(("torch.library", "torch._library.")):
            names = getattr(getattr(function, "__code__", None), "co_freevars", ())
            variables = dict(zip(names, map(_content, getattr(function, "__closure__", None) or ())))  # noqa: B905
            if hasattr(variables.get("self"), "_abstract_fn"):
                return variables["self"]._abstract_fn
            inner = variables.get("func")
        if inner is None:
            break
        function = inner
    return function


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None
