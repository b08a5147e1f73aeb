"""Ways on from kernels that PyTorch's own Python code makes of a user's functions, and these functions.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer. A kernel's
function cannot be had from the dispatcher, but it is alive, and what it has closed over says for which operator it is.
"""

from __future__ import annotations

import gc
import importlib
import re
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Way = bool | str | dict[str, str] | None
    Place = tuple[str, str]
    """An operator and a key."""
    Made = tuple[Place, Way, dict[str, str], Any]
    """A kernel: how it goes on, what it is made of, and the user's function, where there is one."""
    Watched = dict[Place, list[tuple[Any, Any]]]
    """The libraries that registered functions, as weak references, and the functions, oldest first."""
    Known = tuple[Way, dict[str, str]]
    Describe = Callable[[Any], dict[str, str]]
    """The fields `kernel` and `at` of a function."""
    Ways = dict[Place, list[Known | None]]
    """Ways on from the Python kernels of an operator at a key, where known, and what these are made of; newest
    first."""

BY_CUSTOM_OP = "torch/_library/custom_ops.py:"
BY_LIBRARY = "torch/library.py:"
IN_2_4 = "registered at /dev/null:"
"""Part of the debug text of kernels that these files register."""


def ways(watched: Watched, describe: Describe) -> Ways:
    """Find every kernel made of these functions, by operator and key, whether it is registered or not.

    watched: what `looking.watch` has seen, which are functions as they are where they are not PyTorch's.
    """

    def known_kernels(maker: Any, kernel: Any) -> Iterator[tuple[Place, Known]]:
        for place, way, wraps, function in maker(closed_over(kernel)):
            yield place, (way, {**wraps, **({} if function is None else describe(users_function(function)))})

    by_place: Ways = {}
    for candidate in gc.get_objects():
        if type(candidate) is FunctionType and candidate.__closure__:
            maker = _maker_of(candidate)
            if maker is not None:
                by_place.update((place, [known]) for place, known in known_kernels(maker, candidate))

    def known_of(kernel: Any) -> Known | None:
        maker = _maker_of(kernel)
        if maker is None:
            return None, {"by": "function", **describe(users_function(kernel))}
        return next((known for _, known in known_kernels(maker, kernel)), None)

    for place, registered in watched.items():
        kernels = [kernel for library, kernel in registered if getattr(library(), "m", None) is not None]
        if kernels:
            by_place[place] = [known_of(kernel) for kernel in reversed(kernels)]
    return by_place


def _maker_of(function: Any) -> Any:
    """Reader of a function that PyTorch makes into a kernel; None for any other."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    return _MAKERS.get((code.co_filename.replace("\\", "/").rpartition("/torch/")[2], code.co_name))


def users_function(function: Any, fake: bool = False) -> Any:
    """The user's function inside of those that PyTorch puts around it.

    fake: of a fake implementation; None for that of ``custom_op``, while the user has registered none.
    """
    for _ in range(_WRAPPERS):
        inner = getattr(function, "__wrapped__", None)
        if inner is None and str(getattr(function, "__module__", "")).startswith(("torch.library", "torch._library.")):
            closed = closed_over(function)
            if fake and hasattr(closed.get("self"), "_abstract_fn"):
                return closed["self"]._abstract_fn
            inner = closed.get("fn", closed.get("func"))
        if inner is None:
            break
        function = inner
    return function


def note(operator: dict[str, Any], known: Ways) -> None:
    """Say of an operator's kernels how they go on and what they are made of, where that is known.

    A kernel is taken for a function that is alive where its debug text names the code that registers such functions.
    What `torch.library.impl` registers is from the same file as what `register_autograd` does, so there the kernel must
    be the only one of its key.
    """
    for key, kernels in operator["kernels"].items():
        functions = [kernel for kernel in kernels if _is_python(kernel)]
        for kernel, origin in zip(functions, known.get((operator["name"], key), ())):  # noqa: B905  (Python 3.8)
            if origin is None:
                continue
            debug, (way, wraps) = kernel["debug"], origin
            of_pytorch = BY_CUSTOM_OP in debug or (BY_LIBRARY in debug and len(kernels) == 1) or IN_2_4 in debug
            if wraps["by"] == "function" or of_pytorch:
                kernel["wraps"] = wraps
                if way is not None:
                    kernel["redispatches"] = way


def _is_python(kernel: dict[str, Any]) -> bool:
    """True if a dumped kernel is a Python function."""
    return kernel["signature"] is None and not kernel["unboxed"] and not kernel["fallthrough"]


def closed_over(function: Any) -> dict[str, Any]:
    """Variables that a function has closed over, by name; none for other objects."""
    names, cells = getattr(getattr(function, "__code__", None), "co_freevars", ()), getattr(function, "__closure__", ())
    return {name: value for name, cell in zip(names, cells or ()) for value in _contents(cell)}  # noqa: B905  (Python 3.8)


def _contents(cell: Any) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # nothing is in it yet
        return []


def _autograd(closed: dict[str, Any]) -> Iterator[Made]:
    generated = closed.get("Generated")
    operator, info = _inside(generated, "forward", "op"), _inside(generated, "backward", "info")
    if operator is not None:
        setup = getattr(info, "_setup_context_fn", None)
        wraps = {"by": "autograd", **({} if setup is None else {"setup_context": _qualified(setup)})}
        yield (operator.name(), "Autograd"), "below-autograd", wraps, getattr(info, "_backward_fn", None)


def _inside(generated: Any, method: str, name: str) -> Any:
    """Variable that a method of PyTorch's ``autograd.Function`` has closed over; for lists of tensors, one inside."""
    closed = closed_over(getattr(generated, method, None))
    inner = closed.get(f"orig_{method}")
    return closed.get(name) if inner is None else closed_over(inner).get(name)


