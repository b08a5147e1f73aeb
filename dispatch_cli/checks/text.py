"""Keys and kernels, as the sentences of checks have them."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.kernel import Kernel

MAX_NAMED = 4
"""More keys than these are shortened in a sentence."""


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
    return f"{entry.kernel.debug} [{entry.rule.dump_text}]"


def kernel_words(kernel: Kernel) -> str:
    """A kernel in a sentence: its name, or ``the kernel registered at ...`` where its place is all that is known."""
    return f"the kernel {kernel.label}" if kernel.label.startswith("registered at ") else kernel.label


def without_hint(text: str) -> str:
    """An error's text without the hint at its end, which PyTorch gives where an operator has no rule for a mode."""
    return text.split("Hint:", 1)[0].rstrip()
