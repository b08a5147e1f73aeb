"""The option --step-summary: a short page about the run, for the summary of a CI job."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dispatch_cli.cli.completion import complete_files
from dispatch_cli.cli.output import BadInput, refuse_input
from dispatch_cli.cli.system import CannotWrite

if TYPE_CHECKING:
    from dispatch_cli.answers.findings.report import FindingsReport
    from dispatch_cli.render.document import Block


def step_summary_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--step-summary. The command gets the file, or None; where it refuses its input, the problems are appended."""

    @wraps(command)
    def call(*args: Any, step_summary: str | None, **others: Any) -> Any:
        file = step_summary or None  # where there is no such file, CI systems leave the variable empty
        if file is not None:
            from dispatch_cli.model import read_files

            read_files.start()
        try:
            return command(*args, step_summary=file, **others)
        except BadInput as error:
            if file is not None:
                from dispatch_cli.answers.findings.ci.step_summary_document import problems_step_summary

                _append(problems_step_summary(error.problems, _title(), Path.cwd()), file)
            raise

    return click.option(
        "--step-summary",
        metavar="FILE",
        shell_complete=complete_files,
        help="Also append a short page of Markdown to FILE. CI systems name one, such as $GITHUB_STEP_SUMMARY.",
    )(call)


def append_step_summary(report: FindingsReport, file: str | None) -> None:
    """Append a page about the findings, where there is a file. Errors: CannotWrite."""
    if file is not None:
        from dispatch_cli.answers.findings.ci.step_summary_document import findings_step_summary

        _append(findings_step_summary(report, _title(), Path.cwd()), file)


def _title() -> str:
    return f"dispatch-cli {click.get_current_context().info_name}"


def _append(blocks: Iterable[Block], file: str) -> None:
    from dispatch_cli.cli.files import check_target, refuse_folder, refuse_outside
    from dispatch_cli.render.markdown import markdown
    from dispatch_cli.render.printed import printed
    from dispatch_cli.render.text_safety import UNENCODABLE

    refuse_input(file)
    try:
        refuse_folder(file)
        check_target(Path(file))
        refuse_outside(Path(file))
        with Path(file).open("a", encoding="utf-8", errors=UNENCODABLE) as stream:
            stream.writelines((*printed(markdown(blocks)), "\n"))
    except OSError as error:
        raise CannotWrite(f"cannot write {file}: {error.strerror or error}") from None
