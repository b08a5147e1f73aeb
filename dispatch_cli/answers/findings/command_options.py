"""Options of the commands that run checks: which, what makes them fail, baselines, step summaries."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.options import SourceOptions, as_sentence, chosen_of_both_kinds, guarded_names, load_state
from dispatch_cli.cli.output import (
    FOR_CI,
    Output,
    progress_on,
    refuse_input,
    say_written,
    show,
    with_parameters,
    write,
    write_for_ci,
)
from dispatch_cli.cli.source_reading import NO_CONFIG
from dispatch_cli.cli.system import CannotWrite

if TYPE_CHECKING:
    from dispatch_cli.answers.findings.baseline import BaselineFilter, Entry
    from dispatch_cli.answers.findings.report import FindingsReport
    from dispatch_cli.checks.check import Check
    from dispatch_cli.engine.state import State
    from dispatch_cli.model.names import Severity
    from dispatch_cli.model.settings import CheckSettings, Selector
    from dispatch_cli.render.document import Block


SEVERITIES = ("error", "warning", "info")
MAX_NAMES = 200
"""Letters of the names of checks that a hint repeats."""
NEVER = "none"
"""The value of ``--fail-on`` with which a run does not fail, whatever is found."""


class CheckOptions(NamedTuple):
    """Values of the options."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    fail_on: str | None
    baseline: str | None
    update_baseline: bool
    guards: tuple[str, ...]
    config: str | None


NO_CHECK_OPTIONS = CheckOptions((), (), None, None, False, (), None)
"""Values where no option is given."""


full_option = click.option(
    "--full",
    is_flag=True,
    help="List every finding, each with its facts. Otherwise text lists those that are alike once, and at most 1,000 "
    "per check and 100 per place are listed; the others are counted.",
)
config_option = click.option(
    "--config",
    metavar="FILE",
    shell_complete=completion("files"),
    help="The pyproject.toml to read, or `none`. Default: the nearest one, in this directory or above.",
)


