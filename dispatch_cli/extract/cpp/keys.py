"""Dispatch keys as C++ names them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dispatch_cli.extract.cpp.tokens import CppToken, spelled
from dispatch_cli.model.extracted import Unknown

_SAME = {
    "Autocast": "AutocastCUDA",
    "CPUTensorId": "CPU",
    "CUDATensorId": "CUDA",
    "DefaultBackend": "CompositeExplicitAutograd",
    "PrivateUse1_PreAutograd": "AutogradPrivateUse1",
    "PrivateUse2_PreAutograd": "AutogradPrivateUse2",
    "PrivateUse3_PreAutograd": "AutogradPrivateUse3",
}
"""Other names of keys in ``enum class DispatchKey`` (c10/core/DispatchKey.h)."""
_DEVICES = (
    *("CPU", "CUDA", "IPU", "XLA", "Lazy", "XPU", "MPS", "Meta", "HIP", "ORT", "MAIA", "HPU", "MTIA", "PrivateUse1"),
    *("VE", "FPGA", "Vulkan", "Metal"),
)
"""Device types that ``torch::dispatch`` takes; the key has the same name (torch/library.h)."""
_CONSTANTS = {f"k{device}": device for device in _DEVICES} | {"kAutograd": "Autograd"}
_KEY = re.compile(r"(?:::)?(?:(?:c10|at|torch)::)*(?:DispatchKey|DeviceType)::(\w+)")
_CONSTANT = re.compile(r"(?:::)?(?:(?:c10|at|torch)::)*(k\w+)")
_MACRO = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")

CATCH_ALL = frozenset({"CatchAll", "Undefined"})
"""A block or a kernel at these is for no particular key."""


def is_macro_like(name: str) -> bool:
    """True if a name looks like that of a macro, not of a namespace or key."""
    return _MACRO.fullmatch(name) is not None


def block_key(tokens: Sequence[CppToken]) -> str | Unknown | None:
    """The key of ``TORCH_LIBRARY_IMPL``: a member of ``c10::DispatchKey``."""
    text = "".join(token.text for token in tokens)
    if not text.isidentifier() or is_macro_like(text):
        return key_of(tokens) or Unknown(spelled(tuple(tokens)))
    return None if text in CATCH_ALL else _SAME.get(text, text)


def key_of(tokens: Sequence[CppToken]) -> str | Unknown | None:
    """Key that an expression for a key or a device type names; ``CatchAll`` for the catch-all, None for others."""
    text = "".join(token.text for token in tokens)
    match = _KEY.fullmatch(text)
    if match:
        return Unknown(text) if is_macro_like(match[1]) else _SAME.get(match[1], match[1])
    match = _CONSTANT.fullmatch(text)
    return _CONSTANTS.get(match[1]) if match else None
