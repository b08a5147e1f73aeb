"""Registrations of a running PyTorch at one moment, as its dumps have them, and those that came after it.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer.
"""

from __future__ import annotations

import functools
import importlib
import re
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 knows this spelling only where it does not look at it.
    Data = dict[str, Any]
    Watched = dict[tuple[str, str], list[tuple[Any, Any]]]

_KERNEL = re.compile(r"(\w+)(\[alias\])?( \(inactive\))?: (.+) :: (.+) \[ ([a-z ]*)\]")
_FALLBACK = re.compile(r"(\w+): (fallthrough )?(.+) \[backend fallback\]")
_NOTHING: Data = {"schema": None, "kernels": {}}


def parse_dump(dump: str) -> Data:
    """A registration dump in pieces: name, schema, debug, alias_analysis, and kernels by key, newest first.

    Errors: ValueError, with the line that is not understood.
    """
    lines = dump.splitlines()
    data: Data = {
        "name": _after("name: ", lines, 0),
        "schema": _after("schema: ", lines, 1),
        "debug": None,
        "alias_analysis": None,
        "kernels": {},
    }
    rest = 2
    if data["schema"] == "(none)":
        data["schema"] = None
    else:
        data["debug"] = _after("debug: ", lines, 2)
        kind = _after("alias analysis kind: ", lines, 3)
        data["alias_analysis"] = "default" if kind.endswith(" (default)") else kind
        rest = 4
    for line in lines[rest:]:
        match = _KERNEL.fullmatch(line)
        if match is None:
            raise ValueError(line)
        key, _, inactive, debug, signature, flags = match.groups()
        kernels = data["kernels"].setdefault(key, [])
        if bool(inactive) != bool(kernels):
            raise ValueError(line)
        words = flags.split()
        kernels.append(
            {
                "debug": debug,
                "signature": None if signature == "(none)" else signature,
                "fallthrough": "fallthrough" in words,
                "boxed": "boxed" in words,
                "unboxed": "unboxed" in words,
            }
        )
    return data


def _after(words: str, lines: list[str], number: int) -> str:
    line = lines[number] if number < len(lines) else ""
    if not line.startswith(words) or line == words:
        raise ValueError(line)
    return line[len(words) :]


def parse_fallbacks(table: str) -> list[Data]:
    """The backend fallbacks, read off the table of an operator that has no kernels.

    Errors: ValueError, with a line that is not a backend fallback.
    """
    fallbacks = []
    for line in table.splitlines():
        match = _FALLBACK.fullmatch(line)
        if match is None:
            raise ValueError(line)
        fallbacks.append({"key": match[1], "debug": match[3], "fallthrough": bool(match[2])})
    return fallbacks


