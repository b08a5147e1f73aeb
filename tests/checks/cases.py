"""Cases of checks: declarations in ``cases/ID.yaml``, in which comments say what the check finds, below its place.

    dispatch: {CPU: a, CompositeImplicitAutograd: b}
#              ^ warning AutogradCPU: the kernel at CPU displaces ...
#     + tip: register a kernel at Autograd

The sign stands below the column of the place; then come severity, key, and the message without the operator. ``@`` is
before the place of a finding in another file, or ``-`` for none. Lines with ``+`` have further facts; a document with
one has all. Longer lines go on below. Nothing else is found. `python -m tests.checks.cases` writes the comments anew:
read each change; a live PyTorch and the specification of the dispatcher are the judges, not this output.
"""

from __future__ import annotations

import re
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

from dispatch_cli.api import load_state
from dispatch_cli.checks.check import Finding
from dispatch_cli.checks.finding_parts import keys_text
from dispatch_cli.model.span import Span
from tests.checks.helpers import findings

FOLDER = Path(__file__).with_name("cases")
FILE = "x.yaml"
_COMMENT = re.compile(r"^#.*\n", re.M)
_DOCUMENT = re.compile(r"(?<!\A)^(?=---)", re.M)
FACT = "#     + "
WIDTH = 120


def documents() -> Iterator[tuple[str, int, str]]:
    """The documents of all files: the id of the check, the number, and the text."""
    for path in sorted(FOLDER.glob("*.yaml")):
        for number, text in enumerate(_DOCUMENT.split(path.read_text(encoding="utf-8"))):
            yield path.stem, number, text


def rendered(check: str, text: str) -> str:
    """A document as it should be."""
    plain = _COMMENT.sub("", text)
    return render(plain, run(check, plain), FACT in text)


def run(check: str, text: str) -> tuple[Finding, ...]:
    """The findings of a check about a declaration."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path(FILE).write_text(text, encoding="utf-8")
        return findings(load_state([FILE]), select=check)


def render(text: str, of_text: tuple[Finding, ...], has_facts: bool) -> str:
    """A declaration with comments. has_facts: all facts of the findings are given."""
    below: dict[int, list[str]] = {}
    lines = text.splitlines(True)
    for finding in of_text:
        span = finding.span
        here = span is not None and span.file == FILE
        sign = " " * (span.column - 2) + "^" if span is not None and here else f"@ {span or '-'}"
        line = span.line if span is not None and here else len(lines)
        key = "" if finding.key is None else f" {finding.key}"
        words = finding.message.removeprefix(f"{finding.operator}: ")
        below.setdefault(line, []).extend(_wrapped(f"#{sign} ", f"{finding.severity.value}{key}: {words}"))
        if has_facts:
            for fact in _facts(finding):
                below[line] += _wrapped(FACT, fact)
    return "".join(line + "".join(below.get(number, ())) for number, line in enumerate(lines, start=1))


def _wrapped(start: str, words: str) -> list[str]:
    width = max(WIDTH - len(start), 30)
    first, *_ = textwrap.wrap(words, width, break_long_words=False, break_on_hyphens=False)
    rest = words[len(first) :].strip()
    lines = textwrap.wrap(rest, WIDTH - 8, break_long_words=False, break_on_hyphens=False)
    return [f"{start}{first}\n", *(f"#       {line}\n" for line in lines)]


def _facts(finding: Finding) -> Iterator[str]:
    """Facts of a finding beside its message, in words; places as lines above or below it."""

    def place(span: Span) -> str:
        column = f":{span.column}"
        of_finding = 0 if finding.span is None else finding.span.line
        return f"{span.line - of_finding:+}{column}" if span.file == FILE else f"{span}"

    yield from (f"{name}: {text}" for name, text in finding.details)
    yield from (f"note {place(note.span)}: {note.message}" for note in finding.related)
    if finding.tip is not None:
        yield f"tip: {finding.tip}"
    yield from (f"fix: {edit.action.value} {edit.operator} {edit.key}" for edit in finding.fix)
    if finding.slots:
        yield f"slots: {keys_text([f'{operator} {key}' for operator, key in finding.slots])}"
    if finding.subject:
        yield f"subject: {finding.subject}"


if __name__ == "__main__":
    for file in FOLDER.glob("*.yaml"):
        parts = _DOCUMENT.split(file.read_text(encoding="utf-8"))
        file.write_text("".join(rendered(file.stem, part) for part in parts), encoding="utf-8")
