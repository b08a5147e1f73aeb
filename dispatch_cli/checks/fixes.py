"""Fixes that several checks share: kernels of their own, at keys where they disturb nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.checks.key_words import AUTOGRAD, MAX_NAMED
from dispatch_cli.checks.view import View
from dispatch_cli.model.edit import Edit, own_kernel
from dispatch_cli.model.names import OperatorName


def own_kernels(view: View, name: OperatorName, keys: Sequence[str]) -> tuple[Edit, ...]:
    """A kernel of its own at each key; none where there are many, or where PyTorch does not know the name of one."""
    if len(keys) > MAX_NAMED or not view.universe.parseable.issuperset(keys):
        return ()
    return tuple(own_kernel(name, key) for key in keys)


def autograd_keys(view: View, name: OperatorName, lacking: Sequence[str]) -> tuple[str, ...]:
    """Where to register for autograd: at the keys that lack a kernel; at the alias of all, where that is as well.

    The alias is for the library that defines the operator, as long as no other autograd key has a kernel.
    """
    taken = any(key in view.pattern(name).keys for key in (AUTOGRAD, *view.universe.covered_by(AUTOGRAD)))
    alone = view.is_defined_by_files(name) and (not taken or len(lacking) > MAX_NAMED)
    return (AUTOGRAD,) if alone else tuple(lacking)