class Look:
    """Registrations at one moment: dumps, fallbacks, Python kernels, higher-order operators.

    namespace: one that is not in use; an operator of it is there for as long as the look takes.
    """

    def __init__(self, torch: Any, namespace: str) -> None:
        core = torch._C
        self.dumps: dict[str, str] = {name: core._dispatch_dump(name) for name in core._dispatch_get_all_op_names()}
        library = core._dispatch_library("FRAGMENT", namespace, "")
        library.def_("look(int x) -> int")
        self.fallbacks: list[str] = core._dispatch_dump_table(namespace + "::look").splitlines()
        self.python = python_functions(torch)
        self.impls = {name: _tables(operator) for name, operator in higher_order_registry().items()}

    def registered_since(self, earlier: Look, name: str) -> Data:
        """Registrations that came to an operator since an earlier look; empty when none did.

        schema: True when it was defined since. kernels: number of a key's kernels, the newest, that came since. python:
        the keys with a new kernel of the Python dispatcher.
        """
        changes: Data = {}
        old, new = earlier.dumps.get(name), self.dumps.get(name)
        if old != new:
            before, after = _pieces(old), _pieces(new)
            if after["schema"] is not None and before["schema"] is None:
                changes["schema"] = True
            counts = {
                key: len(kernels) - _common_end(kernels, before["kernels"].get(key, []))
                for key, kernels in after["kernels"].items()
            }
            if any(counts.values()):
                changes["kernels"] = {key: count for key, count in counts.items() if count}
        known = earlier.python.get(name, {})
        python = [key for key, function in self.python.get(name, {}).items() if known.get(key) is not function]
        if python:
            changes["python"] = python
        return changes

    def fallbacks_since(self, earlier: Look) -> list[str]:
        """The keys whose backend fallback came since an earlier look."""
        return [line.partition(":")[0] for line in self.fallbacks if line not in earlier.fallbacks]

    def fallbacks_replaced(self, later: Look) -> list[str]:
        """The lines of the backend fallbacks in whose place others are in a later look."""
        came = later.fallbacks_since(self)
        return [line for line in self.fallbacks if line.partition(":")[0] in came]

    def rules_since(self, earlier: Look) -> list[str]:
        """The higher-order operators that are new since an earlier look, or have other implementations."""
        return sorted(name for name, tables in self.impls.items() if earlier.impls.get(name) != tables)


def _pieces(dump: str | None) -> Data:
    """A registration dump in pieces; those of an operator without anything for none, and for what is not understood."""
    try:
        return _NOTHING if dump is None else parse_dump(dump)
    except ValueError:
        return _NOTHING


def _common_end(lines: list[Data], other: list[Data]) -> int:
    """Number of elements that two lists share at their ends: a newer kernel stands before those it came after."""
    count = 0
    for mine, its in zip(reversed(lines), reversed(other)):  # noqa: B905  (Python 3.8 has no strict)
        if mine != its:
            break
        count += 1
    return count


def python_functions(torch: Any) -> dict[str, dict[Any, Any]]:
    """The Python dispatcher's kernels of every operator that has some: key → function.

    They are kept on Python's operator objects, so an operator that has no such object yet has none.
    """
    ops = importlib.import_module("torch._ops")
    kernels = {}
    for namespace in list(vars(torch.ops).values()):
        if not isinstance(namespace, ops._OpNamespace):
            continue
        for packet in list(vars(namespace).values()):
            if not isinstance(packet, ops.OpOverloadPacket):
                continue
            for overload in list(vars(packet).values()):
                if isinstance(overload, ops.OpOverload) and overload.py_kernels:
                    kernels[overload.name()] = dict(overload.py_kernels)
    return kernels


def higher_order_registry() -> Data:
    """Higher-order operators by name."""
    return dict(getattr(importlib.import_module("torch._ops"), "_higher_order_ops", {}))


def python_table(operator: Any) -> dict[Any, Any]:
    """A higher-order operator's implementations by mode and subclass; until 2.4 its table was named after modes."""
    return dict(getattr(operator, "python_key_table", None) or getattr(operator, "python_key_mode_table", None) or {})


def _tables(operator: Any) -> tuple[dict[Any, Any], ...]:
    return dict(operator.py_kernels), python_table(operator), dict(operator.functorch_table)


def watch(torch: Any) -> Watched:
    """Keep the functions that Python registers from now on, by operator and key, oldest first.

    Each has a weak reference to its library, without which the registration is gone.
    """
    library, fallthrough = torch.library.Library, getattr(torch.library, "fallthrough_kernel", None)
    impl = library.impl
    seen: Watched = {}

    @functools.wraps(impl)
    def watched(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **options: Any) -> Any:
        answer = impl(self, op_name, fn, dispatch_key, **options)
        name = op_name if isinstance(op_name, str) else op_name.name()
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        if fn is not fallthrough:
            place = name if "::" in name else f"{self.ns}::{name}", key
            seen.setdefault(place, []).append((weakref.ref(self), fn))
        return answer

    library.impl = watched
    return seen
