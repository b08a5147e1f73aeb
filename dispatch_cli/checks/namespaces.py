"""Owners of the operators of a namespace: the project's own, PyTorch's, or those of another library."""

from __future__ import annotations

from enum import Enum
from functools import cached_property

from dispatch_cli.checks.files import CORE_NAMESPACES
from dispatch_cli.checks.undecided import DEFINITIONS
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.declarations import Define, Implement, LibraryKind, OpenBlock, Settle
from dispatch_cli.model.suggest import OneEditAway

MIN_LETTERS = 3
"""The length of the shortest namespace that another one can be a misspelling of; many are near a shorter one."""


class NamespaceOwner(Enum):
    """The one that defines the operators of a namespace.

    PROJECT: the user's files. PYTORCH: the captured PyTorch, or any PyTorch. MISSPELT: nobody, and the name is one edit
    from one of these. ANOTHER: nobody here, so it is another library's.
    """

    PROJECT = "project"
    PYTORCH = "pytorch"
    MISSPELT = "misspelt"
    ANOTHER = "another"


class Namespaces:
    """The namespaces of a run.

    pytorchs: those of PyTorch. projects: those in which the user's files define operators, under whatever conditions.
    in_sources: those of blocks in sources. with_kernels: those for which blocks register kernels.
    """

    def __init__(self, state: State, pytorchs: frozenset[str]) -> None:
        declared = state.declarations if state.variants is None else state.variants.declarations
        steps = [step for step in declared.own_steps if not isinstance(step, Settle)]
        defining = (
            step.block.namespace
            for step in steps
            if isinstance(step, Define) or (isinstance(step, OpenBlock) and step.block.kind is LibraryKind.DEF)
        )
        self.pytorchs = pytorchs | CORE_NAMESPACES
        undecided = (item.namespace for item in declared.undecided if item.registers in DEFINITIONS and item.namespace)
        self.projects = frozenset((*defining, *undecided)) - self.pytorchs
        self.in_sources = frozenset(step.block.namespace for step in steps if step.block.extracted)
        self.with_kernels = frozenset(step.block.namespace for step in steps if isinstance(step, Implement))

    def owner(self, namespace: str) -> NamespaceOwner:
        """The one that defines the operators of a namespace."""
        if namespace in self.projects:
            return NamespaceOwner.PROJECT
        if namespace in self.pytorchs:
            return NamespaceOwner.PYTORCH
        return NamespaceOwner.ANOTHER if self.meant(namespace) is None else NamespaceOwner.MISSPELT

    def meant(self, namespace: str) -> str | None:
        """The known namespace that is one edit from this one, the project's before PyTorch's; None for none."""
        return next(iter(self._near.near(namespace)), None)

    @cached_property
    def _near(self) -> OneEditAway:
        known = (*sorted(self.projects), *sorted(self.pytorchs))
        return OneEditAway(namespace for namespace in known if len(namespace) >= MIN_LETTERS)

    def library(self, namespace: str | None) -> str | None:
        """The library that a namespace of sources belongs to; None for the project's own, PyTorch's, and misspelt ones.

        Declarations say everything that they are about, so that nothing in them is another library's.
        """
        is_another = namespace in self.in_sources and self.owner(namespace) is NamespaceOwner.ANOTHER
        return namespace if is_another else None
