"""The wording of why C++ and Python choose different kernels."""

from __future__ import annotations

from dispatch_cli.answers.shared.divergences import DivergenceGroup, PythonDifference, SlotChoice
from dispatch_cli.engine.python.table import Reason
from dispatch_cli.engine.rules import Rule

REASONS = {
    Reason.NESTED_RULE: "rule 5 (nested) gives way to a backend kernel in Python, but not in C++",
    Reason.PYTHON_KERNEL: "a kernel is registered only in Python",
}


def because_of(group: DivergenceGroup | PythonDifference) -> str:
    """The kernels that make the difference."""
    kind = "Python kernel" if group.reason is Reason.PYTHON_KERNEL else "kernel"
    return f"the {kind}{'' if len(group.because) == 1 else 's'} at {' and '.join(group.because)}"


def because_text(difference: PythonDifference) -> str:
    """Reason why C++ and Python choose different keys, and the kernels that make the difference."""
    return f"{REASONS[difference.reason]}, because of {because_of(difference)}"


_WITHOUT_KEY = {
    Rule.FALLBACK: "the backend fallback",
    Rule.MISSING: "nothing",
    Rule.AMBIGUOUS: "nothing (it is ambiguous)",
}


def choice_label(choice: SlotChoice) -> str:
    """The key whose kernel is chosen, or what is in its place."""
    return choice.source if choice.source is not None else _WITHOUT_KEY[choice.rule]
