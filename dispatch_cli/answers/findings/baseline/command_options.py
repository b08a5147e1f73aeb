"""The baseline of a run of the checks: what it knows, and what is wrong with it, where it is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from dispatch_cli.answers.findings.command_options import CheckOptions
from dispatch_cli.cli.options import as_sentence
from dispatch_cli.cli.output import BadInput

if TYPE_CHECKING:
    from dispatch_cli.answers.findings.baseline.report import Entry
    from dispatch_cli.model.settings import CheckSettings


def read_known(
    options: CheckOptions, project: CheckSettings, color: str, allow_outside: bool = False
) -> tuple[Mapping[Entry, int] | None, str | None]:
    """The entries of the baseline and its file; None and None where there is none.

    One that is about to be written need not be there yet. allow_outside: whether it can be a link out of its project.
    """
    named = options.baseline if options.baseline is not None else project.baseline
    if named is None:
        if options.update_baseline:
            raise click.UsageError("--update-baseline needs --baseline FILE, or `baseline` in pyproject.toml.")
        return None, None
    from dispatch_cli.answers.findings.baseline.report import BaselineError, read_baseline
    from dispatch_cli.declarations.project_folder import within
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
    raise refused_baseline(options, project, color, message if file in message else f"{file}: {message}", code, hint)


def refused_baseline(
    options: CheckOptions,
    project: CheckSettings,
    color: str,
    message: str,
    code: str = "bad-baseline",
    hint: str | None = None,
) -> click.ClickException:
    """The error of a baseline, where it is named: by the option, or in the project file."""
    from dispatch_cli.model.problem import InputError, Problem
    from dispatch_cli.render.text_safety import safe

    if options.baseline is None and project.baseline is not None:
        return BadInput(InputError((Problem(code, message, project.baseline.span, hint=hint),)), color)
    text = f"{message}.{as_sentence(hint)}" if hint or code != "bad-baseline" else message
    return click.BadParameter(safe(text), param_hint="'--baseline'")
