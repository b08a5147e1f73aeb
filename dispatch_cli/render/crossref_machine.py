"""A comparison with PyTorch for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dispatch_cli.crossref.compare import Count, Disagreement
from dispatch_cli.engine.python.table import Divergence
from dispatch_cli.engine.rules import Decision
from dispatch_cli.render.machine import Sheet, json_document
from dispatch_cli.report.crossref import SCHEMA_VERSION, CrossrefReport


def crossref_json(report: CrossrefReport) -> Iterator[str]:
    """The counts, every slot at which C++ and Python choose differently, and every difference."""
    comparison = report.comparison
    head = {
        "schema_version": SCHEMA_VERSION,
        "report": "crossref",
        "universe": comparison.universe,
        "source": comparison.source,
        "equal": not comparison.differences,
        "counts": [_count_data(count) for count in comparison.counts],
        "python": _python_data(report),
    }
    return json_document(head, "differences", map(_difference_data, comparison.differences))


def _count_data(count: Count) -> dict[str, Any]:
    return {"part": count.part.value, "compared": count.compared, "different": count.different}


def _difference_data(one: Disagreement) -> dict[str, Any]:
    return {
        "operator": one.operator,
        "part": one.part.value,
        "key": one.key or None,
        "ours": one.ours,
        "theirs": one.theirs,
    }


def _python_data(report: CrossrefReport) -> dict[str, Any] | None:
    divergences = report.comparison.divergences
    if divergences is None:
        return None
    return {
        "reasons": [
            {"reason": count.reason.value, "slots": count.slots, "operators": count.operators}
            for count in report.reasons
        ],
        "divergences": [_divergence_data(operator, one) for operator, one in divergences],
    }


def _divergence_data(operator: str, one: Divergence) -> dict[str, Any]:
    return {
        "operator": operator,
        "key": one.key,
        "cpp": _choice_data(one.cpp),
        "python": _choice_data(one.python),
        "reason": one.reason.value,
        "because": list(one.because),
    }


def _choice_data(decision: Decision) -> dict[str, Any]:
    return {"rule": decision.rule.value, "source": decision.source}


def crossref_sheet(report: CrossrefReport) -> Sheet:
    """One row per difference."""
    columns = ("operator", "part", "key", "ours", "theirs")
    rows = (
        (one.operator, one.part.value, one.key, one.ours or "", one.theirs or "")
        for one in report.comparison.differences
    )
    return Sheet(columns, rows)
