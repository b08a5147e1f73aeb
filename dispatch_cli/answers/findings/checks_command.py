"""``dispatch-cli checks``"""

from __future__ import annotations

import click

from dispatch_cli.cli.completion import complete_checks
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.output import Output, output_options, show, write


@click.command("checks", cls=Command)
@click.argument("checks", nargs=-1, metavar="[ID]...", shell_complete=complete_checks)
@output_options()
def command(checks: tuple[str, ...], out: Output) -> None:
    """List the checks of check-invariants, or explain some with examples and the fix.

    ID is the id or the code of a check, or the beginning of either.
    """
    from dispatch_cli.answers.findings.checks import checks_report
    from dispatch_cli.checks.selection import UnknownCheck
    from dispatch_cli.model.settings import Selector

    try:
        report = checks_report([Selector(part) for text in checks for part in text.split(",")])
    except UnknownCheck as error:
        raise click.UsageError(f"{error}; {error.hint}") from None
    if checks and out.format == "markdown":
        from dispatch_cli.answers.findings.checks_document import documentation_markdown

        write(documentation_markdown(report.checks), out.file)
    else:
        show(report, out, whole=bool(checks))
