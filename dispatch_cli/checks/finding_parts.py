"""Parts of findings that several checks share: keys and kernels in sentences, and fixes.

The fixes are kernels of their own, at keys where they disturb nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dispatch_cli.checks.view import Pattern, View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.changes.change import Edit, own_kernel
from dispatch_cli.model.kernel import Kernel, shown_function
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import AD_INPLACE_OR_VIEW, AUTOGRAD

MAX_NAMED = 4
"""More keys than these are shortened in a sentence."""
_ALIAS = re.compile(r"Tensor\??\(")


def keys_text(keys: Sequence[str]) -> str:
    """Keys in a sentence: ``CPU, CUDA``, or ``CPU … Meta (15 keys)`` for many."""
    if len(keys) <= MAX_NAMED:
        return ", ".join(keys)
    return f"{keys[0]} … {keys[-1]} ({len(keys)} keys)"


def entry_text(entry: TableEntry) -> str:
    """Kernel in a slot, and the rule by which it is there."""
    if entry.kernel is None:
        return "nothing"
    if entry.rule is Rule.FALLBACK and entry.kernel.span is None:
        return "PyTorch's own backend fallback"
    return f"{shown_function(entry.kernel.debug)} [{entry.rule.dump_text}]"


def kernel_words(kernel: Kernel) -> str:
    """A kernel in a sentence: its name, or ``the kernel registered at ...`` where its place is all that is known."""
    return f"the kernel {kernel.label}" if kernel.label.startswith("registered at ") else kernel.label


def own_kernels(view: View, name: OperatorName, keys: Sequence[str]) -> tuple[Edit, ...]:
    """A kernel of its own at each key.

    None where there are many, where PyTorch does not know the name of one, or where one would replace another. One for
    autograd does not count writes and mark views; where the schema has them, there is one at ADInplaceOrView as well.
    """
    universe, pattern = view.universe, view.pattern(name)
    if len(keys) > MAX_NAMED or not universe.parseable.issuperset(keys) or not _is_free(pattern, keys):
        return ()
    aliases = _ALIAS.search(view.schema_text(name) or "") is not None and AD_INPLACE_OR_VIEW in universe.slot
    if aliases and not view.autograd.isdisjoint(keys):
        if _is_free(pattern, (AD_INPLACE_OR_VIEW,)):
            keys = (*keys, AD_INPLACE_OR_VIEW)
        elif AD_INPLACE_OR_VIEW in pattern.fallthrough:
            return ()
    return tuple(own_kernel(name, key) for key in keys)


def _is_free(pattern: Pattern, keys: Sequence[str]) -> bool:
    """True if no kernel is registered at any of the keys."""
    return frozenset(pattern.keys).isdisjoint(keys)


def autograd_keys(view: View, name: OperatorName, lacking: Sequence[str]) -> tuple[str, ...]:
    """Keys to register for autograd: those that lack a kernel, or the alias of all where it serves as well.

    The alias is for the library that defines the operator, as long as no other autograd key has a kernel.
    """
    taken = not view.autograd.isdisjoint(view.pattern(name).keys)
    alone = view.is_defined_by_files(name) and (not taken or len(lacking) > MAX_NAMED)
    return (AUTOGRAD,) if alone else tuple(lacking)
