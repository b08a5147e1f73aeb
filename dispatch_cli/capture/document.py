"""What the probe found, as the document of a declaration file: plain mappings, lists, texts, numbers and booleans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Document = dict[str, Any]

MAX_KEYS_TEXT = 500
"""Characters of comma-separated keys. YAML allows 1,024 for the name of a field."""

_DEFAULT_ALIAS_ANALYSIS = "FROM_SCHEMA"
_FALLTHROUGH = "fallthrough"


def document(state: Mapping[str, Any]) -> Document:
    """The declarations of a captured state. They load back to the same state.

    state: what `dispatch_cli.capture.probe` writes.
    """
    found = {
        "dispatch": 1,
        "snapshot": True,
        "universe": state["universe"],
        "operators": [_operator(operator) for operator in state["operators"]],
        "higher_order_operators": [_higher_order_operator(operator) for operator in state["higher_order_operators"]],
    }
    if state["modes"]:
        found["modes"] = {name: {"supports_higher_order_operators": True} for name in state["modes"]}
    return found


def _operator(operator: Mapping[str, Any]) -> Document:
    found: Document = {}
    if operator["schema"] is None:
        found["name"] = operator["name"]
    else:
        found["func"] = operator["schema"]
        found["debug"] = operator["debug"]
        if operator["alias_analysis"] != _DEFAULT_ALIAS_ANALYSIS:
            found["alias_analysis"] = operator["alias_analysis"]
    if operator["tags"]:
        found["tags"] = operator["tags"]
    if operator["kernels"]:
        found["dispatch"] = _grouped((key, _kernels(kernels)) for key, kernels in operator["kernels"].items())
    if operator["python"]:
        found["python_dispatch"] = _grouped(operator["python"].items())
    return found


def _kernels(kernels: list[Mapping[str, Any]]) -> Any:
    """The kernels of one key: what is registered last is active, and the probe has the active one first."""
    found = [_kernel(kernel) for kernel in reversed(kernels)]
    return found[0] if len(found) == 1 else found


def _kernel(kernel: Mapping[str, Any]) -> Document:
    """A kernel without what holds anyway.

    It is known by its debug text alone, never by a name: kernels of one name would be one function, and whether two
    registrations are one function is not in a dump.
    """
    found: Document = {"debug": kernel["debug"]}
    if kernel["signature"] is not None:
        found["signature"] = kernel["signature"]
    if kernel[_FALLTHROUGH]:
        found[_FALLTHROUGH] = True
    if not kernel["boxed"]:
        found["boxed"] = False
    if kernel["unboxed"] != (kernel["signature"] is not None and not kernel[_FALLTHROUGH]):
        found["unboxed"] = kernel["unboxed"]
    return found


def _higher_order_operator(operator: Mapping[str, Any]) -> Document:
    found: Document = {"name": operator["name"]}
    dispatch = _grouped(
        [*operator["dispatch"].items(), *((key, {_FALLTHROUGH: True}) for key in operator[_FALLTHROUGH])]
    )
    for field, value in (
        ("dispatch", dispatch),
        ("autograd", operator["autograd"]),
        ("modes", operator["modes"]),
        ("subclasses", operator["subclasses"]),
        ("transforms", operator["transforms"]),
        ("functionalize", operator["functionalize"]),
        ("side_effect", operator["side_effect"]),
    ):
        if value:
            found[field] = value
    return found


def _grouped(pairs: Iterable[tuple[str, Any]]) -> Document:
    """Keys with equal values become one entry, at the place of the first; keys are of one operator, each named once."""
    groups: list[tuple[list[str], Any]] = []
    for key, value in pairs:
        for keys, other in groups:
            if other == value and sum(map(len, keys)) + 2 * len(keys) + len(key) <= MAX_KEYS_TEXT:
                keys.append(key)
                break
        else:
            groups.append(([key], value))
    return {", ".join(keys): value for keys, value in groups}