def check_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options; the command gets them as one `CheckOptions`, its argument *options*."""

    @wraps(command)
    def call(*args: Any, **others: Any) -> Any:
        options = CheckOptions(**{name: others.pop(name) for name in CheckOptions._fields})
        return command(*args, options=options, **others)

    return with_parameters(
        call,
        click.option(
            "--select",
            multiple=True,
            metavar="CHECK,…",
            shell_complete=completion("checks"),
            help="The checks to run, by id or code. Also by the beginning of either, `all`, or `default`.",
        ),
        click.option(
            "--ignore",
            multiple=True,
            metavar="CHECK,…",
            shell_complete=completion("checks"),
            help="Checks to leave out, named as in --select.",
        ),
        click.option(
            "--fail-on", type=click.Choice((*SEVERITIES, NEVER)), help="Fail from this severity on. Default: warning."
        ),
        click.option(
            "--baseline",
            metavar="FILE",
            shell_complete=completion("files"),
            help="Leave out the known findings in FILE.",
        ),
        click.option("--update-baseline", is_flag=True, help="Write the findings to the baseline, and exit."),
        click.option(
            "--guards",
            multiple=True,
            metavar="FILE",
            shell_complete=completion("files"),
            help="Also check guards and promises in FILE. It is a file that registers nothing. Repeatable.",
        ),
        config_option,
    )


def load_settings(
    options: CheckOptions, allow_outside: bool = False
) -> tuple[tuple[CheckSettings, ...], CheckSettings]:
    """Settings of the project and the command line, the weaker first; and the project's alone.

    allow_outside: whether the project file may name files outside of its folder.
    Errors: InputError for a project file that can not be understood.
    """
    from dispatch_cli.model.names import Severity
    from dispatch_cli.model.settings import CheckSettings

    project, file = CheckSettings(), _project_file(options.config)
    if file is not None:
        from dispatch_cli.declarations.project_settings import read_project

        project = read_project(file, allow_outside)
    own = CheckSettings(
        select=_selectors(options.select, "--select") if options.select else None,
        ignore=_selectors(options.ignore, "--ignore"),
        fail_on=None if options.fail_on in (None, NEVER) else Severity(options.fail_on),
    )
    return (project, own), project


def _project_file(config: str | None) -> Path | None:
    """The project file that --config names, or else that of this folder, as seen from here: places in it read well."""
    if config is not None:
        return None if config == NO_CONFIG else Path(config)
    from dispatch_cli.declarations.project import find_project

    file = find_project(Path.cwd())
    return None if file is None else Path(os.path.relpath(file))


def checked(
    source: SourceOptions, options: CheckOptions, ops: tuple[str, ...] = (), full: bool = False
) -> tuple[State, FindingsReport, tuple[BaselineFilter, str] | None]:
    """A run of the checks: the state, the findings, and the baseline with its file, if there is one.

    ops: globs of operators; without any, the files' own where these are laid over something, or all. full: all findings
    are listed. Errors: InputError, UsageError.
    """
    settings, project = load_settings(options, source.allow_outside)
    if source.keys and options.guards:
        raise click.UsageError("--guards checks operators of files or bases; it cannot be used with -k.")
    guards = () if source.keys else (*guards_of(project, source.allow_outside), *options.guards)
    state = load_state(source._replace(project=project), guards, ops, pytorch_alone=True)
    from dispatch_cli.answers.findings.baseline import BaselineError, BaselineFilter
    from dispatch_cli.answers.findings.checked import checked_operators
    from dispatch_cli.answers.findings.report import findings_report
    from dispatch_cli.api import further_states
    from dispatch_cli.checks.running.listing import Limits

    names, higher_order = chosen_of_both_kinds(state, ops) if ops else checked_operators(state, bool(source.files))
    entries, file = read_known(options, project, source.allow_outside)
    refuse_bad_settings(state, settings)
    known = None if entries is None or file is None else (BaselineFilter(entries, options.update_baseline), file)
    try:
        with progress_on(sys.stderr, check_line) as progress:
            report = findings_report(
                *(state, names, guarded_names(names, higher_order) if ops else None, settings),
                *(None if known is None else known[0], progress, higher_order),
                limits=None if full else Limits(),
                further=further_states(state),
            )
    except BaselineError as error:
        raise refused_baseline(options, project, f"{file}: {error}") from None
    return state, report, known


def _selectors(texts: tuple[str, ...], origin: str) -> tuple[Selector, ...]:
    from dispatch_cli.model.settings import Selector

    return tuple(Selector(part, origin=origin) for text in texts for part in text.split(","))


def guards_of(project: CheckSettings, allow_outside: bool) -> tuple[str, ...]:
    """The guards files that a project names. Errors: InputError for those that are not there."""
    from dispatch_cli.declarations.project import within
    from dispatch_cli.declarations.source import SourceError, check
    from dispatch_cli.model.problem import InputError, Problem

    problems = []
    for file, span in project.guards:
        try:
            check(file, within(file, allow_outside))
        except SourceError as error:  # noqa: PERF203  (better said where the file is named)
            problems.append(Problem(error.code, error.message, span, hint=error.hint))
    if problems:
        raise InputError(tuple(problems))
    return tuple(file for file, _ in project.guards)


def refuse_bad_settings(state: State, settings: Sequence[CheckSettings]) -> None:
    """Refuse names of no check, and comments that give no reason: those in files with their places. Errors: InputError.

    A name in an option is what is wrong with the option.
    """
    from dispatch_cli.answers.findings.report import unknown_checks

    errors = unknown_checks(state, settings)
    unexplained = [suppression for suppression in state.declarations.suppressions if not suppression.reason]
    if not (errors or unexplained):
        return
    from dispatch_cli.declarations.problems import MAX_PROBLEMS
    from dispatch_cli.model.problem import InputError, Problem

    if errors and all(error.selector.span is None for error in errors):
        raise click.BadParameter(f"{errors[0]}; {errors[0].hint}", param_hint=f"'{errors[0].selector.origin}'")
    problems = [
        Problem("unknown-check", str(error), error.selector.span, hint=error.hint) for error in errors[:MAX_PROBLEMS]
    ]
    for suppression in unexplained[:MAX_PROBLEMS]:
        names = ", ".join(selector.text for selector in suppression.checks)
        hint = f"write # dispatch-cli: ignore[{names[:MAX_NAMES]}] REASON"
        problems.append(Problem("missing-reason", "the comment gives no reason", suppression.span, hint=hint))
    more = len(errors) + len(unexplained) - MAX_PROBLEMS
    if more > 0:
        message = f"and {more} more names of no check, or comments without a reason"
        problems[MAX_PROBLEMS:] = [Problem("more-problems", message, problems[MAX_PROBLEMS - 1].span)]
    raise InputError(tuple(problems))


def show_findings(
    state: State,
    report: FindingsReport,
    out: Output,
    step_summary: str | None,
    full: bool,
    lowest: Severity | None = None,
) -> None:
    """Append the step summary, and write the findings; where a file has them, say on standard error how the run ends.

    lowest: the mildest severity that text and GitHub's annotations show; None for all. Errors: CannotWrite.
    """
    from dispatch_cli.answers.findings.summary_document import outcome
    from dispatch_cli.model.names import Severity

    if step_summary is not None:
        from dispatch_cli.answers.findings.ci.github_document import findings_step_summary

        _append(findings_step_summary(report, _title(), Path.cwd()), step_summary)
    lowest = lowest or Severity.INFO
    if out.format in FOR_CI:
        write_for_ci("findings", report.down_to(lowest) if out.format == "github" else report, out)
    elif out.format == "raw":
        from dispatch_cli.answers.findings.document import raw_findings

        write(raw_findings(state.dispatcher, report), out.file)
    else:
        how: dict[str, Any] = {"lowest": lowest, "full": full} if out.format == "text" else {}
        show(report, out, **how)
    if out.file is not None:
        say_written(out.file, outcome(report, lowest))


def check_line(check: Check, before: int, count: int) -> str:
    """Progress line for a check that runs. before: number of checks that ran before it, of *count*."""
    return f"checking {before + 1} of {count}: {check.id}"


def step_summary_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--step-summary. The command gets the file, or None; where it refuses its input, the problems are appended."""

    @wraps(command)
    def call(*args: Any, step_summary: str | None, **others: Any) -> Any:
        file = step_summary or None  # where there is no such file, CI systems leave the variable empty
        if file is not None:
            from dispatch_cli.model import read_files

            read_files.start()
        from dispatch_cli.model.problem import InputError

        try:
            return command(*args, step_summary=file, **others)
        except InputError as error:
            if file is not None:
                from dispatch_cli.answers.findings.ci.github_document import problems_step_summary

                _append(problems_step_summary(error.problems, _title()), file)
            raise

    return click.option(
        "--step-summary",
        metavar="FILE",
        shell_complete=completion("files"),
        help="Also append a short page of Markdown to FILE. CI systems name one, such as $GITHUB_STEP_SUMMARY.",
    )(call)


