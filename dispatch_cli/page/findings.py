"""Findings as cards, worst first: what each says, and where it leads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from dispatch_cli.answers.explain.advice_document import fragment
from dispatch_cli.answers.findings.report import FindingsReport, ReportedFinding
from dispatch_cli.answers.findings.summary_document import SEVERITY_TONES, outcome
from dispatch_cli.answers.findings.summary_document import document as summary_document
from dispatch_cli.model.span import Span
from dispatch_cli.page.blocks import written_blocks
from dispatch_cli.page.texts import Texts
from dispatch_cli.render.words import plural


def findings_data(report: FindingsReport, texts: Texts, names: Collection[str]) -> dict[str, Any]:
    """summary: the blocks above the cards. outcome: their totals, as a sentence.

    checks: each with its number of findings; the first are all of them. cards: the findings that are listed, worst
    first. unlisted: a sentence about those that are only counted, for each check that has some. names: of the
    operators.
    """
    counts = Counter[str]()
    for rest in report.unlisted:
        counts[rest.check] += rest.findings
        counts[""] += rest.findings
    total = sum(row.findings for row in report.summary)
    ranked = sorted(report.findings, key=lambda row: row.finding.severity.rank)
    return {
        "summary": [*written_blocks(summary_document(report))],
        "outcome": outcome(report).text,
        "checks": [
            ["", f"all ({total:,})"],
            *([row.check, f"{row.check} ({row.findings:,})"] for row in report.summary),
        ],
        "unlisted": {check: _unlisted(count) for check, count in counts.items()},
        "cards": [_card(row, texts, names) for row in ranked],
    }


def _unlisted(count: int) -> str:
    verb = "is" if count == 1 else "are"
    return f"{plural(count, 'more finding')} {verb} not listed on this page. This command lists all:"


def _card(row: ReportedFinding, texts: Texts, names: Collection[str]) -> dict[str, Any]:
    """facts: a label and a text each, and perhaps what it leads to: operator and key, or an address."""
    finding = row.finding
    operator, key = finding.operator, finding.key
    facts: list[list[Any]] = []
    if operator in names:
        slot = f"{operator} at {key}"
        facts.append(["Operator", operator, [operator]] if key is None else ["Slot", slot, [operator, key]])
    if finding.span is not None:
        facts.append(_place("Declared at", "", finding.span, texts))
    if finding.when is not None:
        facts.append(["When", finding.when])
    facts += [[f"{label[0].upper()}{label[1:]}", text] for label, text in finding.details]
    facts += [_place("Note", f"{other.message} ", other.span, texts) for other in finding.related]
    if finding.tip is not None:
        facts.append(["Tip", finding.tip])
    return {
        "severity": finding.severity.value,
        "tone": SEVERITY_TONES[finding.severity].value,
        "code": row.code,
        "check": finding.check,
        "operator": operator,
        "key": key,
        "message": finding.message,
        "facts": facts,
        "fix": fragment(finding.fix),
    }


def _place(label: str, text: str, span: Span, texts: Texts) -> list[Any]:
    return [label, f"{text}{span}", texts.address(span)]
