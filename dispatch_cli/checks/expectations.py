"""Expectations of guards, the one test if they hold, and what breaks them: for operators of either kind."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple

from dispatch_cli.engine.call.trace import EndKind
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.glob import glob_pattern
from dispatch_cli.model.guard import Expectation, GuardField
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span

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


class Held(NamedTuple):
    """Content of a slot, or of another place of a higher-order operator, as guards see it.

    names: of its kernel; those of the Python function that it was made of, too. function: its identity, as PyTorch
    compares kernels. words: all of this in a sentence. entry: of a slot. span: of a higher-order implementation.
    """

    rule: Rule
    names: tuple[str, ...]
    falls_through: bool
    function: Hashable
    words: str
    entry: TableEntry | None = None
    span: Span | None = None


class Ended(NamedTuple):
    """End of a call, as guards see it. ran: the last kernel, unless the call raises. key: the last slot.

    words: the same after ``it``. entry, span: as of `Held`.
    """

    kind: EndKind
    ran: str | None
    key: str | None
    error: str | None
    words: str
    entry: TableEntry | None = None
    span: Span | None = None


def holds(want: Expectation, held: Held, at: Callable[[str], Held]) -> bool:
    """True if a place is as a guard wants it, or is not known and the guard accepts that. at: content of a slot."""
    texts = want.texts
    if held.rule is Rule.NOT_KNOWN:
        return accepts_unknown(want)
    match want.field:
        case GuardField.RULE:
            return held.rule.value in texts
        case GuardField.NOT:
            return held.rule.value not in texts
        case GuardField.KERNEL:
            return any(matches(name, texts) for name in held.names)
        case GuardField.NOT_KERNEL:
            return not any(matches(name, texts) for name in held.names)
        case GuardField.FALLTHROUGH:
            return held.falls_through is (texts[0] == "true")
        case GuardField.SAME_AS:
            other = at(texts[0])
            return other.rule is Rule.NOT_KNOWN or bool(held.function == other.function)
        case GuardField.BACKEND:
            return held.rule in COMPUTING and not held.falls_through
        case _:
            return True


def accepts_unknown(want: Expectation) -> bool:
    """True if a guard holds at a slot that is not known: it does not require that the slot is known."""
    return want.field is not GuardField.NOT or Rule.NOT_KNOWN.value not in want.texts


def call_ends(want: Expectation, ended: Ended) -> bool:
    """True if a call ends as a guard wants it, or it is not known how it ends."""
    if ended.kind is EndKind.NOT_KNOWN:
        return True
    match want.field:
        case GuardField.END:
            return ended.kind.value in want.texts
        case GuardField.RAN:
            return ended.ran is not None and matches(ended.ran, want.texts)
        case GuardField.AT:
            return ended.key in want.texts
        case _:
            return ended.error is not None and matches(ended.error, want.texts)


class Violation(NamedTuple):
    """Violation of a guard by one operator.

    keys: the slots, or the modes and so on, that hold the same; none where a call is meant that did not get as far.
    wanted: the expectations that do not hold, in words. found: what is there, in words. entry: what fills the first
    slot. span: where the implementation of a higher-order operator is declared.
    """

    keys: tuple[str, ...]
    wanted: str
    found: str
    entry: TableEntry | None = None
    span: Span | None = None

    @property
    def key(self) -> str | None:
        """The first of its keys."""
        return self.keys[0] if self.keys else None

    @property
    def reason(self) -> str:
        """Reason that it shares with other violations of the guard."""
        return f"the guard requires {self.wanted}"


class BrokenOperator(NamedTuple):
    """An operator that is not as a guard wants it, and where. Operators with one plan share most of these."""

    operator: OperatorName
    violations: tuple[Violation, ...]
