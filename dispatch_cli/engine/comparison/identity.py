"""Identity of kernels across states: the conditions under which two kernels count as the same one.

Two registrations at one key of one operator are the same kernel if both fall through or neither does, and they are in
the same source file. Lines, folders and numbers of generated files do not count: nearly all differ between builds.
Where one side has only a name (a declared kernel), or its file is not known, operator and key are all that can be
compared; where both have only names, the names are. But where both states are made of the same captured state or file,
a kernel of it that one of them lacks was taken away there, and what is registered in its place is another one. A Python
kernel is not one of a C++ file, also where PyTorch does not say in which file it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.debug_text import is_placed, is_python_without_place, source_file


class SharedParts(NamedTuple):
    """Parts that two states share. base: True if both are over the same captured state. files: their names."""

    base: bool
    files: frozenset[str]


NOTHING_SHARED = SharedParts(False, frozenset())


class KernelIdentity(NamedTuple):
    """The part of a kernel that is compared, beside its operator and key.

    file: the source file's name; None where it is not known. name: the function's name, of a kernel that is declared by
    name, or that PyTorch made of a function that a declaration names; else None.
    """

    fallthrough: bool
    file: str | None
    name: str | None

    @property
    def is_known(self) -> bool:
        """True if something of it can be told from other kernels at the same key."""
        return self.file is not None or self.name is not None


class KernelView(NamedTuple):
    """A registered kernel as it is compared. debug: its debug text. label: what reports call it.

    span: where it is declared; None of a captured one. when: the conditions of its registration.
    captured: it is from a captured state. shares_file: it is of a file that the other side has read, too.
    shares_base: its state is over the same captured one as the other side.
    """

    identity: KernelIdentity
    debug: str
    label: str
    span: Span | None = None
    when: str | None = None
    captured: bool = False
    shares_file: bool = False
    shares_base: bool = False

    @property
    def fallthrough(self) -> bool:
        """True if dispatch skips the key."""
        return self.identity.fallthrough


@lru_cache(maxsize=65536)
def captured_kernel(debug: str, fallthrough: bool) -> KernelView:
    """The view of a kernel of a captured state."""
    file = source_file(debug)
    name = None if file is not None or is_placed(debug) else debug
    return KernelView(KernelIdentity(fallthrough, file, name), debug, debug, captured=True)


def kernel_view(kernel: Kernel, captured: bool, shared: SharedParts = NOTHING_SHARED) -> KernelView:
    """The view of a kernel in a dispatcher.

    captured: it is from a captured state. shared: what both sides of a comparison are made of.
    """
    if captured:
        return captured_kernel(kernel.debug, kernel.fallthrough)
    file, name = source_file(kernel.debug), kernel.function_name
    if kernel.span is not None and kernel.debug.startswith(f"registered at {kernel.span.file}:"):
        file = None  # the file of the declaration, of which the other side has another one
    if name is not None and is_placed(name):
        file, name = source_file(name), None  # a function without a name
    if name is None and file is None and not is_placed(kernel.debug):
        name = kernel.debug
    identity = KernelIdentity(kernel.fallthrough, file, name)
    shares_file = kernel.span is not None and kernel.span.file in shared.files
    return KernelView(
        identity,
        kernel.debug,
        kernel.label,
        kernel.span,
        kernel.when,
        shares_file=shares_file,
        shares_base=shared.base,
    )


def same_kernel(old: KernelView, new: KernelView) -> bool:
    """True if two kernels that are registered at one key of one operator are the same."""
    identity, other = old.identity, new.identity
    if identity == other:
        return True
    if identity.fallthrough != other.fallthrough:
        return False
    known = (identity.file is not None and other.file is not None, identity.name is not None and other.name is not None)
    if known[0] and identity.file != other.file:
        return False
    if known[1] and identity.name != other.name:
        return False
    if not any(known) and (_is_lacking(old, new) or _is_lacking(new, old)):
        return False
    return not (_is_python_alone(old, new) or _is_python_alone(new, old))


def same_active(before: Sequence[KernelView], after: Sequence[KernelView]) -> bool:
    """True if the first kernels of two lists are the same, where the others are those below them.

    Not where one of them is known to be below the other: a declared kernel that overrides a captured one may have only
    a name, but the captured one is still there.
    """
    old, new = before[0], after[0]
    if old.identity == new.identity:
        return True
    overridden = (*(kernel.identity for kernel in before[1:]), *(kernel.identity for kernel in after[1:]))
    return old.identity not in overridden and new.identity not in overridden and same_kernel(old, new)


def _is_lacking(view: KernelView, other: KernelView) -> bool:
    """True if the other state would have the one's kernel, if that had not been taken away there."""
    return view.shares_file or (view.captured and other.shares_base)


def _is_python_alone(view: KernelView, other: KernelView) -> bool:
    """True if the one is registered in Python, without a place, and the other one in a file of another language."""
    file = other.identity.file
    return file is not None and not file.endswith(".py") and is_python_without_place(view.debug)


class ChangeKind(Enum):
    """Kind of change."""

    ADDED = "added"
    REMOVED = "removed"
    REPLACED = "replaced"
    BENEATH = "beneath"
    """For a kernel: the active one is the same; others at its key, which it overrides, came or went."""

    @classmethod
    def of(cls, before: object | None, after: object | None) -> ChangeKind:
        """The kind of change between what two sides have; None for nothing."""
        if before is None:
            return cls.ADDED
        return cls.REMOVED if after is None else cls.REPLACED
