"""``dispatch-cli page``"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

import click

from dispatch_cli.answers.findings.command_options import NO_CHECK_OPTIONS, checked
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.options import SourceOptions, source_options, warn_of_overrides
from dispatch_cli.cli.output import Output, output_options, refuse_input, say_written, write
from dispatch_cli.cli.source_reading import source_arguments

MOST_FILES = 500
"""Files that a page names; a tree of sources can have many thousands."""
STDIN = "-"
_REPOSITORY = re.compile(r"(https://)([a-z0-9-]+(?:\.[a-z0-9-]+)+)((?:/[\w~-][\w.~-]*?)+)(?:\.git)?/*", re.ASCII)
_KNOWN = re.compile(r"(?:www\.)?(?:github\.com|gitlab\.com|codeberg\.org)|(?:github|gitlab)\.[a-z0-9.-]+")
"""Hosts whose addresses of files are known; a project's other addresses are of its pages."""
_LABELS = ("source", "sourcecode", "repository", "github", "homepage")
"""Labels of addresses in ``[project.urls]``, without blanks and signs, the best first."""


@click.command("page", cls=Command)
@source_options
@click.option(
    "--source-url",
    metavar="URL",
    help="Link places in files to this repository, such as https://github.com/OWNER/NAME; by default, the one that "
    "[project.urls] in pyproject.toml names.",
)
@output_options(only=("html",))
def command(source: SourceOptions, source_url: str | None, out: Output) -> None:
    """Write a whole state as one page of HTML that a browser opens from disk, such as dispatch.html.

    The page has every operator with its table, each slot explained, the registrations, the findings of
    check-invariants, the coverage of every backend, what the files change, and the keys. It needs neither a network nor
    a server. It has the names of the files that it was made from, and none of the folders above them.

    Without FILE, --base and -k, the newest embedded PyTorch state is used.
    """
    if out.file is None and sys.stdout.isatty():
        raise click.UsageError("A page is for a browser; give a file to write, such as -o dispatch.html.")
    from dispatch_cli.cli.output import progress_on
    from dispatch_cli.model import read_files
    from dispatch_cli.page.data import PageSource, page_data
    from dispatch_cli.page.write import html
    from dispatch_cli.render.words import plural

    arguments = source_arguments()
    if out.file is None:
        read_files.start()
    url = project_url() if source.files and source_url is None else repository_url(source_url or "")
    if source_url is not None and url is None:
        raise click.UsageError(
            f"--source-url {source_url!r} is no address of a repository. Write it as https://github.com/OWNER/NAME."
        )
    if not source.files and not source.keys and not source.bases:
        from dispatch_cli import bases

        base = bases.newest_for(source.universe)
        source, arguments = source._replace(bases=(base,)), (*arguments, "--base", base)
    state, findings, _ = checked(source, NO_CHECK_OPTIONS)
    if out.file is not None:
        refuse_input(out.file)  # before the work
    warn_of_overrides(state, out.color)
    files, more = files_read("-" in source.files)
    folders = _folders((*arguments, *source.reading.include))
    arguments = tuple(_without(folders, argument) for argument in arguments)
    names = tuple(map(_name_of, source.files, arguments))
    with progress_on(sys.stderr, str) as progress:
        page_source = PageSource(arguments, files, more, len(source.files), names, url, folders)
        chunks = [*html(page_data(state, findings, page_source, progress or str))]
    write(chunks, out.file, kind="data")
    if out.file is not None:
        size = sum(map(len, chunks)) / 1_000_000
        say_written(out.file, f"{plural(len(state.dispatcher), 'operator')}, {size:.1f} MB")


def _name_of(file: str, named: str) -> str:
    """Name of a file, as in commands; of a folder its own name, such as the one that ``.`` is."""
    return os.path.basename(os.path.realpath(file)) if os.path.isdir(file) else named  # noqa: PTH112, PTH119


def _folders(named: tuple[str, ...]) -> tuple[str, ...]:
    """The folders above what was named, which the page does not have."""
    folders = {os.path.dirname(os.path.normpath(path)) for path in named if os.path.isabs(path)}  # noqa: PTH117, PTH120
    return tuple(sorted({os.getcwd(), *folders} - {"/", ""}, key=len, reverse=True))  # noqa: PTH109


def _without(folders: tuple[str, ...], argument: str) -> str:
    """An argument without the folder above it; what is left of a file's name does not become an option."""
    for folder in folders:
        if argument.startswith(f"{folder}/"):
            rest = argument.removeprefix(f"{folder}/")
            return f"./{rest}" if rest.startswith("-") else rest
    return argument


def files_read(from_stdin: bool) -> tuple[tuple[str, ...], int]:
    """The files that were read, by name, and how many there are beyond `MOST_FILES`."""
    from dispatch_cli.model.read_files import noted

    folder = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118
    names = sorted({name.removeprefix(folder) for name in noted()})
    return (*(STDIN,) * from_stdin, *names[:MOST_FILES]), max(0, len(names) - MOST_FILES)


def repository_url(text: str) -> str | None:
    """Address of a repository in one form; None for anything else."""
    match = _REPOSITORY.fullmatch(text)
    return None if match is None else "".join(match.groups())


def project_url() -> str | None:
    """The repository that the ``pyproject.toml`` of the working directory names; None where it names none."""
    from dispatch_cli.declarations.project import FILE
    from dispatch_cli.declarations.source import MAX_PROJECT_BYTES, SourceError, read_plain
    from dispatch_cli.declarations.toml_reader import TomlError, parse_toml

    try:
        project = parse_toml(read_plain(FILE, MAX_PROJECT_BYTES).decode()).get("project")
    except (SourceError, TomlError, ValueError):  # it is for others to say what is wrong with it
        return None
    urls = project.get("urls") if isinstance(project, Mapping) else None
    if not isinstance(urls, Mapping):
        return None
    named = {re.sub(r"[\W_]", "", label).lower(): url for label, url in urls.items()}
    for url in (named[label] for label in _LABELS if isinstance(named.get(label), str)):
        address = repository_url(url)
        if address is not None and _KNOWN.fullmatch(address.split("/")[2]):
            return address
    return None
