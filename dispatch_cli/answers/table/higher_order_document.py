"""Higher-order operators: implementations, the answer of a call at each slot, and their words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from dispatch_cli.answers.shared.slot_row import Folded, HigherOrderRow, unfolded
from dispatch_cli.answers.table.higher_order_report import (
    ASIDE,
    HigherOrderImpls,
    HigherOrderSlots,
    ImplRow,
    asked_impls,
    fold_slots,
)
from dispatch_cli.answers.table.wording import source_cell
from dispatch_cli.engine.python.higher_order import Slot
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.higher_order import ImplKind
from dispatch_cli.render.document import (
    Block,
    Column,
    Gap,
    Inline,
    Narrow,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
)
from dispatch_cli.render.words import aside_lines, keys_label, place_cell, plural, short_function

KINDS = {
    ImplKind.DISPATCH: "dispatch key",
    ImplKind.AUTOGRAD: "autograd",
    ImplKind.FUNCTIONALIZE: "functionalization",
    ImplKind.MODE: "mode",
    ImplKind.SUBCLASS: "subclass",
    ImplKind.TRANSFORM: "transform",
}
SLOTS = {
    Slot.IMPL: "",
    Slot.MODES: "the innermost mode, then the subclasses",
    Slot.TRANSFORMS: "the innermost functorch transform",
    Slot.FALLTHROUGH: "falls through",
    Slot.NO_IMPL: "error: only a backend fallback, which higher-order operators do not use",
    Slot.MISSING: "error: no implementation",
    Slot.AMBIGUOUS: "error: ambiguous",
}
"""The result of a call at a slot; nothing where an implementation runs."""


def facts_of(impl: ImplRow) -> str:
    """Words for the declared facts about the calls that an implementation makes."""
    words = []
    if impl.returns_not_implemented:
        words.append("returns NotImplemented")
    if isinstance(impl.redispatches, bool):
        words.append("redispatches" if impl.redispatches else "does not redispatch")
    if impl.redispatches == "raises":
        words.append("raises")
    elif impl.errors:
        words.append(f"raises at {', '.join(impl.errors)}")
    if impl.deferred_error is not None:
        words.append("error in the backward pass" if impl.deferred_error else "error at once")
    return ", ".join(words)


def flags_of(impl: ImplRow) -> tuple[str, ...]:
    """Declared facts about an implementation, as flags of a sheet."""
    flags = {
        "fallthrough": impl.fallthrough,
        "redispatches": impl.redispatches is True,
        "raises": impl.redispatches == "raises" or impl.errors,
        "not_implemented": impl.returns_not_implemented,
        "deferred_error": impl.deferred_error,
    }
    return tuple(flag for flag, is_set in flags.items() if is_set)


def impls(operator: HigherOrderImpls) -> Iterator[Block]:
    """An operator with its implementations, in the order of registration."""
    yield from heading(operator)
    if operator.impls:
        yield TableBlock(IMPLS, [*alike(operator.impls)])
    else:
        yield Paragraph(Run("no implementations: every call of it is an error", Tone.WARN))
    if operator.default_fallthrough:
        yield Gap()
        head = Run(f"Fall through by default, {len(operator.default_fallthrough)}: ", Tone.HEAD)
        yield Paragraph((head, Run(", ".join(operator.default_fallthrough), Tone.DIM)))


def tables(operators: Iterable[HigherOrderSlots], full: bool) -> Iterator[Block]:
    """Each operator's table, folded unless *full*."""
    for position, table in enumerate(operators):
        if position:
            yield Gap()
        yield from heading(table)
        folding = unfolded(table.entries) if full else fold_slots(table.entries)
        if folding.rows:
            yield TableBlock(ENTRIES, folding.rows)
        if others := asked_impls(table.impls):
            yield Gap()
            yield TableBlock(ASKED, others)
        yield from aside_lines((SLOTS[slot], folding.aside.get(slot)) for slot in ASIDE)


def heading(operator: HigherOrderImpls | HigherOrderSlots) -> Iterator[Block]:
    """The heading of an operator, in any view."""
    yield Paragraph(title(operator.name, operator.side_effect, operator.mutates), kind=ParagraphKind.TITLE)
    if operator.span is not None:
        yield Paragraph(Run(f"declared at {operator.span}", Tone.DIM))
    yield Gap()


