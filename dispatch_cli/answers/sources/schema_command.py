"""``dispatch-cli schema``"""

from __future__ import annotations

from typing import Any

import click

from dispatch_cli.cli.completion import complete_reports
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.output import output_option, write


@click.command("schema", cls=Command)
@click.argument("report", metavar="[REPORT]", required=False, shell_complete=complete_reports)
@output_option("-o", "file")
def command(report: str | None, file: str | None) -> None:
    """Print the JSON Schema of the declaration format, for completion and validation in editors.

    With REPORT, such as table or findings, print the schema of what a command writes with --format json. The field
    "report" of such an answer names its REPORT.
    """
    import json

    write(
        [json.dumps(_of_declarations() if report is None else _of_report(report), indent=2) + "\n"],
        file,
        kind="data",
    )


def _of_declarations() -> dict[str, Any]:
    from dispatch_cli.declarations.json_schema import json_schema

    return json_schema()


def _of_report(name: str) -> dict[str, Any]:
    from dispatch_cli.cli.report_schemas import report_schema, report_types
    from dispatch_cli.model.suggest import suggestion

    types = report_types()
    if name not in types:
        hint = suggestion(name, types) or f"the reports are {', '.join(types)}"
        raise click.BadParameter(f"there is no report {name[:200]!r}; {hint}", param_hint="'REPORT'")
    return report_schema(types[name])
