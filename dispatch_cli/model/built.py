"""Registrations of a built library in a running PyTorch, to compare declarations with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class BuiltKernel(NamedTuple):
    """The active kernel at a key.

    debug: what a dump shows. imported: the modules that were imported registered it. fake: at Meta, whether it is of a
    fake implementation of the user's (True) or of ``custom_op``, which has none (False); None for any other kernel.
    backward: the same of the autograd kernels of ``register_autograd``, as far as PyTorch tells.
    """

    debug: str
    fallthrough: bool = False
    imported: bool = False
    fake: bool | None = None
    backward: bool | None = None


class BuiltOperator(NamedTuple):
    """An operator.

    schema: as PyTorch prints it; None where nothing defines the operator. kernels: by dispatch key, alias keys too.
    python: the keys with a kernel of the Python dispatcher that the modules registered; where these are not known, with
    any. imported: the modules defined it. tags, alias_analysis: of the definition; None where they are not known.
    debug: where it was defined, as a dump says it.
    """

    schema: str | None
    kernels: Mapping[str, BuiltKernel]
    python: tuple[str, ...] = ()
    imported: bool = False
    tags: tuple[str, ...] | None = None
    alias_analysis: str | None = None
    debug: str | None = None

    @property
    def is_imported(self) -> bool:
        """True if the modules registered anything for it."""
        return self.imported or any(kernel.imported for kernel in self.kernels.values())


class BuiltLibrary(NamedTuple):
    """Everything that is registered.

    source: what was asked, in words. modules: those that were imported. operators: by name.
    fallbacks: backend fallbacks by runtime key. apart: whether it is known what the modules registered, and what
    PyTorch has without them. universe: the name of that PyTorch's universe. is_live: a running PyTorch was asked, and
    not a state.
    """

    source: str
    modules: tuple[str, ...]
    operators: Mapping[str, BuiltOperator]
    fallbacks: Mapping[str, BuiltKernel]
    apart: bool = False
    universe: str = ""
    is_live: bool = True

    def has(self, kernel: BuiltKernel | None) -> bool:
        """True if a kernel is there that is the library's, as far as that is known."""
        return kernel is not None and (kernel.imported or not self.apart)
