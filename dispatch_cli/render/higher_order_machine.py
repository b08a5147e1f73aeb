"""Higher-order operators for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from dispatch_cli.engine.python.higher_order import HigherOrderEntry, Slot
from dispatch_cli.engine.python.table import chosen_key
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.higher_order import RAISES, HigherOrderImpl
from dispatch_cli.render.higher_order_wording import facts_of, kind_label, rule_label, slot_label
from dispatch_cli.render.machine import place_text, span_data
from dispatch_cli.render.wording import keys_label, runs_label
from dispatch_cli.report.higher_order import HigherOrderReport, HigherOrderRules, asked_rules, fold_entries


def higher_order_data(report: HigherOrderReport) -> Iterator[dict[str, Any]]:
    """Every operator with its rules and every slot of its table."""
    for table in report.tables():
        yield {**operator_data(table.rules), "entries": [_entry_data(entry) for entry in table.entries]}


def summary_data(report: HigherOrderReport) -> Iterator[dict[str, Any]]:
    """How many slots of each kind every operator has."""
    for table in report.tables():
        counts = table.counts
        yield {
            "name": table.rules.name,
            "declared_at": span_data(table.rules.span),
            "slots": {slot.value: counts.get(slot, 0) for slot in Slot},
        }


def operator_data(operator: HigherOrderRules) -> dict[str, Any]:
    """An operator with its rules, in the order of registration."""
    return {
        "name": operator.name,
        "rules": [
            {**_rule_data(row.rule), "registered_at": list(row.keys), "fills": row.fills} for row in operator.rules
        ],
        "default_fallthrough": list(operator.fallthrough),
        "side_effect": operator.side_effect,
        "declared_at": span_data(operator.span),
    }


def _rule_data(rule: HigherOrderImpl) -> dict[str, Any]:
    return {
        "kind": rule.kind.value,
        "name": rule.name,
        "kernel": rule.kernel,
        "fallthrough": rule.fallthrough,
        "redispatches": RAISES if rule.raises else rule.redispatches,
        "errors": {place or "everywhere": text for place, text in rule.errors},
        "returns_not_implemented": rule.not_implemented,
        "deferred_error": rule.deferred_error,
        "declared_at": span_data(rule.span),
    }


def _entry_data(entry: HigherOrderEntry) -> dict[str, Any]:
    return {
        "key": entry.key,
        "slot": entry.slot.value,
        "rule": entry.decision.rule.value,
        "rule_number": entry.decision.number,
        "source": entry.decision.source,
        "kernel": None if entry.rule is None else entry.rule.kernel,
        "declared_at": span_data(None if entry.rule is None else entry.rule.span),
        "error": entry.error,
    }


def rule_cells(operator: HigherOrderRules) -> Iterator[tuple[str, ...]]:
    """The rows of an operator's rules in a sheet of registrations."""
    if not operator.rules:
        yield (operator.name, "", "", "", "", "", "", "", place_text(operator.span), "")
    for row in operator.rules:
        rule = row.rule
        flags = [
            *(["fallthrough"] if rule.fallthrough else []),
            *(["redispatches"] if rule.redispatches else []),
            *(["raises"] if rule.raises or rule.errors else []),
            *(["not_implemented"] if rule.not_implemented else []),
            *(["deferred_error"] if rule.deferred_error else []),
        ]
        keys, fills, place = " ".join(row.keys), str(row.fills), place_text(rule.span)
        yield (operator.name, keys, "", rule.kernel, "active", fills, "", " ".join(flags), place, rule.kind.value)


def table_cells(report: HigherOrderReport) -> Iterator[tuple[str, ...]]:
    """Every slot as a row of the sheet of tables; where no rule runs, its rule is what a call finds there."""
    for table in report.tables():
        for entry in table.entries:
            rule, decision = entry.rule, entry.decision
            yield (
                table.rules.name,
                entry.key,
                _decided(entry),
                str(decision.number),
                "" if rule is None else rule.kernel,
                "true" if entry.slot is Slot.FALLTHROUGH else "false",
                decision.source or "",
                "",
                place_text(None if rule is None else rule.span),
                "" if rule is None else rule.kernel,
                "",
            )


def python_cells(report: HigherOrderReport) -> Iterator[tuple[str, ...]]:
    """Every slot as a row of the sheet of Python's choices."""
    for table in report.tables():
        for entry in table.entries:
            rule = entry.rule
            yield (
                table.rules.name,
                entry.key,
                chosen_key(entry.key, entry.decision) or "",
                _decided(entry),
                "" if rule is None else rule.kernel,
                "true",
                "true" if entry.slot is Slot.FALLTHROUGH else "false",
                place_text(None if rule is None else rule.span),
                entry.error or "",
                "",
                "",
                "",
            )


def _decided(entry: HigherOrderEntry) -> str:
    decided = entry.decision.rule if entry.slot in (Slot.RULE, Slot.FALLTHROUGH) else entry.slot
    return str(decided.value)


def folded_cells(report: HigherOrderReport) -> Iterator[tuple[str, ...]]:
    """Folded rows of the sheet of tables; the rules that modes, subclasses and transforms ask for come last."""
    for name, keys, kernel, rule, source, why, place in _folded(report):
        yield (name, keys, kernel, rule, source, why, place, "")


def folded_python_cells(report: HigherOrderReport) -> Iterator[tuple[str, ...]]:
    """Folded rows of the sheet of Python's choices."""
    for name, keys, kernel, rule, source, why, place in _folded(report):
        yield (name, keys, kernel or why, rule, source, "", "", place)


def _folded(report: HigherOrderReport) -> Iterator[tuple[str, str, str, str, str, str, str]]:
    """Operator, keys, kernel, rule, alias key, why, place."""
    for table in report.tables():
        name = table.rules.name
        rows, below = fold_entries(table.entries)
        for run in rows:
            entry, rule = run.first, run.first.rule
            kernel, decided = ("", "") if rule is None else (rule.kernel, entry.decision.rule.dump_text)
            source = "" if rule is None or entry.decision.rule is Rule.KERNEL else entry.decision.source or ""
            why = entry.error or slot_label(entry.slot)
            place = place_text(None if rule is None else rule.span)
            yield (name, keys_label(run.keys), kernel, decided, source, why, place)
        for slot, runs in below.items():
            yield (name, runs_label(runs), "", "", "", slot_label(slot), "")
        for row in asked_rules(table.rules):
            rule = row.rule
            yield (name, rule_label(row), rule.kernel, kind_label(rule.kind), "", facts_of(rule), place_text(rule.span))


def summary_cells(report: HigherOrderReport) -> Iterator[tuple[str, ...]]:
    """One row per operator of the sheet of summaries: how many slots each rule of ``resolve_key`` decides."""
    for table in report.tables():
        counts = Counter(entry.decision.rule for entry in table.entries)
        numbers = (str(counts.get(rule, 0)) for rule in Rule)
        yield (table.rules.name, *numbers, "0", "0", place_text(table.rules.span))


def python_summary_cells(report: HigherOrderReport) -> Iterator[tuple[str, ...]]:
    """One row per operator of the sheet of summaries of Python's choices."""
    for name, *numbers, _, different, place in summary_cells(report):
        yield (name, *numbers, different, place)
