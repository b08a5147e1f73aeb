"""What a running PyTorch has for fake tensors: fake implementations, and what ``FakeTensorMode`` asks for besides.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
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


# What FakeTensorMode asks for (``_dispatch_impl`` in ``torch/_subclasses/fake_tensor.py``).


def fallbacks() -> list[str]:
    """The namespaces of the operators whose own kernels the mode runs where there is nothing for fake tensors."""
    mode = importlib.import_module("torch._subclasses.fake_tensor").FakeTensorMode
    return sorted(mode._can_run_unsafe_fallback_allowed_namespaces)


def note_rules(operators: dict[str, Data], name_of: Callable[[Any], str]) -> None:
    """Note in dumped operators, by name, what the mode has for them (the field ``fake_tensor_mode``)."""
    ops = importlib.import_module("torch._ops")
    decompositions = importlib.import_module("torch._decomp")
    modes = importlib.import_module("torch._subclasses.fake_tensor")
    impls = importlib.import_module("torch._subclasses.fake_impls")
    found: dict[str, Data] = {}

    def rules_of(operator: Any) -> Data:
        return found.setdefault(operator.name(), {})

    for operator, function in decompositions.decomposition_table.items():
        if isinstance(operator, ops.OpOverload) and modes.torch_decomp_decompositions(operator):
            rules_of(operator)["decomposition"] = name_of(function)
    for operator in [*decompositions.meta_table, *modes.FakeTensorMode._cpp_meta_supports_symint]:
        rules_of(operator)["no_decomposition"] = True
    for name, operator in operators.items():
        if "view_copy" in operator["tags"]:
            found.setdefault(name, {})["no_decomposition"] = True
        if name.startswith("prims::") and (function := _prim_meta(name)) is not None:
            found.setdefault(name, {})["prim_meta"] = name_of(function)
    for operator, function in impls.op_implementations_dict.items():
        rules = rules_of(operator)
        rules["implementation"] = name_of(function)
        if raised := _only_raises(function):
            rules["raises"] = raised
    for name, rules in found.items():
        if name in operators:
            operators[name]["fake_tensor_mode"] = rules


def _prim_meta(name: str) -> Any:
    """The function that computes a primitive's result (``prim_meta_impl``); None where it has none."""
    packet = getattr(importlib.import_module("torch").ops.prims, name.partition("::")[2].partition(".")[0], None)
    return getattr(getattr(packet, name.partition(".")[2] or "default", None), "prim_meta_impl", None)


def _only_raises(function: Any) -> str | None:
    """The exception that a function raises, where it does nothing else for the operators that it is registered for."""
    try:
        definition = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    body = definition.body if isinstance(definition, ast.FunctionDef) else []
    while len(body) == 1 and isinstance(body[0], ast.If) and not body[0].orelse:  # it asks whether it is one of them
        body = body[0].body
    if len(body) != 1 or not isinstance(body[0], ast.Raise):
        return None
    called = getattr(body[0].exc, "func", None)
    return getattr(called, "id", None) or getattr(called, "attr", None)
