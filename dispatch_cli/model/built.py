"""What a built library registers in a running PyTorch, to hold declarations against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dispatch_cli.model.higher_order import HigherOrderOperator


class BuiltKernel(NamedTuple):
    """The active kernel at a key. debug: what a dump shows. imported: the modules that were imported registered it."""

    debug: str
    fallthrough: bool = False
    imported: bool = False


class BuiltOperator(NamedTuple):
    """An operator.

    schema: as PyTorch prints it; None where nothing defines the operator. kernels: by dispatch key, alias keys too.
    python: the keys with a kernel of the Python dispatcher that the modules registered. imported: the modules defined
    it.
    """

    schema: str | None
    kernels: Mapping[str, BuiltKernel]
    python: tuple[str, ...] = ()
    imported: bool = False


class BuiltLibrary(NamedTuple):
    """Everything that is registered.

    source: what was asked, in words. modules: those that were imported. operators, higher_order: by name.
    fallbacks: backend fallbacks by runtime key.
    """

    source: str
    modules: tuple[str, ...]
    operators: Mapping[str, BuiltOperator]
    fallbacks: Mapping[str, BuiltKernel]
    higher_order: Mapping[str, HigherOrderOperator]