def _title() -> str:
    return f"dispatch-cli {click.get_current_context().info_name}"


def _append(blocks: Iterable[Block], file: str) -> None:
    from dispatch_cli.cli.files import check_writable
    from dispatch_cli.render.markdown import markdown
    from dispatch_cli.render.printed import UNENCODABLE, printed

    refuse_input(file)
    try:
        with check_writable(file).open("a", encoding="utf-8", errors=UNENCODABLE) as stream:
            stream.writelines((*printed(markdown(blocks)), "\n"))
    except OSError as error:
        raise CannotWrite(f"cannot write {file}: {error.strerror or error}") from None


def read_known(
    options: CheckOptions, project: CheckSettings, allow_outside: bool = False
) -> tuple[Mapping[Entry, int] | None, str | None]:
    """The entries of the baseline and its file; None and None where there is none.

    One that is about to be written need not be there yet. allow_outside: whether it can be a link out of its project.
    """
    named = options.baseline if options.baseline is not None else project.baseline
    if named is None:
        if options.update_baseline:
            raise click.UsageError("--update-baseline needs --baseline FILE, or `baseline` in pyproject.toml.")
        return None, None
    from dispatch_cli.answers.findings.baseline import BaselineError, read_baseline
    from dispatch_cli.declarations.project import within
    from dispatch_cli.declarations.source import SourceError, read_json

    file = named if isinstance(named, str) else named.text
    code, hint = "bad-baseline", None
    try:
        return read_baseline(read_json(file, within(file, allow_outside))), file
    except SourceError as error:
        if options.update_baseline and error.code == "file-not-found":
            return {}, file
        code, message = error.code, error.message
        hint = "create it with --update-baseline" if code == "file-not-found" else error.hint
    except BaselineError as error:
        message = str(error)
    except ValueError as error:
        message = f"not valid JSON: {str(error)[:200]}"
    raise refused_baseline(options, project, message if file in message else f"{file}: {message}", code, hint)


def refused_baseline(
    options: CheckOptions, project: CheckSettings, message: str, code: str = "bad-baseline", hint: str | None = None
) -> Exception:
    """The error of a baseline, where it is named: by the option, or in the project file."""
    from dispatch_cli.model.problem import InputError, Problem
    from dispatch_cli.render.printed import safe

    if options.baseline is None and project.baseline is not None:
        return InputError((Problem(code, message, project.baseline.span, hint=hint),))
    text = f"{message}.{as_sentence(hint)}" if hint or code != "bad-baseline" else message
    return click.BadParameter(safe(text), param_hint="'--baseline'")
