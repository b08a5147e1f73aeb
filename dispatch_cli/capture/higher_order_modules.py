"""The modules of PyTorch that define higher-order operators: ``import torch`` imports only some of them.

They are found in the files of the installed package, without running them: a module defines an operator if it calls
``HigherOrderOperator`` or a class derived from it. The files of modules that are imported already are not read.

A part of the probe, which loads it from its own directory: it needs Python 3.8 and PyTorch 2.4 or newer.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # Python 3.8 knows these spellings only where it does not look at them.
    from collections.abc import Container, Iterable
    from pathlib import Path

ROOT = "HigherOrderOperator"
"""The class of all higher-order operators."""
_CLASS = re.compile(r"class[ \t]+(\w+)[ \t]*\(([^()]*)\)[ \t]*:")
"""A pattern that begins with letters is searched for fast; it finds classes in comments and strings, too."""
_WORD = re.compile(r"\w+")


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
