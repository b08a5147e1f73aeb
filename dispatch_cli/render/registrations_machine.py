"""The registrations for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dispatch_cli.render.machine import Sheet, json_document, origin_data, place_text, span_data
from dispatch_cli.report.registrations import SCHEMA_VERSION, KernelRow, OperatorRegistrations, RegistrationsReport


def registrations_json(report: RegistrationsReport) -> Iterator[str]:
    """Every operator with its kernels, the declared fallbacks, the higher-order operators."""
    head = {
        "schema_version": SCHEMA_VERSION,
        "report": "registrations",
        "universe": report.universe,
        "core_fallbacks": report.core_fallbacks,
        "fallbacks": [
            {
                "key": row.key,
                "kernel": row.kernel,
                "fallthrough": row.fallthrough,
                "declared_at": span_data(row.span),
                **origin_data(row.origin),
            }
            for row in report.fallbacks
        ],
        "higher_order_operators": _higher_order_data(report),
    }
    return json_document(head, "operators", (_operator_data(operator) for operator in report.operators()))


def _higher_order_data(report: RegistrationsReport) -> list[dict[str, Any]]:
    if not report.higher_order:
        return []
    from dispatch_cli.render.data import data_of as operator_data

    return list(map(operator_data, report.higher_order))


def _operator_data(operator: OperatorRegistrations) -> dict[str, Any]:
    return {
        "operator": operator.operator,
        "schema": operator.schema,
        "debug": operator.debug,
        "alias_analysis": operator.alias_analysis,
        "tags": list(operator.tags),
        "declared_at": span_data(operator.span),
        **origin_data(operator.origin),
        "kernels": [_kernel_data(row) for row in operator.kernels],
        "python_kernels": [
            {"key": key, "kernel": kernel, "declared_at": span_data(span)}
            for key, kernel, span in operator.python_kernels
        ],
    }


def _kernel_data(row: KernelRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "alias": row.alias,
        "kernel": row.kernel,
        "active": row.active,
        "fills": row.fills,
        "covers": row.covers,
        "signature": row.signature,
        "flags": list(row.flags),
        "python": row.python,
        "redispatches": None if row.redispatches is None else row.redispatches.data,
        "declared_at": span_data(row.span),
        **origin_data(row.origin),
    }


def registrations_sheet(report: RegistrationsReport) -> Sheet:
    """One row per kernel, per kernel of the Python dispatcher, and per rule of a higher-order operator.

    An operator without kernels has one row without. kind: ``python`` for the Python dispatcher's, the kind of rule of a
    higher-order operator's, and ``kernel`` for all others.
    """
    columns = ("operator", "key", "alias", "kernel", "state", "fills", "signature", "flags", "declared_at", "kind")
    return Sheet(columns, _rows(report))


def _rows(report: RegistrationsReport) -> Iterator[tuple[str, ...]]:
    for operator in report.operators():
        if not operator.kernels:
            yield (operator.operator, "", "", "", "", "", "", "", place_text(operator.span), "")
        for row in operator.kernels:
            yield (
                operator.operator,
                row.key,
                "true" if row.alias else "false",
                row.kernel,
                "active" if row.active else "overridden",
                str(row.fills),
                row.signature or "",
                " ".join(row.flags),
                place_text(row.span),
                "kernel",
            )
        for key, kernel, span in operator.python_kernels:
            yield (operator.operator, key, "", kernel, "active", "", "", "", place_text(span), "python")
    for hop in report.higher_order:
        for one in hop.rules:
            fill = str(one.fills)
            keys = " ".join(one.registered_at)
            yield (
                hop.name,
                keys,
                "",
                one.kernel,
                "active",
                fill,
                "",
                "",
                place_text(one.span),
                one.kind.value,
            )
