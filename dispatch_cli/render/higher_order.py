"""Higher-order operators for people: their rules, and what a call finds at each slot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from rich.console import RenderableType
from rich.text import Text

from dispatch_cli.engine.python.higher_order import HigherOrderEntry, Slot
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.higher_order import HigherOrderImpl, ImplKind
from dispatch_cli.render import console
from dispatch_cli.render.console import Rows, fits, plain, to_text
from dispatch_cli.render.higher_order_wording import facts_of, kind_label, rule_label, slot_label
from dispatch_cli.render.style import Style
from dispatch_cli.render.text_safety import safe
from dispatch_cli.render.wording import keys_label, place_label, runs_label, short_function
from dispatch_cli.report.folding import Runs
from dispatch_cli.report.higher_order import (
    FoldedEntry,
    HigherOrderReport,
    HigherOrderRules,
    HigherOrderSlots,
    RuleRow,
    asked_rules,
    fold_entries,
)

_BELOW = (
    Slot.FALLTHROUGH,
    Slot.NO_RULE,
    Slot.MISSING,
)


def rules_lines(operator: HigherOrderRules, style: Style) -> Iterator[RenderableType]:
    """An operator with its rules, in the order of registration."""
    yield from _heading(operator)
    if operator.rules:
        yield _fitting(lambda short: _rules(operator.rules, short), style)
    else:
        yield plain("no rules: every call of it is an error", console.WARN)
    if operator.fallthrough:
        yield Text()
        yield Text.assemble(
            (f"Fall through by default, {len(operator.fallthrough)}: ", console.HEAD),
            (safe(", ".join(operator.fallthrough)), console.DIM),
        )


def tables_text(report: HigherOrderReport, style: Style, all_rows: bool) -> Iterator[str]:
    """Each operator's table, folded unless *all_rows*."""
    for position, table in enumerate(report.tables()):
        lead = ["\n"] if position else []
        yield "".join([*lead, to_text(_table(table, all_rows, style), style)])


def summary_text(report: HigherOrderReport, style: Style) -> Iterator[str]:
    """One row per operator: how many slots of each kind it has."""
    tables = list(report.tables())
    shown = [slot for slot in Slot if any(table.counts.get(slot) for table in tables)]
    rows = Rows(["Higher-order operator"])
    for slot in shown:
        rows.add_column(slot.value.replace("-", " ").capitalize(), justify="right")
    for table in tables:
        counts = (table.counts.get(slot, 0) for slot in shown)
        cells = (Text(str(count)) if count else Text("·", console.DIM) for count in counts)
        rows.add_row(plain(table.rules.name), *cells)
    noun = "higher-order operator" if len(tables) == 1 else "higher-order operators"
    closing = plain(f"{len(tables)} {noun}, {report.universe}; slots by what a call finds there", console.DIM)
    yield to_text([rows, Text(), closing], style)


def _heading(operator: HigherOrderRules) -> Iterator[Text]:
    effect = ", with a side effect" if operator.side_effect else ""
    yield plain(f"{operator.name} (higher-order operator{effect})", console.HEAD)
    if operator.span is not None:
        yield plain(f"declared at {operator.span}", console.DIM)
    yield Text()


def _rules(rules: Iterable[RuleRow], short: bool) -> Rows:
    rules = list(rules)
    placed = not short and any(row.rule.span is not None for row in rules)
    table = Rows(["Rule for", "Name", "Kernel", "Fills", *(["Declared at"] if placed else [])])
    for alike in _alike(rules):
        rule, filled = alike[0].rule, sum(row.fills for row in alike)
        by_key = rule.kind in (ImplKind.DISPATCH, ImplKind.AUTOGRAD, ImplKind.FUNCTIONALIZE)
        fills = f"{filled} slot{'' if filled == 1 else 's'}" if by_key and not rule.fallthrough else "-"
        cells = [
            plain(kind_label(rule.kind)),
            plain(keys_label(tuple(row.rule.name or "-" for row in alike), short)),
            _kernel(rule, short),
            plain(fills, "" if filled else console.DIM),
        ]
        if placed:
            cells.append(plain(place_label(rule.span), console.PLACE))
        table.add_row(*cells)
    return table


