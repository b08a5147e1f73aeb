"""Universes, keys, key sets and differences of universes, for machines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dispatch_cli.engine.keys.universe_differences import UniverseDifference
from dispatch_cli.render.key_wording import expression_note_text, hexadecimal
from dispatch_cli.render.machine import Sheet, json_document
from dispatch_cli.report.key import KeyReport
from dispatch_cli.report.key_set import KeySetReport
from dispatch_cli.report.keys import SCHEMA_VERSION, AliasRow, KeyRow, UniverseReport
from dispatch_cli.report.universe_differences import DifferencesReport


def _head(kind: str, universe: str) -> dict[str, Any]:
    return {"schema_version": SCHEMA_VERSION, "report": kind, "universe": universe}


def _document(data: dict[str, Any]) -> Iterator[str]:
    yield json.dumps(data, indent=2) + "\n"


# the universe


def universe_json(report: UniverseReport) -> Iterator[str]:
    """The universe; its runtime keys come last, in the order of slots."""
    head = {
        **_head("keys", report.universe),
        "torch": report.torch,
        "functionalities": [
            {
                "functionality": row.functionality,
                "priority": row.priority,
                "id": row.id,
                "per_backend": row.per_backend,
                "keys": [key.key for key in row.keys],
            }
            for row in report.functionalities
        ],
        "backends": [
            {"backend": row.backend, "autograd_keys": list(row.autograd), "devices": list(row.devices)}
            for row in report.backends
        ],
        "aliases": [_alias_data(row) for row in report.aliases],
        "devices": dict(report.devices),
        "default_included": list(report.included),
        "default_excluded": list(report.excluded),
        "full_after_always": list(report.full_after_always),
        "autograd_keys_without_backends": list(report.no_backends),
        "higher_order_fallthrough": list(report.higher_order_fallthrough),
    }
    return json_document(head, "keys", map(_key_data, report.keys))


def _alias_data(row: AliasRow) -> dict[str, Any]:
    return {
        "alias": row.alias,
        "rule_number": row.number,
        "rule": None if row.rule is None else row.rule.value,
        "covers": list(row.covers.keys),
        "fills_undefined": row.fills_undefined,
    }


def _key_data(row: KeyRow) -> dict[str, Any]:
    return {**row._asdict(), "core": row.core.value, "default": row.default.value}


def universe_sheet(report: UniverseReport) -> Sheet:
    """A row per runtime key."""
    columns = ("key", "slot", "id", "functionality", "backend", "priority", "core", "parseable", "default")
    return Sheet(columns, (_cells(row) for row in report.keys))


def _cells(row: KeyRow) -> tuple[str, ...]:
    parseable = "yes" if row.parseable else "no"
    return (
        row.key,
        str(row.slot),
        str(row.id),
        row.functionality,
        row.backend or "",
        str(row.priority),
        row.core.value,
        parseable,
        row.default.value,
    )


# one key


def key_json(report: KeyReport) -> Iterator[str]:
    """Everything about a key."""
    return _document({**_head("key", report.universe), "torch": report.torch, **_facts_of_key(report)})


def _facts_of_key(report: KeyReport) -> dict[str, Any]:
    fallback = report.fallback
    return {
        "key": report.key,
        "kind": report.kind.value,
        "functionality": report.functionality,
        "backend": report.backend,
        "id": report.id,
        "slot": report.slot,
        "priority": report.priority,
        "raw": hexadecimal(report.bits),
        "parseable": report.parseable,
        "keys": list(report.keys.keys),
        "rule_number": report.number,
        "rule": None if report.rule is None else report.rule.value,
        "fills_undefined": report.fills_undefined,
        "filled_by": [
            {
                "alias": one.alias,
                "rule_number": one.number,
                "rule": one.rule.value,
                "yields_to": list(one.yields_to),
                "ambiguous_with": list(one.ambiguous_with),
            }
            for one in report.fillers
        ],
        "core_fallback": None if fallback is None else {"debug": fallback.debug, "fallthrough": fallback.fallthrough},
        "autograd_keys": list(report.autograd),
        "backend_of": list(report.behind),
        "in_autogradother_backends": report.shares_autogradother,
        "autograd_backends": list(report.autograd_backends.keys),
        "can_change": list(report.can_change.keys),
        "recomputes": list(report.refreshes.keys),
        "leaves_behind": list(report.left_behind.keys),
        "full_after": list(report.full_after.keys),
        "devices": list(report.devices),
        "default": report.default.value,
    }


def key_sheet(report: KeyReport) -> Sheet:
    """A row per fact."""
    return Sheet(("fact", "value"), ((name, _value(value)) for name, value in _facts_of_key(report).items()))


def _value(value: Any) -> str:
    """A value of JSON in a cell."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    if isinstance(value, list):
        return "; ".join(map(_value, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value(one)}" for name, one in value.items() if one != [])
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


# a key set


def key_set_json(report: KeySetReport) -> Iterator[str]:
    """A key set; `keys` as PyTorch iterates them, `printed` as it prints them."""
    return _document({**_head("key-set", report.universe), **_facts_of_set(report)})


def _facts_of_set(report: KeySetReport) -> dict[str, Any]:
    return {
        "expression": report.expression,
        "reading": report.reading,
        "keys": list(report.keys.keys),
        "highest": report.highest,
        "functionalities": list(report.functionalities),
        "backends": list(report.backends),
        "raw": hexadecimal(report.raw),
        "printed": report.text,
        "notes": [
            {"kind": note.kind.name.lower(), "keys": list(note.keys), "text": expression_note_text(note)}
            for note in report.notes
        ],
    }


def key_set_sheet(report: KeySetReport) -> Sheet:
    """A row per fact."""
    facts = {**_facts_of_set(report), "notes": [expression_note_text(note) for note in report.notes]}
    return Sheet(("fact", "value"), ((name, _value(value)) for name, value in facts.items()))


# differences


def differences_json(report: DifferencesReport) -> Iterator[str]:
    """Every difference, ids too."""
    head = {
        **_head("universe-differences", report.one),
        "against": report.other,
        "torch": report.one_torch,
        "against_torch": report.other_torch,
        "equal": report.equal,
    }
    return json_document(head, "differences", map(_difference_data, (*report.differences, *report.ids)))


def _difference_data(one: UniverseDifference) -> dict[str, Any]:
    return {
        "aspect": one.aspect.name.lower(),
        "subject": one.subject or None,
        "only_universe": list(one.one),
        "only_against": list(one.other),
    }


def differences_sheet(report: DifferencesReport) -> Sheet:
    """A row per difference."""
    rows = (
        (one.aspect.value, one.subject, ", ".join(one.one), ", ".join(one.other))
        for one in (*report.differences, *report.ids)
    )
    return Sheet(("aspect", "subject", "only_universe", "only_against"), rows)