def title(name: str, side_effect: bool, mutates: bool = False) -> str:
    """The name of an operator, that it is a higher-order one, and its effects."""
    effects = ", with a side effect" * side_effect + ", writes to its arguments" * mutates
    return f"{name} (higher-order operator{effects})"


def alike(rows: Iterable[ImplRow]) -> Iterator[list[ImplRow]]:
    """Implementations that follow one another and differ in their name alone: one entry of a file for several keys."""
    for _, run in groupby(rows, key=lambda row: row._replace(name="", registered_at=(), fills=0)):
        yield [*run]


def _function(kernel: str, fallthrough: bool, short: bool) -> Run:
    if fallthrough:
        return Run(kernel, Tone.WARN)
    return Run(short_function(kernel) if short else kernel)


def _kernel(row: ImplRow, short: bool) -> Inline:
    """An implementation's function; short, what is declared about it stands below it."""
    function = _function(row.kernel, row.fallthrough, short)
    facts = facts_of(row)
    if not facts:
        return function
    return (function, Run("" if short else " "), Run(f"({facts})", Tone.DIM, breaks=short))


def _fills(alike: list[ImplRow], _: bool) -> Inline:
    filled, first = sum(row.fills for row in alike), alike[0]
    by_key = first.kind in (ImplKind.DISPATCH, ImplKind.AUTOGRAD, ImplKind.FUNCTIONALIZE)
    text = plural(filled, "slot") if by_key and not first.fallthrough else "-"
    return Run(text, Tone.PLAIN if filled else Tone.DIM)


IMPLS: list[Column[list[ImplRow]]] = [
    Column("Registered for", lambda alike, _: KINDS[alike[0].kind]),
    Column("Name", lambda alike, short: keys_label(tuple(row.name or "-" for row in alike), short)),
    Column("Kernel", lambda alike, short: _kernel(alike[0], short)),
    Column("Fills", _fills),
    Column("Declared at", lambda alike, _: place_cell(alike[0].span), Narrow.BELOW, optional=True),
]


def _what(run: Folded[HigherOrderRow], short: bool) -> Inline:
    row = run.answer
    if row.slot is Slot.IMPL and row.kernel is not None:
        return _function(row.kernel, False, short)
    if row.slot is Slot.FALLTHROUGH:
        return Run("falls through", Tone.WARN)
    if row.error is not None:
        return Run(row.error, Tone.BAD if row.slot is Slot.AMBIGUOUS else Tone.DIM)
    return SLOTS[row.slot]


def _decided(run: Folded[HigherOrderRow], short: bool) -> Inline:
    row = run.answer
    if row.slot is not Slot.IMPL:
        return ""
    tone = Tone.KERNEL if row.rule is Rule.KERNEL else Tone.ALIAS
    return Run(row.rule.value if short else row.rule.dump_text, tone)


def _from(run: Folded[HigherOrderRow], short: bool) -> Inline:
    return source_cell(run.answer, short) if run.answer.slot is Slot.IMPL else ""


ENTRIES: list[Column[Folded[HigherOrderRow]]] = [
    Column("Key", lambda run, short: keys_label(run.keys, short)),
    Column("Kernel", _what),
    Column("Rule", _decided),
    Column("From", _from, narrow=Narrow.BELOW),
    Column(
        "Declared at",
        lambda run, _: "" if run.answer.slot is Slot.FALLTHROUGH else place_cell(run.answer.span),
        Narrow.BELOW,
        optional=True,
    ),
]
ASKED: list[Column[ImplRow]] = [
    Column("Asked for", lambda row, _: KINDS[row.kind]),
    Column("Name", lambda row, _: row.name or ", ".join(dict.fromkeys(row.registered_at))),
    Column("Kernel", _kernel),
    Column("Declared at", lambda row, _: place_cell(row.span), Narrow.BELOW, optional=True),
]


def decided(row: HigherOrderRow) -> Rule | Slot:
    """The rule that decides a slot of a higher-order operator, or what a call finds there instead of a kernel."""
    return row.rule if row.slot in (Slot.IMPL, Slot.FALLTHROUGH) else row.slot
