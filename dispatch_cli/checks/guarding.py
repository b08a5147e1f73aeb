"""Evaluation of guards: the operators and slots that each is about, and what there breaks it.

An operator's table is asked in as few parts as guards can tell apart: one of PyTorch has 137 slots and some eight
different answers in them. A file of a few kilobytes can ask for hours of work, so the work is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from dispatch_cli.checks.finding_parts import kernel_words
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.table.table import Plan, Table, TableEntry
from dispatch_cli.model.calls.guard import Expectation, Guard, GuardField
from dispatch_cli.model.calls.support import Promise
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.text.glob import glob_pattern, is_glob

MAX_WORK = 3_000_000
"""Units of work of one run, of about a microsecond each."""
OF_OPERATOR = 10
"""Cost of an operator that is compared with a guard, slot by slot."""
OF_CELL = 50
"""Cost of a cell that is promised; it takes some calls."""
OF_TEXT = 1
"""Cost of a text that is compared with a glob."""


def holds(want: Expectation, entry: TableEntry, table: Table) -> bool:
    """True if a slot of a table is as a guard wants it, or is not known and the guard accepts that."""
    texts = want.texts
    if entry.rule is Rule.NOT_KNOWN:
        return want.field is not GuardField.NOT or Rule.NOT_KNOWN.value not in texts
    match want.field:
        case GuardField.RULE:
            return entry.rule.value in texts
        case GuardField.NOT:
            return entry.rule.value not in texts
        case GuardField.KERNEL:
            return _has_kernel(entry, texts)
        case GuardField.NOT_KERNEL:
            return not _has_kernel(entry, texts)
        case GuardField.FALLTHROUGH:
            return entry.is_fallthrough is (texts[0] == "true")
        case GuardField.SAME_AS:
            other = table[texts[0]]
            return other.rule is Rule.NOT_KNOWN or bool(entry.function == other.function)


def _has_kernel(entry: TableEntry, globs: tuple[str, ...]) -> bool:
    """True if the kernel in a slot, or the Python function that it was made of, has a name that a glob matches."""
    kernel = entry.kernel
    names = () if kernel is None else (kernel.debug, kernel.function_name)
    return any(name == glob or glob_pattern(glob).match(name) for name in names if name for glob in globs)


def _wanted_words(want: Expectation) -> str:
    """Expectation of a guard about a slot, after ``the guard requires``."""
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


class Violation(NamedTuple):
    """Violation of a guard by one operator.

    keys: the slots that hold the same. wanted: the expectations that do not hold, in words. found: what is there, in
    words. entry: what fills the first slot.
    """

    keys: tuple[str, ...]
    wanted: str
    found: str
    entry: TableEntry


class OperatorGlobs:
    """The operators of a state that globs of guards and promises match, and the work that is left for them.

    A glob is compared once.
    """

    def __init__(self, view: View) -> None:
        self._left = MAX_WORK
        self._names = {str(name): name for name in view.names}
        self._matching: dict[str, tuple[OperatorName, ...]] = {}

    def spend(self, work: int, guard: Guard | Promise) -> None:
        """Take *work* for a guard or promise. Errors: InputError when there is not so much left."""
        self._left -= work
        if self._left < 0:
            what = "guards" if isinstance(guard, Guard) else "promises"
            message = f"the {what} up to here need more comparisons and simulated calls than one run makes"
            hint = f"let {what} name fewer operators and keys, or check them in several runs with --guards FILE"
            raise InputError((Problem("too-many-comparisons", message, guard.span, hint=hint),))

    def matching(self, glob: str, asking: Guard | Promise) -> tuple[OperatorName, ...]:
        """The operators that a glob or a name matches. Errors: InputError when it is too much work."""
        names = self._matching.get(glob)
        if names is None:
            texts = [glob] if glob in self._names else []
            if is_glob(glob):
                self.spend(len(self._names) * OF_TEXT, asking)
                texts = list(filter(glob_pattern(glob).match, self._names))
            names = self._matching[glob] = tuple(self._names[text] for text in texts)
        return names


class Guards:
    """The operators and slots that the guards of a state are about, and what breaks the guards."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._globs = OperatorGlobs(view)
        self._slots = cache(self._read_slots)
        self._chosen = cache(self._choose)
        self._parts = cache(self._parts_of)

    def operators(self, guard: Guard) -> tuple[OperatorName, ...]:
        """The operators that a guard is about, as far as the view lets it; by glob, then by name."""
        names = dict.fromkeys(name for glob in guard.ops for name in self._globs.matching(glob, guard))
        guarded = self._view.guarded
        return tuple(names) if guarded is None else tuple(name for name in names if name in guarded)

    def unmatched(self, guard: Guard) -> Iterator[tuple[str, str]]:
        """The globs of a guard that match nothing: the word for what they should match, and the glob."""
        for glob in guard.ops:
            if not self._globs.matching(glob, guard) and not self._is_conditional(glob):
                yield "operator", glob
        for glob in guard.keys:
            if not self._slots(glob):
                yield "dispatch key", glob

    def broken(self, guard: Guard) -> Iterator[tuple[OperatorName, tuple[Violation, ...]]]:
        """The operators that break a guard, and its violations by each. Errors: InputError when it is too much work."""
        for name in self.operators(guard):
            self._globs.spend(OF_OPERATOR, guard)
            if broken := tuple(self._violations(guard, self._view.dispatcher.live_table(name))):
                yield name, broken

    def _violations(self, guard: Guard, table: Table) -> Iterator[Violation]:
        by_reason: dict[tuple[str, str], tuple[TableEntry, list[str]]] = {}
        for keys in self._parts(table.plan, guard.keys, guard.excepted):
            entry = table[keys[0]]
            wanted = " and ".join([_wanted_words(want) for want in guard.wants if not holds(want, entry, table)])
            if wanted:
                by_reason.setdefault((wanted, self._words(entry)), (entry, []))[1].extend(keys)
        for (wanted, words), (entry, same) in by_reason.items():
            same.sort(key=self._view.universe.slot.__getitem__)
            yield Violation(tuple(same), wanted, words, entry)

    def _words(self, entry: TableEntry) -> str:
        """Content of a slot, and the reason."""
        kernel = entry.kernel
        if entry.rule is Rule.NOT_KNOWN:
            return "what is not known, because the state is incomplete"
        content = "nothing (missing)"
        if kernel is not None:
            what = f"a fallthrough ({kernel.label})" if entry.is_fallthrough else kernel_words(kernel)
            content = f"{what} by rule {entry.rule.value}"
        keys = self._view.dispatcher.keys_in(entry.decision.blockers)
        noun = "kernel" if len(keys) == 1 else "kernels"
        return f"{content}, because of the {noun} at {', '.join(keys)}" if keys else content

    def _parts_of(self, plan: Plan, keys: tuple[str, ...], excepted: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """The slots of a guard in parts that have one decision; a fallback is one of its key."""
        parts: dict[tuple[Decision, str | None], list[str]] = {}
        for key in self._chosen(keys, excepted):
            decision = plan.decisions[self._view.universe.slot[key]]
            parts.setdefault((decision, key if decision.rule is Rule.FALLBACK else None), []).append(key)
        return tuple(map(tuple, parts.values()))

    def keys(self, guard: Guard) -> tuple[str, ...]:
        """The slots that a guard is about, in runtime order."""
        return self._chosen(guard.keys, guard.excepted)

    def _choose(self, keys: tuple[str, ...], excepted: tuple[str, ...]) -> tuple[str, ...]:
        chosen = {key for glob in keys for key in self._slots(glob)}
        chosen.difference_update(key for glob in excepted for key in self._slots(glob))
        return tuple(sorted(chosen, key=self._view.universe.slot.__getitem__))

    def _is_conditional(self, glob: str) -> bool:
        """True if a glob matches an operator that is defined under other conditions."""
        variants = self._view.first.state.variants
        match = glob_pattern(glob).match
        return variants is not None and any(match(str(name)) for name in variants.defined)

    def _read_slots(self, glob: str) -> tuple[str, ...]:
        universe = self._view.universe
        if universe.is_alias(glob):
            return universe.covered_by(glob)
        if glob in universe.slot:
            return (glob,)
        return tuple(filter(glob_pattern(glob).match, universe.slots))
