"""Expectations of guards: the fields about slots or calls, and tests if one of them holds."""

from __future__ import annotations

from dispatch_cli.checks.text import first_line, kernel_text
from dispatch_cli.engine.call.trace import Call, EndKind
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import Table, TableEntry
from dispatch_cli.model.glob import glob_pattern
from dispatch_cli.model.guard import Expectation, GuardField
from dispatch_cli.model.kernel import Kernel

COMPUTING = frozenset({Rule.KERNEL, Rule.DEFAULT, Rule.NESTED, Rule.MATH})
"""The rules by which a backend has an operator."""
OF_SLOTS = frozenset(
    {
        GuardField.RULE,
        GuardField.NOT,
        GuardField.KERNEL,
        GuardField.NOT_KERNEL,
        GuardField.FALLTHROUGH,
        GuardField.SAME_AS,
    }
)
OF_CALLS = (GuardField.END, GuardField.RAN, GuardField.AT, GuardField.ERROR)


def matches(text: str, globs: tuple[str, ...]) -> bool:
    return any(text == glob or glob_pattern(glob).match(text) is not None for glob in globs)


def holds(want: Expectation, entry: TableEntry, table: Table) -> bool:
    """True if one slot is as a guard wants it, or is not known and the guard accepts that."""
    field, texts = want
    if entry.rule is Rule.NOT_KNOWN:
        return accepts_unknown(want)
    kernel = entry.kernel
    match field:
        case GuardField.RULE:
            return entry.rule.value in texts
        case GuardField.NOT:
            return entry.rule.value not in texts
        case GuardField.KERNEL:
            return kernel is not None and _is_named(kernel, texts)
        case GuardField.NOT_KERNEL:
            return kernel is None or not _is_named(kernel, texts)
        case GuardField.FALLTHROUGH:
            return entry.is_fallthrough is (texts[0] == "true")
        case GuardField.SAME_AS:
            other = table[texts[0]]
            return other.rule is Rule.NOT_KNOWN or bool(entry.function == other.function)
        case _:
            return True


def accepts_unknown(want: Expectation) -> bool:
    """True if a guard holds at a slot that is not known: it does not require that the slot is known."""
    return want.field is not GuardField.NOT or Rule.NOT_KNOWN.value not in want.texts


def call_ends(want: Expectation, call: Call) -> bool:
    """True if a call ends as a guard wants it, or it is not known how it ends."""
    field, texts = want
    if call.end.kind is EndKind.NOT_KNOWN:
        return True
    last = call.hops[-1] if call.hops else None
    ran = last is not None and call.end.kind is not EndKind.ERROR
    match field:
        case GuardField.END:
            return call.end.kind.value in texts
        case GuardField.RAN:
            shown = kernel_text(call)
            return ran and shown is not None and matches(shown, texts)
        case GuardField.AT:
            return last is not None and last.slot in texts
        case _:
            error = call.end.error
            return error is not None and matches(first_line(error.text), texts)


def _is_named(kernel: Kernel, globs: tuple[str, ...]) -> bool:
    """True if what a dump shows of a kernel, or the Python function that it was made of, matches any of the globs."""
    function = kernel.function_name
    return matches(kernel.debug, globs) or (function is not None and matches(function, globs))
