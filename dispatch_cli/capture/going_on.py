"""How kernels go on that PyTorch's own Python code makes, such as those of `torch.library.custom_op`.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer. A kernel's
function cannot be had from the dispatcher, but it is alive, and what it has closed over says for which operator it is.
"""

from __future__ import annotations

import gc
import importlib
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    Way = bool | str
    Ways = dict[tuple[str, str], Way]
    """How the kernel of an operator at a key goes on."""

BY_CUSTOM_OP = "torch/_library/custom_ops.py:"
BY_LIBRARY = "torch/library.py:"
"""In the debug text of kernels that these files register."""


def ways() -> Ways:
    """Every kernel of these functions that is made, by operator and key; whether it is registered they do not say."""
    found: Ways = {}
    for one in gc.get_objects():
        if type(one) is FunctionType and one.__closure__:
            maker = _MAKERS.get(
                (one.__code__.co_filename.replace("\\", "/").rpartition("/torch/")[2], one.__code__.co_name)
            )
            if maker is not None:
                found.update(maker(closed_over(one)))
    return found


def note(operator: dict[str, Any], known: Ways) -> None:
    """Say of an operator's active kernels how they go on, where that is known.

    A kernel is taken for a function that is alive where its debug text names the code that registers such functions.
    What `torch.library.impl` registers is from the same file as what `register_autograd` does, so there the kernel must
    be the only one of its key.
    """
    for key, kernels in operator["kernels"].items():
        way = known.get((operator["name"], key))
        debug = kernels[0]["debug"]
        if way is not None and (BY_CUSTOM_OP in debug or (BY_LIBRARY in debug and len(kernels) == 1)):
            kernels[0]["redispatches"] = way


def closed_over(function: Any) -> dict[str, Any]:
    """What a function has taken along from the function that it was made in, by name."""
    names, cells = function.__code__.co_freevars, function.__closure__ or ()
    return {name: value for name, cell in zip(names, cells) for value in _contents(cell)}  # noqa: B905  (Python 3.8)


def _contents(cell: Any) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # nothing is in it yet
        return []


def _name_of(operator: Any) -> str:
    name, overload = str(operator._schema.name), str(operator._schema.overload_name)
    return f"{name}.{overload}" if overload else name


def _autograd(closed: dict[str, Any]) -> Iterator[tuple[tuple[str, str], Way]]:
    if "op" in closed:
        yield (_name_of(closed["op"]), "Autograd"), "below-autograd"


def _in_place(closed: dict[str, Any]) -> Iterator[tuple[tuple[str, str], Way]]:
    if "op" in closed:
        yield (_name_of(closed["op"]), "ADInplaceOrView"), "below-key"


def _backend(closed: dict[str, Any]) -> Iterator[tuple[tuple[str, str], Way]]:
    if {"self", "device_type"} <= closed.keys():
        core = importlib.import_module("torch")._C
        device = closed["device_type"]
        key = "CompositeExplicitAutograd" if device is None else core._dispatch_key_for_device(device)
        yield (_name_of(closed["self"]._opoverload), key), False


def _fake(closed: dict[str, Any]) -> Iterator[tuple[tuple[str, str], Way]]:
    if "qualname" in closed:
        yield (closed["qualname"].replace(".default", ""), "Meta"), "raises" if _has_no_fake(closed) else False


def _has_no_fake(closed: dict[str, Any]) -> bool:
    """Whether the operator is of `custom_op`, and the fake implementation that it needs is not registered."""
    function = getattr(getattr(closed.get("fake_impl_holder"), "kernel", None), "func", None)
    function = closed_over(function).get("func", function) if hasattr(function, "__code__") else None
    definition = closed_over(function).get("self") if hasattr(function, "__code__") else None
    operator = getattr(definition, "_opoverload", None)
    if operator is None or getattr(definition, "_abstract_fn", None) is not None:
        return False
    utils = importlib.import_module("torch._library.utils")
    is_trivial = getattr(utils, "can_generate_trivial_fake_impl", None)
    return is_trivial is None or not is_trivial(operator)


_MAKERS = {
    ("_library/autograd.py", "autograd_impl"): _autograd,
    ("_library/custom_ops.py", "adinplaceorview_impl"): _in_place,
    ("_library/custom_ops.py", "backend_impl"): _backend,
    ("_library/fake_impl.py", "meta_kernel"): _fake,
}
"""The functions that PyTorch makes into kernels: file and name, and what they are for.

Those of `register_vmap` are left out: they call the user's function, and what that calls is not known.
"""
