"""A finding in detail: what its check demands is not said as if it held, and its own severity is named."""

from __future__ import annotations

from dispatch_cli.answers.findings.report import findings_report
from dispatch_cli.api import load_state
from dispatch_cli.explore.finding_rows import FindingDetail, finding_rows
from dispatch_cli.model.severity import Severity
from dispatch_cli.render.document import Block, Paragraph, Run

STALE = "examples/stale.yaml"


def texts_of(block: Block) -> list[str]:
    """The lines of a paragraph."""
    inline = block.inline if isinstance(block, Paragraph) else ()
    runs = inline if isinstance(inline, tuple) else (inline,)
    return [run.text if isinstance(run, Run) else run for run in runs]


def test_the_rule_of_a_check_is_said_to_be_one() -> None:
    state = load_state([STALE])
    report = findings_report(state, state.own_operators())
    row = next(row for row in finding_rows(report, frozenset(), ()) if row.check == "ambiguous-autogradother")
    assert row.severity is Severity.WARNING
    texts = [line for part in FindingDetail(state, row).blocks(80) for line in texts_of(part)]
    assert "Severity warning here, error by default." in texts
    assert "The check demands: AutogradOther is not ambiguous." in texts
    assert "AutogradOther is not ambiguous." not in texts
