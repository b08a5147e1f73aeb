"""The checks: a list by group, or the documentation of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from dispatch_cli.answers.findings.checks import CheckEntry, ChecksReport, DocPart, parts
from dispatch_cli.answers.findings.summary_document import GROUPS, severity_run
from dispatch_cli.checks.check import Need
from dispatch_cli.model.names import Severity
from dispatch_cli.render.document import Block, Column, Gap, Paragraph, ParagraphKind, Run, TableBlock, Tone, lines
from dispatch_cli.render.sheet import Sheet

INDENT = 4
NEEDS = {
    Need.PYTORCH: "the operators of a PyTorch state",
    Need.FILES: "declarations",
    Need.BUILT: "a built library or a state (`dispatch-cli crossref FILE --against live|STATE`)",
}


def document(report: ChecksReport, *, whole: bool) -> Iterator[Block]:
    """whole: the documentation of each check, not the list."""
    if not whole:
        yield from _list(report.checks)
        return
    for position, check in enumerate(report.checks):
        if position:
            yield Gap()
            yield Gap()
        yield from _documentation(check, _facts(check), parts(check.documentation))


def of_finding(check: CheckEntry, severity: Severity) -> Iterator[Block]:
    """The documentation of a check below one of its findings. severity: of the finding."""
    here = f"Severity {severity.value} here, {check.severity.value} by default"
    facts = _facts(check, "" if severity is check.severity else here)
    rule, *others = parts(check.documentation)
    yield from _documentation(check, facts, [rule._replace(text=f"The check demands: {rule.text}"), *others])


def _documentation(check: CheckEntry, facts: str, texts: Iterable[DocPart]) -> Iterator[Block]:
    yield Paragraph((Run(check.id, Tone.HEAD), Run(f" ({check.code})", Tone.DIM)), kind=ParagraphKind.TITLE)
    yield Paragraph(Run(facts, Tone.DIM))
    for part in texts:
        yield Gap()
        if part.code:
            yield code_block(part.text)
        else:
            yield Paragraph(lines(*_flowing(part.text)))


def code_block(code: str) -> Paragraph:
    """Lines of YAML. One for which a terminal has no room goes on further in, which is YAML, too."""
    return Paragraph(lines(*code.split("\n"), tone=Tone.ALIAS), INDENT, kind=ParagraphKind.CODE)


def _list(checks: tuple[CheckEntry, ...]) -> Iterator[Block]:
    width = max(len(check.id) for check in checks) + 2
    columns: list[Column[CheckEntry]] = [
        Column("Code", lambda check, _: check.code),
        Column("Check", lambda check, _: f"{check.id if check.default else f'{check.id} *':<{width}}"),
        Column("Severity", lambda check, _: severity_run(check.severity)),
        Column("What should hold", lambda check, _: check.title),
    ]
    for group, some in groupby(checks, key=lambda check: check.group):
        yield Paragraph((Run(GROUPS[group], Tone.HEAD), Run(f" ({group.value})", Tone.DIM)), kind=ParagraphKind.SECTION)
        yield TableBlock(columns, list(some), indent=2)
        yield Gap()
    default = sum(check.default for check in checks)
    rest = "; those with * run in `dispatch-cli crossref` only" if default < len(checks) else ""
    closing = f"{len(checks)} checks{rest}. `dispatch-cli checks ID` explains a check, with examples and the fix."
    yield Paragraph(Run(closing, Tone.DIM))


def sheet(report: ChecksReport) -> Sheet:
    """A row for each check."""
    rows = ((check.code, check.id, check.severity, check.default, check.title) for check in report.checks)
    return Sheet(("code", "check", "severity", "default", "title"), rows)


def documentation_markdown(checks: Iterable[CheckEntry]) -> Iterator[str]:
    """The documentation of each check below a heading. It is Markdown itself, and stays as it is written."""
    for position, check in enumerate(checks):
        yield "\n" if position else ""
        yield f"## {check.id} ({check.code})\n\n{_facts(check)}\n\n{check.documentation}\n"


def _facts(check: CheckEntry, severity: str = "") -> str:
    """Severity, whether it runs by default, and what it needs, as a sentence. severity: in words of its own."""
    runs = "" if check.default else "; not run by default"
    needs = f"; needs {' and '.join(NEEDS[need] for need in check.needs)}" if check.needs else ""
    return f"{severity or f'Severity {check.severity.value}'}{runs}{needs}."


def _flowing(text: str) -> list[str]:
    """A paragraph in one line, for a terminal to wrap; the items of a list keep a line each."""
    return [" ".join(item.split()) for item in re.split(r"\n(?=[-*] )", text)]
