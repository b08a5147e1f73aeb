"""Files at a revision, ``REV:PATH``, where a command takes files."""

from __future__ import annotations

from collections.abc import Sequence

import click

from dispatch_cli.cli.output import BadInput


def opened(files: Sequence[str], color: str, must_exist: bool = True) -> tuple[str, ...]:
    """The names under which files can be read until the command ends.

    must_exist: as for `resolve`. Errors: BadInput.
    """
    if not any(":" in file for file in files):
        return tuple(files)
    from dispatch_cli.files.asked import resolve
    from dispatch_cli.files.paths import close_trees
    from dispatch_cli.model.problem import InputError

    click.get_current_context().call_on_close(close_trees)
    try:
        return resolve(files, must_exist)
    except InputError as error:
        raise BadInput(error, color) from None


def is_at_revision(files: Sequence[str]) -> bool:
    """True if the first of some files is at a revision; what belongs to all of them is looked for there then."""
    if not any(":" in file for file in files):
        return False
    from dispatch_cli.files.paths import tree_of

    return tree_of(files[0]) is not None
