"""Macros of PyTorch's own headers that begin registration blocks, as data.

From torch/library.h and torch/csrc/stable/library.h. A name that begins with ``@`` stands for what the macro makes;
C++ has no such names.
"""

from __future__ import annotations

from collections.abc import Iterable

from dispatch_cli.extract.cpp.known_bodies import known_macros
from dispatch_cli.extract.cpp.macros import Macro, read_macro
from dispatch_cli.extract.cpp.tokens import tokens_of

_BLOCKS = """
TORCH_LIBRARY(ns, m) @TORCH_LIBRARY(ns, , m)
TORCH_LIBRARY_FRAGMENT(ns, m) @TORCH_LIBRARY_FRAGMENT(ns, , m)
TORCH_LIBRARY_IMPL(ns, k, m) @TORCH_LIBRARY_IMPL(ns, k, m)
_TORCH_LIBRARY_FRAGMENT(ns, m, uid) @TORCH_LIBRARY_FRAGMENT(ns, , m)
_TORCH_LIBRARY_IMPL(ns, k, m, uid) @TORCH_LIBRARY_IMPL(ns, k, m)
STABLE_TORCH_LIBRARY(ns, m) @STABLE_TORCH_LIBRARY(ns, , m)
STABLE_TORCH_LIBRARY_FRAGMENT(ns, m) @STABLE_TORCH_LIBRARY_FRAGMENT(ns, , m)
STABLE_TORCH_LIBRARY_IMPL(ns, k, m) @STABLE_TORCH_LIBRARY_IMPL(ns, k, m)
_STABLE_TORCH_LIBRARY_FRAGMENT(ns, m, uid) @STABLE_TORCH_LIBRARY_FRAGMENT(ns, , m)
_STABLE_TORCH_LIBRARY_IMPL(ns, k, m, uid) @STABLE_TORCH_LIBRARY_IMPL(ns, k, m)
MAKE_TORCH_LIBRARY(ns) @MAKE_TORCH_LIBRARY(ns, )
MAKE_TORCH_LIBRARY_IMPL(ns, k) @MAKE_TORCH_LIBRARY_IMPL(ns, k)
"""
_KEPT = frozenset({"TORCH_SELECTIVE_NAME", "TORCH_SELECTIVE_SCHEMA", "TORCH_FN", "TORCH_BOX", "ATEN_FN", "ATEN_FN2"})
"""Macros that stay as they are: what they stand for is known."""


def _read(lines: Iterable[str]) -> dict[str, Macro]:
    macros: dict[str, Macro] = {}
    for line in lines:
        macro = read_macro(tokens_of(line, "<PyTorch>"))
        assert macro is not None
        macros[macro.name] = macro
    return macros


_BLOCK_MACROS = _read(_BLOCKS.strip().splitlines())
KNOWN: dict[str, Macro] = {**_read(known_macros()), **_BLOCK_MACROS}
"""Replacements of macros that the sources do not define."""
RESERVED = frozenset(_BLOCK_MACROS) | _KEPT
"""Macros that a definition in the sources does not change: PyTorch's own."""
