"""``dispatch-cli check-invariants`` and ``dispatch-cli checks``"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dispatch_cli.answers.findings.command_options import (
    NEVER,
    SEVERITIES,
    CheckOptions,
    check_options,
    checked,
    full_option,
    show_findings,
    step_summary_option,
)
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.options import OWN_OR_ALL, SourceOptions, filter_option, source_options, warn_of_overrides
from dispatch_cli.cli.output import FOR_CI, Output, output_options, say_written, show, write
from dispatch_cli.cli.source_reading import NOT_UNDERSTOOD, strict_option

if TYPE_CHECKING:
    from dispatch_cli.answers.findings.baseline import BaselineFilter
    from dispatch_cli.answers.findings.report import FindingsReport


@click.command("check-invariants", cls=Command)
@source_options
@filter_option(OWN_OR_ALL)
@check_options
@click.option(
    "--severity",
    type=click.Choice(SEVERITIES),
    help="Show findings from here on. Default of text and github: warning, or what --fail-on says. Other formats: all.",
)
@full_option
@strict_option
@step_summary_option
@output_options("raw", *FOR_CI)
def command(
    source: SourceOptions,
    ops: tuple[str, ...],
    options: CheckOptions,
    severity: str | None,
    full: bool,
    strict: bool,
    step_summary: str | None,
    out: Output,
) -> None:
    """Check invariants, registrations and guards, for example in CI.

    This includes PyTorch's own checkInvariants, checks for registrations that do not do what they seem to do, and the
    guards and promises in the declarations. `dispatch-cli checks` lists and explains the checks.

    The exit code is 1 when a finding is at least as severe as --fail-on. It is 2 when the input cannot be used; then
    every machine-readable format contains the problems.
    """
    from dispatch_cli.model.names import Severity

    state, report, known = checked(source, options, ops, full)
    if not any(check.id == "overridden-kernel" for check in report.checks):
        warn_of_overrides(state, out.color)
    if options.update_baseline:
        assert known is not None, "--update-baseline needs a baseline"
        _update(*known, report)
        raise click.exceptions.Exit(0)
    lowest = Severity.WARNING if severity is None else Severity(severity)
    if severity is None and report.fail_on.rank > lowest.rank:
        lowest = report.fail_on
    show_findings(state, report, out, step_summary, full, lowest)
    failed = report.failed and options.fail_on != NEVER
    not_understood = strict and NOT_UNDERSTOOD in click.get_current_context().meta
    raise click.exceptions.Exit(1 if failed or not_understood else 0)


def _update(known: BaselineFilter, baseline: str, report: FindingsReport) -> None:
    """Write the baseline anew, and say how many findings it has."""
    from dispatch_cli.answers.findings.baseline import baseline_json
    from dispatch_cli.render.words import plural

    assert report.baseline is not None, "a report with a baseline says what it did"
    entries = known.renewed(report.baseline)
    write(baseline_json(entries), baseline, kind="data", is_baseline=True)
    say_written(baseline, plural(sum(entries.values()), "finding"))


@click.command("checks", cls=Command)
@click.argument("checks", nargs=-1, metavar="[ID]...", shell_complete=completion("checks"))
@output_options()
def checks_command(checks: tuple[str, ...], out: Output) -> None:
    """List the checks of check-invariants, or explain some with examples and the fix.

    ID is the id or the code of a check, or the beginning of either.
    """
    from dispatch_cli.answers.findings.checks import checks_report
    from dispatch_cli.checks.running.selection import UnknownCheck
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
