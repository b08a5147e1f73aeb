"""The calls of a recorded program, as the page shows them: the folded tree, and the findings."""

from __future__ import annotations

from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from dispatch_cli.answers.trace.findings.report import TraceFinding
from dispatch_cli.answers.trace.findings.wording import finding_help, finding_text, finding_title
from dispatch_cli.answers.trace.report import TraceReport, TraceRow, trace_report
from dispatch_cli.answers.trace.view import TraceView
from dispatch_cli.answers.trace.wording import (
    missing_sentences,
    row_path,
    seen_sentence,
    state_sentence,
    unfinished_sentence,
)
from dispatch_cli.page.pool import Pool
from dispatch_cli.trace.recording import PythonPlace
from dispatch_cli.trace.selected import Wanted

MOST_LINES = 10_000
"""Lines of the trees that a page has."""
_KEPT = 3
"""Parts of the name of a file outside of the program's folder."""
FIELDS = (
    *("number", "level", "times", "all", "operator", "path", "place"),
    *("forward", "forwards", "forward_place", "time", "raised", "unfinished"),
)
"""Fields of each line, one after the other; -1 for nothing."""


def trace_data(view: TraceView, argument: str) -> dict[str, Any]:
    """The calls of a recording. argument: the recording, as commands name it."""
    report = trace_report(view, Wanted())
    lines = _Lines(report)
    threads, more = [], False
    left = MOST_LINES
    for thread in report.threads:
        rows = [*islice(thread.rows, left)]
        left -= len(rows)
        threads.append([thread.name or "(unnamed)", thread.calls, len(rows)])
        lines.add(rows)
        if not left and next(thread.rows, None) is not None:
            more = True
            break
    counts = report.counts
    program = PurePosixPath(report.argv[0]).name if report.argv else ""
    return {
        "argument": argument,
        "program": program or "a program",
        "torch": report.torch,
        "registrations": state_sentence(report),
        "seen": seen_sentence(report),
        "unfinished": unfinished_sentence(report),
        "missing": missing_sentences(report),
        "counts": {"calls": counts.calls, "operators": counts.operators, "threads": counts.threads},
        "more": more,
        "threads": threads,
        "fields": FIELDS,
        "rows": lines.rows,
        "paths": lines.paths.values,
        "places": lines.places.values,
        "called": lines.operators.values,
        "totals": [[lines.operators.add(operator.operator), operator.calls] for operator in report.operators],
        "findings": [lines.finding(finding) for finding in report.findings],
    }


class _Lines:
    """The lines of a trace as numbers, and what they name by number."""

    def __init__(self, report: TraceReport) -> None:
        self._directory = (report.directory or "").rstrip("/")
        self.rows: list[int] = []
        self.operators, self.paths, self.places = Pool(), Pool(), Pool()

    def add(self, rows: list[TraceRow]) -> None:
        """The lines of a thread."""
        for row in rows:
            self.rows += (
                *(row.number, row.level, row.times, row.all),
                self.operators.opt(row.operator),
                -1 if row.path is None else self._path(row),
                self._place(row.place),
                -1 if row.forward is None else row.forward,
                row.forwards,
                self._place(row.forward_place),
                -1 if row.microseconds is None else row.microseconds,
                row.raised,
                row.unfinished,
            )

    def finding(self, finding: TraceFinding) -> dict[str, Any]:
        """A finding, in words."""
        return {
            "kind": finding.kind.value,
            "title": finding_title(finding.kind),
            "text": finding_text(finding),
            "help": finding_help(finding),
            "operator": self.operators.add(finding.operator),
            "key": finding.key,
            "first": finding.first,
            "places": [self._place(place) for place in finding.places],
            "more_places": finding.more_places,
        }

    def _path(self, row: TraceRow) -> int:
        """Number of: the key of the first kernel, then the words of the kernels with their tones, as text has them."""
        assert row.path is not None, "the caller has looked"
        runs = row_path(row)
        first = row.path.kernels[0].key if row.path.kernels else None
        return self.paths.add((first, tuple((run.text, run.tone.value) for run in runs)))

    def _place(self, place: PythonPlace | None) -> int:
        """Number of: the file below the program's folder, or the end of its name; the line; the function."""
        if place is None:
            return -1
        file = place.file.replace("\\", "/")
        inside = bool(self._directory) and file.startswith(f"{self._directory}/")
        file = file[len(self._directory) + 1 :] if inside else "/".join(("…", *file.strip("/").split("/")[-_KEPT:]))
        return self.places.add((file, place.line, place.function))
