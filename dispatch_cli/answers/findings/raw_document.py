"""Findings as PyTorch's ``checkInvariants`` reports what is wrong: the state of each operator concerned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.raw import parted

if TYPE_CHECKING:
    from dispatch_cli.answers.findings.report import FindingsReport


def raw_findings(dispatcher: Dispatcher, report: FindingsReport) -> Iterator[str]:
    """The state that PyTorch's ``checkInvariants`` prints, of every operator with a finding."""
    listed = (entry.finding.operator for entry in report.findings)
    affected = dict.fromkeys((*(name for name in listed if name is not None), *report.affected))
    names = [OperatorName.parse(text) for text in affected]
    return parted(
        f"Canonical state\n~~~~~~~~~~~\n{dump_registrations(dispatcher, name)}\n\n"
        f"Computed table:\n~~~~~~~~~~~\n{dump_table(dispatcher, name)}"
        for name in names
    )