def _alike(rules: Iterable[RuleRow]) -> Iterator[tuple[RuleRow, ...]]:
    """Rules that follow one another and differ in their name alone: one entry of a file for several keys."""
    for _, run in groupby(rules, key=lambda row: row.rule._replace(name="")):
        yield tuple(run)


def _kernel(rule: HigherOrderImpl, short: bool, facts: bool = True) -> Text:
    """A rule's function; short, what is declared about it, and where, stand below it."""
    if rule.fallthrough:
        text = Text(rule.kernel, console.WARN)
    else:
        text = plain(short_function(rule.kernel) if short else rule.kernel)
    said = facts_of(rule) if facts else ""
    if said:
        text = Text.assemble(text, "\n" if short else " ", (f"({said})", console.DIM))
    if short and rule.span is not None:
        text = Text.assemble(text, "\n", (safe(place_label(rule.span, short)), console.PLACE))
    return text


def _table(table: HigherOrderSlots, all_rows: bool, style: Style) -> Iterator[RenderableType]:
    yield from _heading(table.rules)
    rows, below = fold_entries(table.entries)
    if all_rows:
        rows, below = [FoldedEntry((entry.key,), entry) for entry in table.entries], {}
    if rows:
        yield _fitting(lambda short: _entries(rows, short), style)
    others = asked_rules(table.rules)
    if others:
        yield Text()
        yield _fitting(lambda short: _asked(others, short), style)
    yield from _below(below)


def _entries(rows: list[FoldedEntry], short: bool) -> Rows:
    placed = not short and any(row.first.rule is not None and row.first.rule.span is not None for row in rows)
    aliased = [] if short else ["From"]
    table = Rows(["Key", "Kernel", "Rule", *aliased, *(["Declared at"] if placed else [])])
    for row in rows:
        entry = row.first
        cells = [plain(keys_label(row.keys, short)), _what(entry, short), *_decided(entry, short)]
        if placed:
            span = None if entry.rule is None else entry.rule.span
            cells.append(plain(place_label(span), console.PLACE))
        table.add_row(*cells)
    return table


def _what(entry: HigherOrderEntry, short: bool) -> Text:
    if entry.slot is Slot.RULE and entry.rule is not None:
        return _kernel(entry.rule, short, facts=False)
    if entry.slot is Slot.FALLTHROUGH:
        return Text("falls through", console.WARN)
    if entry.error is not None:
        return plain(entry.error, console.BAD if entry.slot is Slot.AMBIGUOUS else console.DIM)
    return Text(slot_label(entry.slot))


def _decided(entry: HigherOrderEntry, short: bool) -> tuple[Text, ...]:
    """The rule that chose the function and, where there is room, the alias key that it is from."""
    rule = entry.decision.rule
    if entry.slot is not Slot.RULE:
        return (Text(),) if short else (Text(), Text())
    source = entry.decision.source if rule is not Rule.KERNEL else None
    color = console.KERNEL if source is None else console.ALIAS
    if short:
        return (Text(rule.value, color),)
    return Text(rule.dump_text, color), plain(source or "", console.ALIAS)


def _asked(rules: list[RuleRow], short: bool) -> Rows:
    """The rules that are not found by ``resolve_key``: of modes, subclasses, transforms and functionalization."""
    placed = not short and any(row.rule.span is not None for row in rules)
    table = Rows(["Asked for", "Name", "Kernel", *(["Declared at"] if placed else [])])
    for row in rules:
        cells = [plain(kind_label(row.rule.kind)), plain(rule_label(row)), _kernel(row.rule, short)]
        if placed:
            cells.append(plain(place_label(row.rule.span), console.PLACE))
        table.add_row(*cells)
    return table


def _below(below: dict[Slot, Runs]) -> Iterator[RenderableType]:
    if below:
        yield Text()
    for slot in _BELOW:
        runs = below.get(slot, ())
        if runs:
            title = slot_label(slot)
            head = f"{title[0].upper()}{title[1:]}, {sum(map(len, runs))}: "
            yield Text.assemble((head, console.HEAD), (safe(runs_label(runs)), console.DIM))


def _fitting(make: Callable[[bool], Rows], style: Style) -> Rows:
    """Rows as they are, or shortened where they have no room."""
    full = make(False)
    return full if fits(full, style) else make(True)