def _in_place(closed: dict[str, Any]) -> Iterator[Made]:
    operator = closed.get("op") or getattr(closed.get("self"), "_opoverload", None)
    if operator is not None:
        yield (operator.name(), "ADInplaceOrView"), "below-key", {"by": "version-counters"}, None


def _backend(closed: dict[str, Any]) -> Iterator[Made]:
    if {"self", "device_type"} <= closed.keys():
        core = importlib.import_module("torch")._C
        definition, device = closed["self"], closed["device_type"]
        key = "CompositeExplicitAutograd" if device is None else core._dispatch_key_for_device(device)
        yield (definition._opoverload.name(), key), False, {"by": "kernel"}, definition._backend_fns.get(device)


def _backend_select(closed: dict[str, Any]) -> Iterator[Made]:
    if "self" in closed and hasattr(closed["self"], "_opoverload"):
        yield (closed["self"]._opoverload.name(), "BackendSelect"), None, {"by": "backend-select"}, None


def _vmap(closed: dict[str, Any]) -> Iterator[Made]:
    definition = closed.get("self")
    operator = closed.get("op_overload") or getattr(definition, "_opoverload", None)
    if operator is not None:
        function = closed.get("func") or getattr(definition, "_vmap_fn", None)
        yield (operator.name(), "FuncTorchBatched"), None, {"by": "vmap"}, function


def _autocast(closed: dict[str, Any]) -> Iterator[Made]:
    """The kernel of a custom operator; that of another one has closed over its Python kernel, which says the same."""
    inner = closed.get("_autocast_py_impl")
    closed = closed if inner is None else closed_over(getattr(inner, "__wrapped__", inner))
    operator = closed.get("_op") or getattr(closed.get("self"), "_opoverload", None)
    key = str(getattr(closed.get("autocast_dispatch_key"), "name", ""))
    if operator is not None and key:
        wraps = {"by": "autocast", "dtype": str(closed.get("cast_inputs")).rpartition(".")[2]}
        yield (operator.name(), key), {"exclude": key}, wraps, None


def _qualified(function: Any) -> str:
    """The name of a function of the user's."""
    function = users_function(function)
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__qualname__)}"


def note_fakes(operator: dict[str, Any], clean: Callable[[str], str], describe: Describe) -> None:
    """Note in a dumped operator which of its kernels at Meta are of fake implementations.

    The dump has the newest kernel first, and a fake implementation's kernel is of Python: without a signature, boxed
    only. Where there are more of these than fake implementations, those from PyTorch's own files come first, and then
    the newest ones.
    """
    fakes = _fakes(operator["name"])
    candidates = [row for row in operator["kernels"].get("Meta", ()) if row["signature"] is None and not row["unboxed"]]
    own = [candidate for candidate in candidates if _IN_PYTORCH.search(candidate["debug"])]
    if len(candidates) > len(fakes) and len(own) >= len(fakes):
        candidates = own
    for kernel, fake in zip(candidates, reversed(fakes)):  # noqa: B905  (Python 3.8 has no strict)
        function = users_function(fake.func, fake=True)
        known = {"missing": True} if function is None else {"kernel": describe(function)["kernel"]}
        kernel["fake"] = {**known, "source": clean(str(fake.source))}


def _fakes(name: str) -> list[Any]:
    """The fake implementations of an operator, oldest first (``torch._library.simple_registry``)."""
    registry = importlib.import_module("torch._library.simple_registry").singleton
    entry = registry._data.get(name)
    holder = getattr(entry, "fake_impl", None) or getattr(entry, "abstract_impl", None)
    kernels = getattr(holder, "kernels", None)
    if kernels is None:
        kernels = [getattr(holder, "kernel", None)]
    return [kernel for kernel in kernels if kernel is not None]


_MAKERS = {
    ("_library/autograd.py", "autograd_impl"): _autograd,
    ("_library/custom_ops.py", "adinplaceorview_impl"): _in_place,
    ("_library/custom_ops.py", "backend_impl"): _backend,
    ("_library/custom_ops.py", "backend_select"): _backend_select,
    ("_library/custom_ops.py", "wrapped_func"): _vmap,
    ("_library/custom_ops.py", "kernel"): _autocast,
    ("library.py", "wrapped_func"): _vmap,
    ("library.py", "kernel"): _autocast,
}
"""The functions that PyTorch makes into kernels: file and name, and what they are for.

How those of `register_vmap` go on is left out: they call the user's function, and what that calls is not known.
"""
_WRAPPERS = 8
"""Maximum number of functions that PyTorch puts around a user's."""
_IN_PYTORCH = re.compile(r"torch/(?:library|_library/\w+)\.py:\d+$")
"""End of the text of a kernel whose library PyTorch has made for a user."""
