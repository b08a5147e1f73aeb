"""Docstrings that are part of what the program says; `python -OO` runs without them."""

from __future__ import annotations

from importlib.util import find_spec


def docstring(module: str, function: str | None = None) -> str:
    """The docstring of a module of this package, or of a function in it, read from the module's source.

    Empty where there is none, or no source.
    """
    import ast

    loader = getattr(find_spec(module), "loader", None)
    source = loader.get_source(module) if loader is not None else None
    tree = ast.parse(source or "")
    nodes = [tree] if function is None else [node for node in tree.body if getattr(node, "name", None) == function]
    return "".join(ast.get_docstring(node) or "" for node in nodes[:1])  # type: ignore[arg-type]
