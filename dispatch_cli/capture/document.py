"""Findings of the probe as the document of a declaration file, and its higher-order operators in our types.

A document is plain mappings, lists, texts, numbers and booleans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dispatch_cli.model.higher_order import FALLTHROUGH, HigherOrderImpl, HigherOrderOperator, ImplKind

Document = dict[str, Any]

MAX_KEYS_TEXT = 500
"""Characters of comma-separated keys. YAML allows 1,024 for the name of a field."""

_DEFAULT_ALIAS_ANALYSIS = "FROM_SCHEMA"
_FALLTHROUGH = "fallthrough"
_IMPLICIT = "CompositeImplicitAutograd"
_META = "Meta"
_HIGHER_ORDER_FIELDS = (
    "name", "dispatch", "autograd", "modes", "subclasses", "transforms", "functionalize", "side_effect"
)  # fmt: skip
_NAMED = {"modes": ImplKind.MODE, "subclasses": ImplKind.SUBCLASS, "transforms": ImplKind.TRANSFORM}


def document(state: Mapping[str, Any]) -> Document:
    """The declarations of a captured state. They load back to the same state.

    state: what `dispatch_cli.capture.probe` writes.
    """
    pairs = [_parts(operator) for operator in state["operators"]]
    later = frozenset(state["imported_fallbacks"])
    rules = frozenset(state["imported_higher_order_operators"])
    higher_order = state["higher_order_operators"]
    content = {
        "dispatch": 1,
        "snapshot": True,
        "pytorch": state["known"],
        **({"notes": state["notes"]} if state["notes"] else {}),
        "universe": universe_before(state),
        "operators": [_operator(before) for before, _ in pairs if before is not None],
        "higher_order_operators": [_higher_order_operator(item) for item in higher_order if item["name"] not in rules],
    }
    if state["modes"]:
        content["modes"] = {name: {"supports_higher_order_operators": True} for name in state["modes"]}
    imported = {
        "operators": [_operator(after) for _, after in pairs if after is not None],
        "fallbacks": _grouped(
            (item["key"], _fallback(item)) for item in state["universe"]["fallbacks"] if item["key"] in later
        ),
        "higher_order_operators": [_higher_order_operator(item) for item in higher_order if item["name"] in rules],
    }
    present = {field: entries for field, entries in ({"modules": state["modules"]} | imported).items() if entries}
    return {**content, "imported": present} if present else content


def universe_before(state: Mapping[str, Any]) -> Document:
    """The universe with the backend fallbacks that were there before the modules were imported.

    state: as for `document`. Those that the modules' took the place of are not in older ones.
    """
    universe, later = state["universe"], frozenset(state["imported_fallbacks"])
    before = [item for item in universe["fallbacks"] if item["key"] not in later] + state.get("replaced_fallbacks", [])
    return {**universe, "fallbacks": sorted(before, key=lambda item: universe["runtime"].index(item["key"]))}


def _parts(operator: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    """Registrations for an operator before the modules were imported, and those that came with them; None is nothing.

    The kernels of a key are in the order of the dump, newest first.
    """
    imported = operator["imported"]
    if not imported:
        return operator, None
    counts, python = imported.get("kernels", {}), imported.get("python", ())
    before, after = dict(operator), dict(operator)
    kernels = operator["kernels"].items()
    before["kernels"] = {key: each[counts.get(key, 0) :] for key, each in kernels if len(each) > counts.get(key, 0)}
    after["kernels"] = {key: each[: counts[key]] for key, each in kernels if key in counts}
    before["python"] = {key: kernel for key, kernel in operator["python"].items() if key not in python}
    after["python"] = {key: kernel for key, kernel in operator["python"].items() if key in python}
    defined = operator["schema"] is not None
    undefined = before if imported.get("schema") else after
    if defined:
        undefined.update(schema=None, tags=[])
    (after if undefined is before else before).pop("fake_tensor_mode", None)
    if not before["kernels"] and not before["python"] and (imported.get("schema") or not defined):
        return None, after
    return before, after


def _fallback(fallback: Mapping[str, Any]) -> Document:
    return {"debug": fallback["debug"], **({_FALLTHROUGH: True} if fallback[_FALLTHROUGH] else {})}


def _operator(operator: Mapping[str, Any]) -> Document:
    entry: Document = {}
    if operator["schema"] is None:
        entry["name"] = operator["name"]
    else:
        entry["func"] = operator["schema"]
        entry["debug"] = operator["debug"]
        if operator["alias_analysis"] != _DEFAULT_ALIAS_ANALYSIS:
            entry["alias_analysis"] = operator["alias_analysis"]
    if operator["tags"]:
        entry["tags"] = operator["tags"]
    entry.update(_registered(operator["kernels"]))
    if operator["python"]:
        entry["python_dispatch"] = _grouped(operator["python"].items())
    if operator.get("fake_tensor_mode"):
        entry["fake_tensor_mode"] = operator["fake_tensor_mode"]
    return entry


def _registered(kernels: Mapping[str, list[Mapping[str, Any]]]) -> Document:
    """The kernels and the fake implementations of an operator, in the order of registration at Meta.

    What PyTorch refuses is refused of declarations too, so a fake implementation comes before a composite kernel.
    """
    fakes = [kernel for kernel in kernels.get(_META, ()) if "fake" in kernel]
    others = {key: [kernel for kernel in each if "fake" not in kernel] for key, each in kernels.items()}
    entry: Document = {}
    if any(others.values()):
        # what is registered last is active, and the probe has the active one first
        kernels_of = ((key, [_kernel(kernel) for kernel in reversed(each)]) for key, each in others.items() if each)
        entry["dispatch"] = _grouped((key, _one_or_all(entries)) for key, entries in kernels_of)
    if fakes:
        fake = {"fake": _one_or_all([{**fake["fake"], "debug": fake["debug"]} for fake in reversed(fakes)])}
        is_newest = kernels[_META][0] is fakes[0] and _IMPLICIT not in kernels
        entry = {**entry, **fake} if is_newest else {**fake, **entry}
    return entry


def _one_or_all(entries: list[Document]) -> Any:
    return entries[0] if len(entries) == 1 else entries


def _kernel(kernel: Mapping[str, Any]) -> Document:
    """A kernel without what holds anyway.

    It is known by its debug text alone, never by a name: kernels of one name would be one function, and whether two
    registrations are one function is not in a dump.
    """
    entry: Document = {"debug": kernel["debug"]}
    if kernel["signature"] is not None:
        entry["signature"] = kernel["signature"]
    if kernel[_FALLTHROUGH]:
        entry[_FALLTHROUGH] = True
    if not kernel["boxed"]:
        entry["boxed"] = False
    if kernel["unboxed"] != (kernel["signature"] is not None and not kernel[_FALLTHROUGH]):
        entry["unboxed"] = kernel["unboxed"]
    if "redispatches" in kernel:
        entry["redispatches"] = kernel["redispatches"]
    if "wraps" in kernel:
        entry["wraps"] = kernel["wraps"]
    return entry


def _higher_order_operator(operator: Mapping[str, Any]) -> Document:
    passed_over = {key: {_FALLTHROUGH: True} for key in operator[_FALLTHROUGH]}
    entry = {**operator, "dispatch": _grouped([*operator["dispatch"].items(), *passed_over.items()])}
    return {field: entry[field] for field in _HIGHER_ORDER_FIELDS if entry[field]}


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


def higher_order_operator(data: Mapping[str, Any]) -> HigherOrderOperator:
    """A higher-order operator. data: what `dispatch_cli.capture.probe` writes of it, checked."""
    return HigherOrderOperator(data["name"], tuple(_impls(data)), data["side_effect"])


def _impls(operator: Mapping[str, Any]) -> Iterator[HigherOrderImpl]:
    for key, rule in operator["dispatch"].items():
        yield _impl(ImplKind.DISPATCH, key, rule)
    for key in operator["fallthrough"]:
        yield HigherOrderImpl(ImplKind.DISPATCH, key, FALLTHROUGH, fallthrough=True)
    if operator["autograd"] is not None:
        yield _impl(ImplKind.AUTOGRAD, "", operator["autograd"])
    for field, kind in _NAMED.items():
        for name, rule in operator[field].items():
            yield _impl(kind, name, rule)
    if operator["functionalize"] is not None:
        yield _impl(ImplKind.FUNCTIONALIZE, "", operator["functionalize"])


def _impl(kind: ImplKind, name: str, rule: str | Mapping[str, Any]) -> HigherOrderImpl:
    if isinstance(rule, str):
        return HigherOrderImpl(kind, name, rule)
    errors = tuple(rule.get("error", {}).items())
    return HigherOrderImpl(kind, name, rule["kernel"], deferred_error=rule.get("deferred_error"), errors=errors)
