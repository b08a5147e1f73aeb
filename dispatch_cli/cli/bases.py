"""``dispatch-cli bases``"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.options import output_options, style_for, write

if TYPE_CHECKING:
    from dispatch_cli.bases import Description
    from dispatch_cli.render.style import Style


@click.command("bases")
@output_options(("text", "json", "csv", "markdown"))
def command(format_: str, output: str | None, color: str) -> None:
    """List the embedded PyTorch states: what --base and `extends` can name."""
    from dispatch_cli import bases

    descriptions = [bases.load(name).description for name in bases.names()]
    write(_render(descriptions, format_, style_for(sys.stdout, color, output)), output)


def _render(descriptions: list[Description], format_: str, style: Style) -> Iterator[str]:
    if format_ == "text":
        from dispatch_cli.render.bases import bases_text

        return bases_text(descriptions, style)
    from dispatch_cli.render.machine import Sheet, csv_text, json_document, markdown_text

    if format_ == "json":
        head = {"schema_version": 1, "report": "bases"}
        return json_document(head, "bases", (one._asdict() for one in descriptions))
    columns = tuple(descriptions[0]._asdict()) if descriptions else ()
    rows = (tuple(str(value) for value in one) for one in descriptions)
    return (csv_text if format_ == "csv" else markdown_text)(Sheet(columns, rows))
