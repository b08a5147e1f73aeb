"""Calls of a higher-order operator in a running PyTorch, at the key Python, and the modules that define such operators.

``import torch`` imports only some of these. They are found in the files of the installed package, without running them:
a module defines an operator if it derives a class from ``HigherOrderOperator``, or assigns what a call of it gives.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer. To see a call,
an operator is made; it is gone afterwards.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from pathlib import Path

    Data = dict[str, Any]

NAME = "dispatch_cli_probe"
DONE = "done"
CHANGED = (AttributeError, ImportError, KeyError, TypeError, ValueError)
"""Errors that are raised where this PyTorch keeps it in another way."""
ROOT = "HigherOrderOperator"
"""The class of all higher-order operators."""


def facts(torch: Any) -> Data:
    """The field ``higher_order_calls`` of a universe; nothing where this PyTorch keeps it in another way."""
    try:
        return {"higher_order_calls": _facts(torch)}
    except CHANGED:
        return {}


def _facts(torch: Any) -> Data:
    base = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode
    fakes = importlib.import_module("torch._subclasses.fake_tensor")

    def handle(*_arguments: Any) -> Any:
        return DONE

    def pass_on(*_arguments: Any) -> Any:
        return NotImplemented

    plain = type("Plain", (base,), {"__torch_dispatch__": handle})
    passing = type("Passing", (base,), {"__torch_dispatch__": handle})
    supporting = type("Supporting", (base,), {"__torch_dispatch__": handle, "supports_higher_order_operators": True})
    subclass = type("Subclass", (torch.Tensor,), {"__torch_dispatch__": classmethod(pass_on)})
    tensor = torch.ones(1)
    inside = torch.Tensor._make_wrapper_subclass(subclass, (1,))
    fake = fakes.FakeTensor(fakes.FakeTensorMode(), torch.empty(1, device="meta"), torch.device("cpu"))
    operator = _operator()
    try:
        mode = plain()
        data: Data = {
            "no_mode_rule": _template(_outcome(torch, operator, tensor, mode), {mode: "mode"}),
            "no_subclass_rule": _template(_outcome(torch, operator, inside), {subclass: "subclass"}),
            "modes_handle": _outcome(torch, operator, tensor, supporting()) == DONE,
        }
        operator.py_impl(passing)(pass_on)
        if _outcome(torch, operator, tensor, passing()) is not NotImplemented:
            operator.py_impl(subclass)(pass_on)
            mode = passing()
            places = {mode: "mode", str([subclass.__name__]): "names", str([subclass]): "classes"}
            data["unhandled"] = _template(_outcome(torch, operator, inside, mode), places)
        operator.py_impl(fakes.FakeTensorMode)(handle)
        data["fakes_by_mode"] = _outcome(torch, operator, fake) == DONE
    finally:
        importlib.import_module("torch._ops")._higher_order_ops.pop(NAME, None)
    return data


def _operator() -> Any:
    base = importlib.import_module("torch._ops").HigherOrderOperator

    def call(self: Any, *arguments: Any) -> Any:
        return base.__call__(self, *arguments)

    return type("Probe", (base,), {"__call__": call})(NAME)


def _outcome(torch: Any, operator: Any, tensor: Any, mode: Any = None) -> Any:
    """Result of a call below autograd, for which the operator has no implementation; its error where it fails."""
    try:
        with torch._C._AutoDispatchBelowAutograd(), mode or contextlib.nullcontext():
            return operator(tensor)
    except (AssertionError, NotImplementedError, RuntimeError, TypeError) as error:
        return error


def _template(outcome: Any, places: dict[Any, str]) -> str:
    """The error of a call, with words in the places of values. Errors: ValueError, when there is none."""
    if not isinstance(outcome, Exception):
        raise ValueError("the call is handled")
    text = str(outcome)
    for value, place in {**places, NAME: "operator"}.items():
        text = text.replace(str(value), "{" + place + "}")
    return f"{type(outcome).__name__}: {text}"


def import_all(package: Path) -> list[str]:
    """Import the modules that define higher-order operators.

    package: the directory of PyTorch's package, ``torch``.
    Returns a text for each module that cannot be imported.
    """
    notes = []
    for module in defining_modules(package):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module(module)
        except BaseException as error:  # noqa: PERF203  (a module that exits must not end the capture)
            reason = (str(error).splitlines() or [""])[0][:200]
            notes.append(
                f"{module} cannot be imported, so its higher-order operators are missing: "
                f"{type(error).__name__}: {reason}"
            )
    return notes


def _names_of(kind: type) -> set[str]:
    """The names of a class and of all that are derived from it."""
    return {kind.__name__}.union(*map(_names_of, type.__subclasses__(kind)))


def defining_modules(package: Path) -> list[str]:
    """The names of the modules that define higher-order operators, by their text, sorted; none that is imported."""
    root = getattr(sys.modules.get(f"{package.name}._ops"), ROOT, None)
    kinds = "|".join({ROOT} if root is None else _names_of(root))
    derived = rf"class[ \t]+\w+[ \t]*\([^()]*\b(?:{kinds})\b"
    defines = re.compile(rf"^(?:{derived}|[\w.]+[ \t]*(?::[^=\n]*)?=[ \t]*(?:[\w.]+\.)?(?:{kinds})\()".encode(), re.M)
    imported = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    files = (file for file in package.rglob("*.py") if str(file) not in imported and defines.search(file.read_bytes()))
    return sorted(_module_name(package, file) for file in files)


def _module_name(package: Path, file: Path) -> str:
    parts = file.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
