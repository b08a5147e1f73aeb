"""--kernels of ``dispatch-cli trace``: what the user's files register, read before the program runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.options import SourceOptions, at_setting, project_defaults
from dispatch_cli.cli.output import BadInput

if TYPE_CHECKING:
    from dispatch_cli.declarations.tree import ExtractedDocument
    from dispatch_cli.model.declarations import Step

_READ = "dispatch_cli.kernels"
"""Key of the files that have been read: sources are read, and noted, once."""


def check_kernels(files: Sequence[str], color: str) -> None:
    """Read files over each PyTorch that is known, until one agrees with them. Exits with 2 where none does."""
    from pathlib import Path

    from dispatch_cli import universes

    for file in files:
        if file == "-":
            message = "standard input is the program's; give a file, or the recording afterwards."
            raise click.BadParameter(message, param_hint="'--kernels'")
        if not Path(file).exists():
            raise click.BadParameter(f"{file}: there is no such file.", param_hint="'--kernels'")
    refused = None
    for name in universes.names():
        error = _refusal(files, name, color)
        if error is None:
            return
        refused = refused or error  # it may be about what another version has
    assert refused is not None, "some universe is embedded"
    raise refused


def _refusal(files: Sequence[str], base: str, color: str) -> BadInput | None:
    try:
        declared_steps(files, base, color)
    except BadInput as error:
        return error
    return None


def declared_steps(files: Sequence[str], base: str, color: str) -> tuple[Step, ...]:
    """Registrations of files over an embedded state, each by itself: several may say the same. Exits with 2."""
    from dispatch_cli.declarations.loader import load
    from dispatch_cli.model.problem import InputError

    named = None
    try:
        project = project_defaults(files)
        named = None if project is None else project.privateuse1
        backend = None if named is None else named.text
        documents = _documents(files, base, color)
        loaded = [load([document], bases=(base,), privateuse1=backend) for document in documents]
    except InputError as error:
        raise BadInput(at_setting(error, named), color) from None
    return tuple(step for declarations in loaded for step in declarations.own_steps)


def _documents(files: Sequence[str], base: str, color: str) -> Sequence[str | ExtractedDocument]:
    from dispatch_cli.cli.options import opened_files
    from dispatch_cli.cli.source_reading import with_documents

    known = click.get_current_context().meta
    if _READ not in known:
        source = opened_files(SourceOptions(tuple(files), (), None, (base,)), color)
        known[_READ] = with_documents(source.files, source.reading, None, source.allow_outside, color, source.bases)
    documents: Sequence[str | ExtractedDocument] = known[_READ]
    return documents
