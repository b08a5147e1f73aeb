"""Slots at which Python's ``resolve_key`` chooses another key than the C++ table."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.python.table import Divergence, Reason
from dispatch_cli.engine.rules import Rule


class SlotChoice(NamedTuple):
    """Choice of one of two algorithms for a slot.

    source: the key at which the kernel is registered; None for a backend fallback, and where there is no kernel.
    """

    rule: Rule
    source: str | None


class PythonDifference(NamedTuple):
    """A slot at which C++ and Python choose different keys.

    because: the keys whose kernels make the difference.
    """

    key: str
    cpp: SlotChoice
    python: SlotChoice
    reason: Reason
    because: tuple[str, ...]


def difference_of(divergence: Divergence) -> PythonDifference:
    """A divergence of the engine, as far as it says which kernels run."""
    cpp, python = (SlotChoice(decision.rule, decision.source) for decision in (divergence.cpp, divergence.python))
    return PythonDifference(divergence.key, cpp, python, divergence.reason, divergence.because)


_REASONS = {
    Reason.NESTED_RULE: "rule 5 (nested) gives way to a backend kernel in Python, but not in C++",
    Reason.PYTHON_KERNEL: "a kernel is registered only in Python",
}


def because_text(difference: PythonDifference) -> str:
    """Reason why C++ and Python choose different keys, and the kernels that make the difference."""
    kind = "Python kernel" if difference.reason is Reason.PYTHON_KERNEL else "kernel"
    kernels = f"the {kind}{'' if len(difference.because) == 1 else 's'} at {' and '.join(difference.because)}"
    return f"{_REASONS[difference.reason]}, because of {kernels}"
