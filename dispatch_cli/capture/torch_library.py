"""Registrations by ``torch.library`` of a running PyTorch: operators are made, looked at, and taken away again.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from collections.abc import Callable, Iterator

    Data = dict[str, Any]

FUNCTIONS = ("register_kernel", "register_fake", "register_autograd", "register_vmap", "register_autocast")
KEYS = {
    "register_kernel": "CPU",
    "register_fake": "Meta",
    "register_autograd": "Autograd",
    "register_vmap": "FuncTorchBatched",
    "register_autocast": "AutocastCPU",
}
"""Keys at which each registers its kernel."""
_DEVICES = re.compile(r"Expected one of (.*?) device type")


def facts(torch: Any, namespace: str, registered: Callable[[str], Data]) -> Data | None:
    """The fields of `dispatch_cli.model.universe.TorchLibrary`; None where this PyTorch has no ``custom_op``.

    namespace: one that is not in use. registered: gives the dump of an operator, in pieces.
    """
    library = torch.library
    if not hasattr(library, "custom_op"):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with _operators(torch, namespace) as make:
            plain = make("plain", "(Tensor x) -> Tensor")
            view = make("view", "(Tensor(a) x) -> Tensor(a)")
            make("factory", "(Device device) -> Tensor", "cpu")
            dump, factory, of_view = (registered(f"{namespace}::{name}") for name in ("plain", "factory", "view"))
            return {
                "custom_op": dump["debug"],
                "fake": dump["kernels"]["Meta"][0]["debug"],
                "functions": _functions(torch, namespace, registered),
                "tags": sorted(tag.name for tag in plain._opoverload.tags),
                "takes_tags": "tags" in inspect.signature(library.custom_op).parameters,
                "backend_select": "BackendSelect" in factory["kernels"],
                "view_fallback": "ADInplaceOrView" in of_view["kernels"],
                "views_differentiable": _takes(lambda: view.register_autograd(lambda *_: None)),
                "checks_gradients": _checks_gradients(torch, plain),
                "overrides": "allow_override" in inspect.signature(library.Library.impl).parameters,
                **_devices(torch),
            }


@contextlib.contextmanager
def _operators(torch: Any, namespace: str) -> Iterator[Callable[..., Any]]:
    """Makes operators of ``custom_op``, which are gone afterwards."""
    names: list[str] = []
    libraries = importlib.import_module("torch._library.custom_ops").OPDEF_TO_LIB

    def make(name: str, schema: str, device: str | None = None) -> Any:
        names.append(f"{namespace}::{name}")
        return torch.library.custom_op(names[-1], _clone, mutates_args=(), schema=schema, device_types=device)

    try:
        yield make
    finally:
        for name in names:
            if name in libraries:
                libraries.pop(name)._destroy()


def _clone(x: Any) -> Any:
    return x.clone()


def _functions(torch: Any, namespace: str, registered: Callable[[str], Data]) -> dict[str, str]:
    """The functions that there are, with the debug text of what they register, where that is the same in every call."""
    library = torch.library
    kept = library.Library(namespace, "FRAGMENT")
    texts: dict[str, list[str]] = {}
    kept.define("one(Tensor x) -> Tensor")
    kept.define("other(Tensor x) -> Tensor")
    before = len(library._keep_alive)
    try:
        for name in FUNCTIONS:
            if hasattr(library, name):
                _register(torch, name, f"{namespace}::one", again=False)
                _register(torch, name, f"{namespace}::other", again=True)
                dumps = [registered(f"{namespace}::{op}") for op in ("one", "other")]
                texts[name] = [dump["kernels"][KEYS[name]][0]["debug"] for dump in dumps]
        library.define(f"{namespace}::third", "(Tensor x) -> Tensor")
        texts["define"] = [registered(f"{namespace}::third")["debug"]] * 2
        if hasattr(library, "triton_op"):
            texts["triton_op"] = ["", ""]
    finally:
        for temporary in library._keep_alive[before:]:
            temporary._destroy()
        del library._keep_alive[before:]
        kept._destroy()
    return {name: text if text == other else "" for name, (text, other) in texts.items()}


def _register(torch: Any, name: str, operator: str, again: bool) -> None:
    """Register something. again: the call is on another line, so that a text with the place of the call differs."""
    register = getattr(torch.library, name)
    more = {"register_kernel": ("cpu", _clone), "register_autocast": ("cpu", torch.bfloat16)}.get(name, (_clone,))
    if again:
        register(operator, *more)
    else:
        register(operator, *more)


def _takes(act: Callable[[], object]) -> bool:
    try:
        act()
    except Exception:
        return False
    return True


def _checks_gradients(torch: Any, plain: Any) -> bool:
    """True if setup_context is left out where no gradient is needed."""
    ran: list[bool] = []
    plain.register_autograd(lambda *_: None, setup_context=lambda **_: ran.append(True))
    plain.register_fake(torch.empty_like)
    plain(torch.empty(1, device="meta"))
    return not ran


def device_types(torch: Any) -> list[str]:
    """The device types that PyTorch lists when it is asked for one that it does not have."""
    try:
        torch.device("no_such_device")
    except RuntimeError as error:
        match = _DEVICES.search(str(error))
    return [] if match is None else [name.strip() for name in match[1].split(",")]


def _devices(torch: Any) -> Data:
    names = device_types(torch)
    available = getattr(torch._C, "_is_autocast_available", None)
    return {
        "device_types": names,
        "autocast_devices": [] if available is None else [name for name in names if _is_available(available, name)],
    }


def _is_available(available: Callable[[str], bool], device: str) -> bool:
    try:
        return bool(available(device))
    except RuntimeError:
        return False
