"""Write the reference of the declaration format, FORMAT.md, and the documentation of the checks, CHECKS.md.

usage: python -m tests.write_reference
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from dispatch_cli.declarations.format import FILE, RECORDS, Field, Record
from dispatch_cli.render.checks import GROUPS, documentation_markdown
from dispatch_cli.report.checks import checks_report

ROOT = Path(__file__).parents[1]
WRITTEN = "This file is written by `python -m tests.write_reference`.\n"
FORMAT_HEAD = f"""# The format of declarations

Every field of a declaration file, YAML or JSON; [README.md](README.md#declarations) shows an example of a file.
`dispatch-cli schema` prints the JSON Schema, for editors. {WRITTEN}
"""
CHECKS_HEAD = f"""# The checks

What `dispatch-cli check-invariants` runs: why each check is there, bad and good examples, and how to fix what it finds.
`dispatch-cli checks ID` shows the same in a terminal. A check is chosen by its id, its code, or how either begins.
{WRITTEN}
"""


def format_reference() -> str:
    """FORMAT.md: a section for each mapping of the format, with a table of its fields."""
    return FORMAT_HEAD + "\n".join(_record(record) for record in RECORDS)


def _record(record: Record) -> str:
    title = "The file" if record is FILE else record.words[:1].upper() + record.words[1:]
    if record.name == "library_kernel":
        title = "A kernel in a library"
    lines = [f"## {title}", "", record.doc, "", "| field | takes | means |", "|---|---|---|"]
    lines += [_row(field) for field in record.fields]
    return "\n".join([*lines, ""])


def _row(field: Field) -> str:
    name = f"`{field.name}`" + (" (required)" if field.required else "")
    default = f" Default: {field.default}." if field.default is not None else ""
    return f"| {name} | {field.type.words} | {field.doc}{default} |"


def checks_reference() -> str:
    """CHECKS.md: a table of all checks, by group, then the documentation of each."""
    checks = checks_report(()).checks
    lines = []
    for group, some in groupby(checks, key=lambda check: check.group):
        lines += ["", f"**{GROUPS[group]}** ({group.value})", "", "| code | check | severity | what it holds up |"]
        lines.append("|---|---|---|---|")
        for check in some:
            severity = f"{check.severity.value}{'' if check.default else ', not by default'}"
            link = f"[`{check.id}`](#{check.id}-{check.code.lower()})"
            lines.append(f"| {check.code} | {link} | {severity} | {check.title} |")
    documentation = "".join(documentation_markdown(checks))
    return CHECKS_HEAD.rstrip("\n") + "\n" + "\n".join(lines) + "\n\n" + documentation


DOCUMENTS = {ROOT / "FORMAT.md": format_reference, ROOT / "CHECKS.md": checks_reference}
"""File → what is in it."""

if __name__ == "__main__":
    for file, text in DOCUMENTS.items():
        file.write_text(text(), encoding="utf-8")
