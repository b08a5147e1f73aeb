"""Treatment of tensors of different devices in one call by a running PyTorch's ``FakeTensorMode``.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer. Nothing is
called on a device: ``FakeTensor._find_common_device``, which the mode asks, is given fake tensors.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from collections.abc import Callable, Iterable

    Data = dict[str, Any]
    Make = Callable[[str, tuple[int, ...]], Any]
    """Makes a fake tensor of a device and a size."""

CPU, META, OTHER = "cpu", "meta", "cuda"
"""OTHER stands for every device that is neither of the first two; none of its tensors is really there."""
SIZE: tuple[int, ...] = (2, 2)
CHANGED = (AttributeError, ImportError, TypeError, ValueError)
"""Errors that are raised where this PyTorch keeps it in another way."""


def about_mode(devices: Iterable[str]) -> Data:
    """Facts about the mode, as far as this PyTorch says them.

    fake_numbered: the device types of which every fake tensor has a number, as ``cuda:0``. fake_device_error: the error
    for two devices, as ``TYPE: TEXT`` with ``{operator}``, ``{first}`` and ``{second}`` in their places.
    """
    try:
        make, common = _parts()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old device types
            numbered = [device for device in devices if _is_numbered(make, device)]
        operator = importlib.import_module("torch").ops.aten.mul.Tensor
        first, second = make(CPU, SIZE), make(OTHER, SIZE)
        error = _error(common, operator, first, second)
    except CHANGED:
        return {}
    if error is None:
        return {"fake_numbered": numbered}
    text = str(error)
    for name, value in (("operator", operator), ("second", second.device), ("first", first.device)):
        text = text.replace(str(value), "{" + name + "}")
    return {"fake_numbered": numbered, "fake_device_error": f"{type(error).__name__}: {text}"}


def note_rules(operators: dict[str, Any], rules_of: Callable[[str], Data]) -> None:
    """Note of which operators the mode takes tensors of different devices in another way than of the others.

    operators: those of ``torch.ops``, by name. rules_of: what is noted of an operator of that name.
    """
    try:
        make, common = _parts()
        tensors = {device: make(device, SIZE) for device in (CPU, META, OTHER)}
        without_dimensions = make(CPU, ())
    except CHANGED:
        return
    for name, operator in operators.items():
        for device, others in ((CPU, (META, OTHER)), (META, (CPU, OTHER))):
            if all(_error(common, operator, tensors[device], tensors[other]) is None for other in others):
                rules_of(name)["mixes"] = device
        if _error(common, operator, without_dimensions, tensors[OTHER]) is not None:
            rules_of(name)["zero_dim_counts"] = True


def _parts() -> tuple[Make, Callable[..., Any]]:
    torch = importlib.import_module("torch")
    module = importlib.import_module("torch._subclasses.fake_tensor")
    mode = module.FakeTensorMode()

    def make(device: str, size: tuple[int, ...]) -> Any:
        return module.FakeTensor(mode, torch.empty(size, device=META), torch.device(device))

    return make, module.FakeTensor._find_common_device


def _is_numbered(make: Make, device: str) -> bool:
    """A backend that is not there cannot be asked for its current device, which has a number."""
    try:
        return make(device, SIZE).device.index is not None
    except AttributeError:
        return True
    except RuntimeError:
        return False


def _error(common: Callable[..., Any], operator: Any, *tensors: Any) -> RuntimeError | None:
    try:
        common(operator, list(tensors))
    except RuntimeError as error:
        return error
    return None
