"""``dispatch-cli schema``"""

from __future__ import annotations

import click

from dispatch_cli.cli.options import write


@click.command("schema")
@click.option("-o", "--output", metavar="FILE", help="Write to FILE instead of standard output.")
def command(output: str | None) -> None:
    """Print the JSON Schema of the declaration format, for editors that complete and check."""
    import json

    from dispatch_cli.declarations.json_schema import json_schema

    write([json.dumps(json_schema(), indent=2) + "\n"], output)
