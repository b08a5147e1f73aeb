"""Calls of a higher-order operator in a running PyTorch, at the key Python, and the modules that define such operators.

``import torch`` imports only some of these. They are found in the files of the installed package, without running them:
a module defines an operator if it calls ``HigherOrderOperator`` or a class derived from it. The files of modules that
are imported already are not read.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer. To see a call,
an operator is made; it is gone afterwards.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from collections.abc import Container, Iterable
    from pathlib import Path

    Data = dict[str, Any]

NAME = "dispatch_cli_probe"
DONE = "done"
CHANGED = (AttributeError, ImportError, KeyError, TypeError, ValueError)
"""Errors that are raised where this PyTorch keeps it in another way."""
ROOT = "HigherOrderOperator"
"""The class of all higher-order operators."""
_CLASS = re.compile(r"class[ \t]+(\w+)[ \t]*\(([^()]*)\)[ \t]*:")
"""A pattern that begins with letters is searched for fast; it finds classes in comments and strings, too."""
_WORD = re.compile(r"\w+")


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
            "no_mode_rule": _error(torch, operator, tensor, mode, {mode: "mode"}),
            "no_subclass_rule": _error(torch, operator, inside, None, {subclass: "subclass"}),
            "modes_handle": _result(torch, operator, tensor, supporting()) == DONE,
        }
        operator.py_impl(passing)(pass_on)
        if _result(torch, operator, tensor, passing()) is not NotImplemented:
            operator.py_impl(subclass)(pass_on)
            mode = passing()
            places = {mode: "mode", str([subclass.__name__]): "names", str([subclass]): "classes"}
            data["unhandled"] = _error(torch, operator, inside, mode, places)
        operator.py_impl(fakes.FakeTensorMode)(handle)
        data["fakes_by_mode"] = _result(torch, operator, fake, None) == DONE
    finally:
        importlib.import_module("torch._ops")._higher_order_ops.pop(NAME, None)
    return data


def _operator() -> Any:
    base = importlib.import_module("torch._ops").HigherOrderOperator

    def call(self: Any, *arguments: Any) -> Any:
        return base.__call__(self, *arguments)

    return type("Probe", (base,), {"__call__": call})(NAME)


def _called(torch: Any, operator: Any, tensor: Any, mode: Any) -> Any:
    """The result of a call below autograd, for which the operator has no implementation."""
    with torch._C._AutoDispatchBelowAutograd():
        if mode is None:
            return operator(tensor)
        with mode:
            return operator(tensor)


def _result(torch: Any, operator: Any, tensor: Any, mode: Any) -> Any:
    """Result of a call; None where it fails."""
    try:
        return _called(torch, operator, tensor, mode)
    except (AssertionError, NotImplementedError, RuntimeError, TypeError):
        return None


def _error(torch: Any, operator: Any, tensor: Any, mode: Any, places: dict[Any, str]) -> str:
    """The error of a call as a template. Errors: ValueError, when there is none."""
    try:
        _called(torch, operator, tensor, mode)
    except (AssertionError, NotImplementedError, RuntimeError, TypeError) as error:
        text = str(error)
        for value, place in {**places, NAME: "operator"}.items():
            text = text.replace(str(value), "{" + place + "}")
        return f"{type(error).__name__}: {text}"
    raise ValueError("the call is handled")


def import_all(package: Path) -> list[str]:
    """Import the modules that define higher-order operators.

    package: the directory of PyTorch's package, ``torch``.
    Returns a text for each module that cannot be imported.
    """
    root = getattr(sys.modules.get(f"{package.name}._ops"), ROOT, None)
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    imported = {file for file in files if isinstance(file, str)}
    notes = []
    for module in defining_modules(package, imported, {ROOT} if root is None else _names_of(root)):
        if module in sys.modules:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module(module)
        except BaseException as error:  # a module that exits must not end the capture
            reason = (str(error).splitlines() or [""])[0][:200]
            notes.append(
                f"{module} cannot be imported, so its higher-order operators are missing: "
                f"{type(error).__name__}: {reason}"
            )
    return notes


def _names_of(kind: type) -> set[str]:
    """The names of a class and of all that are derived from it."""
    return {kind.__name__}.union(*map(_names_of, type.__subclasses__(kind)))


def defining_modules(package: Path, imported: Container[str] = (), known: Iterable[str] = (ROOT,)) -> list[str]:
    """The names of the modules that define higher-order operators, sorted.

    imported: files that are left out. known: the names of the classes of higher-order operators in them.
    """
    files = [file for file in sorted(package.rglob("*.py")) if str(file) not in imported]
    texts = {file: file.read_bytes().decode("utf-8", "replace") for file in files}
    written = ((name, {*_WORD.findall(bases)}) for text in texts.values() for name, bases in _CLASS.findall(text))
    maybe = _closure(known, written)
    # all names at once: a search for each of them takes longer
    called = re.compile(r"(?:" + "|".join(sorted(maybe)) + r")\b[ \t]*(?:\(|as\b)")
    # only now are files parsed, which takes long: a pattern also matches in comments and strings
    named = [file for file, text in texts.items() if called.search(text)]
    trees = {file: tree for file in named for tree in _parsed(texts[file])}
    nodes = {file: list(ast.walk(tree)) for file, tree in trees.items()}
    classes = [node for listed in nodes.values() for node in listed if isinstance(node, ast.ClassDef)]
    all_known = _closure(known, ((class_.name, {_last_name(base) for base in class_.bases}) for class_ in classes))
    return sorted(_module_name(package, file) for file, listed in nodes.items() if _makes_one(listed, all_known))


def _closure(known: Iterable[str], classes: Iterable[tuple[str, set[str]]]) -> set[str]:
    """The known classes and those derived from them, of classes with the names of their bases."""
    family, waiting = {*known}, list(classes)
    while True:
        more = {name for name, bases in waiting if bases & family} - family
        if not more:
            return family
        family |= more


def _parsed(text: str) -> list[ast.Module]:
    try:
        return [ast.parse(text)]
    except (SyntaxError, ValueError):
        return []


def _last_name(node: ast.expr) -> str:
    """``c`` of ``a.b.c``; empty for other expressions than names."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _makes_one(nodes: list[ast.AST], known: set[str]) -> bool:
    """True if a module calls a class by a name that it defines or imports, or as an attribute of a module."""
    local = {node.name: node.name for node in nodes if isinstance(node, ast.ClassDef)}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            local.update({alias.asname or alias.name: alias.name for alias in node.names})
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    return any(
        (part.attr if isinstance(part, ast.Attribute) else local.get(_last_name(part))) in known for part in called
    )


def _module_name(package: Path, file: Path) -> str:
    parts = file.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
