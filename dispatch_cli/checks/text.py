"""Keys, and what guards want and find, as the sentences of checks have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dispatch_cli.engine.call.errors import brief
from dispatch_cli.engine.call.trace import Call, EndKind
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.calls.guard import Expectation, GuardedCall, GuardField
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


def kernel_text(call: Call) -> str | None:
    """The kernel that ran last: the Python kernel where there is one, else as a dump shows it."""
    last = call.hops[-1]
    if last.python is not None and last.python.kernel is not None:
        return last.python.kernel
    return last.live.kernel.debug if last.live.kernel is not None else None


def first_line(text: str) -> str:
    """The first line of an error's text."""
    return text.split("\n", 1)[0]


def without_hint(text: str) -> str:
    """An error's text without the hint at its end, which PyTorch gives where an operator has no rule for a mode."""
    return text.split("Hint:", 1)[0].rstrip()


def call_words(call: GuardedCall) -> str:
    """Tensors, options and contexts of a guarded call, after ``a call with``."""
    words = ", ".join(map(str, call.tensors)) or "no tensors"
    if call.options.given:
        words += f" and {call.options}"
    return f"{words} under {', '.join(map(str, call.contexts))}" if call.contexts else words


def wanted_call_words(wants: Iterable[Expectation], call: GuardedCall) -> str:
    """The end of a call that a guard wants, after ``the guard requires``."""
    return f"a call with {call_words(call)} to end {' and '.join(map(wanted_words, wants))}"


def end_words(call: Call) -> str:
    """The end of a call, after ``it``."""
    end = call.end
    if end.error is not None:
        return f"raises {brief(first_line(end.error.text))}"
    if end.handler is not None:
        return f"ends in the {end.handler.kind.value} {end.handler.name}"
    last = call.hops[-1]
    what = "the decomposition " if end.kind is EndKind.DECOMPOSITION else ""
    return f"ends in {what}{kernel_text(call)} at {last.slot} by rule {last.live.rule.value}"


def wanted_words(want: Expectation) -> str:
    """Expectation of a guard about a slot, after ``the guard requires``, or about a call, after ``to end``."""
    either = " or ".join(want.texts)
    match want.field:
        case GuardField.RULE:
            return f"rule {either}"
        case GuardField.NOT:
            return f"any rule but {either}"
        case GuardField.KERNEL:
            return f"kernel {either}"
        case GuardField.NOT_KERNEL:
            return f"any kernel but {either}"
        case GuardField.FALLTHROUGH:
            return "a fallthrough" if want.texts[0] == "true" else "no fallthrough"
        case GuardField.SAME_AS:
            return f"the same function as {either}"
        case GuardField.BACKEND:
            return "a backend kernel or a composite one"
        case GuardField.END:
            return {"error": "with an error"}.get(either, f"in a {either}")
        case GuardField.RAN:
            return f"in kernel {either}"
        case GuardField.AT:
            return f"at {either}"
        case GuardField.ERROR:
            return f"with the error {either}"
