"""Higher-order operators for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dispatch_cli.engine.higher_order import HigherOrderEntry, Slot
from dispatch_cli.model.higher_order import HigherOrderRule
from dispatch_cli.render.machine import Sheet, place_text, span_data
from dispatch_cli.render.wording import keys_label, runs_label
from dispatch_cli.report.higher_order import HigherOrderReport, HigherOrderRules, HigherOrderSlots, fold_entries


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


def _rule_data(rule: HigherOrderRule) -> dict[str, Any]:
    return {
        "kind": rule.kind.value,
        "name": rule.name,
        "kernel": rule.kernel,
        "fallthrough": rule.fallthrough,
        "redispatches": rule.redispatches,
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
            *(["not_implemented"] if rule.not_implemented else []),
            *(["deferred_error"] if rule.deferred_error else []),
        ]
        keys, fills, place = " ".join(row.keys), str(row.fills), place_text(rule.span)
        yield (operator.name, keys, "", rule.kernel, "active", fills, "", " ".join(flags), place, rule.kind.value)


def higher_order_sheet(report: HigherOrderReport) -> Sheet:
    """Every slot a row."""
    columns = ("operator", "key", "slot", "rule", "source", "kernel", "declared_at", "error")
    return Sheet(columns, (_cells(table, entry) for table in report.tables() for entry in table.entries))


def _cells(table: HigherOrderSlots, entry: HigherOrderEntry) -> tuple[str, ...]:
    rule = entry.rule
    return (
        table.rules.name,
        entry.key,
        entry.slot.value,
        entry.decision.rule.value,
        entry.decision.source or "",
        "" if rule is None else rule.kernel,
        place_text(None if rule is None else rule.span),
        entry.error or "",
    )


def folded_higher_order_sheet(report: HigherOrderReport) -> Sheet:
    """Folded rows, for reading."""
    return Sheet(("Operator", "Key", "Slot", "Kernel", "Rule", "From", "Declared at"), _folded(report))


def _folded(report: HigherOrderReport) -> Iterator[tuple[str, ...]]:
    for table in report.tables():
        name = table.rules.name
        rows, below = fold_entries(table.entries)
        for run in rows:
            entry, rule = run.first, run.first.rule
            kernel = entry.error or ("" if rule is None else rule.kernel)
            decided = entry.decision.rule.dump_text if rule is not None else ""
            source = (entry.decision.source or "") if rule is not None else ""
            place = place_text(None if rule is None else rule.span)
            yield (name, keys_label(run.keys), entry.slot.value, kernel, decided, source, place)
        for slot, runs in below.items():
            yield (name, runs_label(runs), slot.value, "", "", "", "")
        for row in table.rules.rules:
            if not (row.fills or row.rule.fallthrough):
                keys, kind = ", ".join(row.keys), row.rule.kind.value
                yield (name, keys, kind, row.rule.kernel, "", "", place_text(row.rule.span))
