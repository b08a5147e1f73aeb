"""Answers of Python's ``torch._ops.resolve_key``: its own look at an operator's registrations.

It looks at Python kernels (``py_impl``) and C++ ones alike, and follows the rules of the C++ table with one difference:
rule 5 (nested) gives way to a backend kernel, as rule 6 (math) does (`KeyLayout.python`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import Decision, Rule, RuleStep, decide
from dispatch_cli.engine.table.layout import KeyLayout, layout_of
from dispatch_cli.engine.table.table import plan
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.text import printed_texts
from dispatch_cli.model.universe import PYTHON, Universe


class Reason(Enum):
    """Reasons for which Python chooses another key than the C++ table."""

    NESTED_RULE = "nested-rule"
    """Rule 5 gives way to a backend kernel in Python alone."""
    PYTHON_KERNEL = "python-kernel"
    """A kernel is registered in Python that C++ does not know."""


class Divergence(NamedTuple):
    """A slot at which C++ and Python choose different keys.

    because: the keys whose kernels make the difference; of Python kernels, those without any one of which the slot
    would be decided otherwise, or all where none is like that.
    """

    key: str
    cpp: Decision
    python: Decision
    reason: Reason
    because: tuple[str, ...]


def resolve_key(dispatcher: Dispatcher, name: OperatorName, key: str, python_keys: Iterable[str] = ()) -> Decision:
    """Decision of ``resolve_key`` for one operator and slot.

    python_keys: the keys that have a Python kernel. A missing kernel and an ambiguous one are errors in PyTorch.
    Errors: Refused for an unknown operator; KeyError for a key without a slot.
    """
    return decisions(dispatcher, name, python_keys)[dispatcher.universe.slot[key]]


def decisions(dispatcher: Dispatcher, name: OperatorName, python_keys: Iterable[str] = ()) -> tuple[Decision, ...]:
    """Decisions of ``resolve_key`` for every slot. Errors: Refused for an unknown operator."""
    registered = dispatcher.shape(name)[0] | _bits(dispatcher.layout, python_keys)
    return plan(dispatcher.layout.python, registered, dispatcher.fallback_bits).decisions


def decide_for(universe: Universe, python_keys: Iterable[str], fallbacks: int) -> tuple[Decision, ...]:
    """Decisions of ``resolve_key`` for every slot of an operator that has Python kernels only.

    fallbacks: bit *i* is set when slot *i* has a backend fallback.
    """
    layout = layout_of(universe).python
    return plan(layout, _bits(layout, python_keys), fallbacks).decisions


def steps_for(
    universe: Universe, python_keys: Iterable[str], key: str, has_fallback: bool
) -> Iterator[tuple[RuleStep, tuple[str, ...]]]:
    """The rules that ``resolve_key`` looks at for one slot of an operator that has only Python kernels, in order.

    Each with the keys whose kernels were in the way. Errors: KeyError for a key without a slot.
    """
    layout = layout_of(universe).python
    steps: list[RuleStep] = []
    decide(layout.candidates[universe.slot[key]], _bits(layout, python_keys), has_fallback, steps)
    for step in steps:
        yield step, layout.keys_in(step.blockers)


def error_text(name: OperatorName, key: str, rule: Rule) -> str:
    """The error of ``resolve_key`` where it can choose no key; our own words where its choice is not known.

    Source: an ambiguous kernel is a RuntimeError, a missing one a NotImplementedError.
    """
    if rule is Rule.AMBIGUOUS:
        return printed_texts.AMBIGUOUS_IN_PYTHON
    if rule is Rule.NOT_KNOWN:
        return f"it is not known which kernel {name.in_python} has at {key}: the state is incomplete"
    return printed_texts.NO_PYTHON_KERNEL.format(op=name.in_python, key=python_key_text(key))


def python_key_text(key: str) -> str:
    """A dispatch key as Python prints it.

    Some keys have no name in Python, where they print as ``DispatchKey.???``; here they keep the one they have in C++.
    """
    return f"DispatchKey.{key}"


def refusal_text(operator: str, key: str, taken: bool) -> str | None:
    """The reason for which ``py_impl`` refuses a kernel at a key, in its words; None when it does not."""
    if key == PYTHON:
        return "Please register a mode for the DispatchKey.Python key instead."
    return f"Trying to override a python impl for {python_key_text(key)} on operator {operator}" if taken else None


def chosen_key(key: str, decision: Decision) -> str | None:
    """The key whose kernel runs, in the words of ``resolve_key``: a fallback is at the slot's own key.

    None when there is no kernel, or none can be chosen.
    """
    return key if decision.rule is Rule.FALLBACK else decision.source


def divergences(dispatcher: Dispatcher, registered: int, python_keys: Iterable[str] = ()) -> tuple[Divergence, ...]:
    """The slots at which Python chooses another key than the C++ table, in table order.

    registered: bits of the keys with a kernel in C++ (`Dispatcher.shape`).
    """
    layout = dispatcher.layout
    return _divergences(layout, registered, _bits(layout, python_keys), dispatcher.fallback_bits)


@lru_cache(maxsize=8192)
def _divergences(layout: KeyLayout, registered: int, python: int, fallbacks: int) -> tuple[Divergence, ...]:
    """The divergences of all operators that have kernels at the same keys."""
    divergences = []
    by_python, kernels = layout.python, layout.keys_in(python)
    in_cpp = plan(layout, registered, fallbacks).decisions
    in_python = plan(by_python, registered | python, fallbacks).decisions
    rules_alone = plan(by_python, registered, fallbacks).decisions
    for slot, (key, theirs, ours) in enumerate(zip(layout.universe.slots, in_cpp, in_python, strict=True)):
        if _same(theirs, ours) or Rule.NOT_KNOWN in (theirs.rule, ours.rule):
            continue
        if _same(rules_alone[slot], ours):
            divergences.append(Divergence(key, theirs, ours, Reason.NESTED_RULE, layout.keys_in(ours.blockers)))
            continue
        without = ((kernel, registered | python & ~layout.registered_bit[kernel]) for kernel in kernels)
        needed = [
            kernel for kernel, bits in without if not _same(plan(by_python, bits, fallbacks).decisions[slot], ours)
        ]
        divergences.append(Divergence(key, theirs, ours, Reason.PYTHON_KERNEL, tuple(needed) or kernels))
    return tuple(divergences)


def _same(decision: Decision, other: Decision) -> bool:
    """True if two decisions about decision slot choose the same key, or fail in the same way."""
    if decision.source is not None or other.source is not None:
        return decision.source == other.source
    return decision.rule is other.rule


def _bits(layout: KeyLayout, keys: Iterable[str]) -> int:
    bits = 0
    for key in keys:
        bits |= layout.registered_bit[key]
    return bits
