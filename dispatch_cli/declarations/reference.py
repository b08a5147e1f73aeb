"""The format as the README's reference."""

from __future__ import annotations

from dispatch_cli.declarations.format import FILE, RECORDS, Field, Record


def reference_markdown() -> str:
    """A section of Markdown per mapping of the format, each with a table of its fields."""
    return "\n".join(_record(record) for record in RECORDS)


def _record(record: Record) -> str:
    title = "The file" if record is FILE else record.words[:1].upper() + record.words[1:]
    if record.name == "library_kernel":
        title = "A kernel in a library"
    lines = [f"#### {title}", "", record.doc, "", "| field | takes | means |", "|---|---|---|"]
    lines += [_row(field) for field in record.fields]
    return "\n".join([*lines, ""])


def _row(field: Field) -> str:
    name = f"`{field.name}`" + (" (required)" if field.required else "")
    default = f" Default: {field.default}." if field.default is not None else ""
    return f"| {name} | {field.type.words} | {field.doc}{default} |"
