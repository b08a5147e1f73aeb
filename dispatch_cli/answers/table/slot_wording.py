"""The sentences of what a slot holds."""

from __future__ import annotations

from typing import Protocol

from dispatch_cli.answers.shared.listing import some_of
from dispatch_cli.answers.shared.slot_row import Otherwise, TableRow
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.span import Span
from dispatch_cli.render.words import fallthrough_text, short_kernel


class HasKernel(Protocol):
    """A row about a kernel: its text or None, the user's place, and how it is registered."""

    @property
    def kernel(self) -> str | None: ...
    @property
    def fallthrough(self) -> bool: ...
    @property
    def core_fallback(self) -> bool: ...
    @property
    def span(self) -> Span | None: ...


def kernel_label(row: HasKernel, short: bool = False) -> str:
    """A kernel, and whether it is PyTorch's own or a fallthrough."""
    if row.kernel is None:
        return "nothing"
    kernel = short_kernel(row.kernel) if short or row.core_fallback else row.kernel
    if row.core_fallback:
        kernel = f"PyTorch's own, {kernel}"
    if not row.fallthrough:
        return kernel
    return f"fallthrough {kernel}" if fallthrough_text(row.kernel, row.span) else "fallthrough"


def kernel_phrase(row: TableRow, short: bool = False) -> str:
    """A kernel inside a sentence."""
    if row.kernel is None:
        return "nothing"
    if row.fallthrough and not fallthrough_text(row.kernel, row.span):
        return "a fallthrough"
    if row.core_fallback:
        phrase = f"PyTorch's own fallback, {short_kernel(row.kernel)}"
    elif row.kernel.startswith("registered at "):
        place = short_kernel(row.kernel)
        named = short and place != row.kernel
        phrase = f"the kernel of {place}" if named else f"the kernel {row.kernel}"
    else:
        phrase = f"the backend fallback {row.kernel}" if row.rule is Rule.FALLBACK else row.kernel
    return f"a fallthrough, {phrase}" if row.fallthrough else phrase


def answer_text(row: TableRow, short: bool = False) -> str:
    """The kernel in a slot, the rule that chose it, and its source."""
    place = f", declared at {row.span}" if row.span is not None else ""
    rule = f"rule {row.rule_number}, {row.rule.dump_text}"
    if row.otherwise is not None:
        return f"What {row.key} holds is not known. {otherwise_text(row, row.otherwise, short)}"
    match row.rule:
        case Rule.MISSING:
            return f"{row.key} holds nothing ({rule})."
        case Rule.AMBIGUOUS:
            return f"{row.key} holds {row.kernel} ({rule}), which raises when it is called."
        case Rule.KERNEL | Rule.FALLBACK:
            return f"{row.key} holds {kernel_phrase(row, short)} ({rule}){place}."
        case _:
            return f"{row.key} holds {kernel_phrase(row, short)}, from {row.source} ({rule}){place}."


def otherwise_text(row: TableRow, otherwise: Otherwise, short: bool = False) -> str:
    """Reason why it is not known what a slot holds, and its content without kernels that are not known."""
    held = "nothing"
    if otherwise.kernel is not None:
        known = row._replace(rule=otherwise.rule, kernel=otherwise.kernel, fallthrough=otherwise.fallthrough)
        source = f", from {otherwise.source}" if otherwise.source not in (None, row.key) else ""
        held = f"{kernel_phrase(known, short)}{source}"
    rule = f"rule {otherwise.rule_number}, {otherwise.rule.dump_text}"
    what = "kernel or backend fallback" if row.key in row.blockers else "kernel"
    return f"Unless PyTorch registers a {what} at {some_of(row.blockers)} by hand, it holds {held} ({rule})."
