"""Rules that ``FakeTensorMode`` of a running PyTorch has, beside kernels and fake implementations.

Source: ``_dispatch_impl`` in ``torch/_subclasses/fake_tensor.py``.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer.
"""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from collections.abc import Callable, Iterable
    from types import ModuleType

    Data = dict[str, Any]
    Devices = Callable[[dict[str, Any], Callable[[str], Data]], None]

META = "Meta"
NAMESPACE = "dispatch_cli_fake_probe"
"""Namespace of the operator that is made to try the mode."""
PRIMS = "prims::"
"""Part of the name of an operator that the mode takes for a primitive."""


def about_mode(torch: Any) -> Data:
    """Facts about ``register_fake`` and the mode, as far as this PyTorch says them.

    fake_overrides: ``register_fake`` has a parameter ``allow_override`` that is true by default. fake_fallbacks: the
    namespaces of the operators whose own kernels the mode runs where there is nothing for fake tensors.
    fake_without_device: it calls a factory that takes no device as it is.
    """
    override = inspect.signature(torch.library.register_fake).parameters.get("allow_override")
    data: Data = {"fake_overrides": override is not None and override.default is True}
    mode = importlib.import_module("torch._subclasses.fake_tensor").FakeTensorMode
    data["fake_without_device"] = _calls_without_device(torch, mode)
    namespaces = getattr(mode, "_can_run_unsafe_fallback_allowed_namespaces", None)
    return data if namespaces is None else {"fake_fallbacks": sorted(namespaces), **data}


def _calls_without_device(torch: Any, mode: Any) -> bool:
    """True if the mode calls a factory that takes no device. One is made, and is gone afterwards."""
    library = torch.library.Library(NAMESPACE, "FRAGMENT")
    try:
        library.define("factory() -> Tensor")
        library.impl("factory", lambda: torch.empty(2, device="meta"), META)
        with mode():
            getattr(torch.ops, NAMESPACE).factory.default()
    except (AssertionError, AttributeError, RuntimeError, TypeError):
        return False
    finally:
        library._destroy()
    return True


def note_rules(
    operators: dict[str, Data], name_of: Callable[[Any], str], devices: Devices, sources: ModuleType
) -> bool:
    """Note in dumped operators, by name, what the mode has for them (the field ``fake_tensor_mode``).

    devices: notes what it has for tensors of different devices (``fake_devices.note_rules``). sources: the part of the
    probe that reads sources (``fake_sources``).
    False where this PyTorch keeps it in another way; nothing is noted then.
    """
    try:
        rules_by_name = _rules(operators, name_of, devices, sources)
    except (AttributeError, ImportError, TypeError):
        return False
    for name, rules in rules_by_name.items():
        if name in operators:
            operators[name]["fake_tensor_mode"] = rules
    return True


def _rules(
    operators: Iterable[str], name_of: Callable[[Any], str], devices: Devices, sources: ModuleType
) -> dict[str, Data]:
    """Rules of the mode for operators, by their names."""
    ops = importlib.import_module("torch._ops")
    decompositions = importlib.import_module("torch._decomp")
    modes = importlib.import_module("torch._subclasses.fake_tensor")
    impls = importlib.import_module("torch._subclasses.fake_impls")
    by_operator: dict[str, Data] = {}

    def rules_of(operator: Any) -> Data:
        return by_operator.setdefault(operator.name(), {})

    for operator, function in decompositions.decomposition_table.items():
        if isinstance(operator, ops.OpOverload) and modes.torch_decomp_decompositions(operator):
            rules_of(operator)["decomposition"] = name_of(function)
    mode = modes.FakeTensorMode()
    in_python = {name: _in_python(name) for name in operators}
    overloads = {name: operator for name, operator in in_python.items() if isinstance(operator, ops.OpOverload)}
    for name, operator in overloads.items():
        if operator in decompositions.meta_table or mode.cpp_meta_supports_symint(operator):
            rules_of(operator)["no_decomposition"] = True
        if refused := sources.refused(decompositions.meta_table.get(operator)):
            rules_of(operator)["meta_refuses"] = refused
        if PRIMS in name and hasattr(operator, "prim_meta_impl"):
            rules_of(operator)["prim_meta"] = name_of(operator.prim_meta_impl)
    for operator, function in impls.op_implementations_dict.items():
        rules = rules_of(operator)
        rules["implementation"] = name_of(function)
        if raised := sources.raised(function, operator):
            rules["raises"] = raised
    devices(overloads, lambda name: by_operator.setdefault(name, {}))
    return by_operator


def _in_python(name: str) -> Any:
    """The operator of ``torch.ops``; None where it cannot be had."""
    namespace, _, rest = name.partition("::")
    short, _, overload = rest.partition(".")
    try:
        packet = getattr(getattr(importlib.import_module("torch").ops, namespace), short)
        return getattr(packet, overload or "default")
    except (AttributeError, RuntimeError):
        return None
