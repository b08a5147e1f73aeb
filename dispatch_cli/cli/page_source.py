"""Source of a page: the files that it was made from, with their digests, and the address of their repository."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Mapping

from dispatch_cli.declarations.project import FILE as PROJECT_FILE
from dispatch_cli.declarations.source import MAX_PROJECT_BYTES, SourceError, read_plain
from dispatch_cli.declarations.toml_reader import TomlError, parse_toml
from dispatch_cli.files import paths
from dispatch_cli.model.read_files import noted
from dispatch_cli.page.data import PageFile

MOST_FILES = 500
"""Files that a page names; a tree of sources can have many thousands."""
_MOST_BYTES = 1 << 28
STDIN = "-"
_REPOSITORY = re.compile(r"(https://)([a-z0-9-]+(?:\.[a-z0-9-]+)+)((?:/[\w~-][\w.~-]*?)+)(?:\.git)?/*", re.ASCII)
_KNOWN = re.compile(r"(?:www\.)?(?:github\.com|gitlab\.com|codeberg\.org)|(?:github|gitlab)\.[a-z0-9.-]+")
"""Hosts whose addresses of files are known; a project's other addresses are of its pages."""
_LABELS = ("source", "sourcecode", "repository", "github", "homepage")
"""Labels of addresses in ``[project.urls]``, without blanks and signs, the best first."""


def files_read(from_stdin: bool) -> tuple[tuple[PageFile, ...], int]:
    """The files that were read, by name, and how many there are beyond `MOST_FILES`."""
    folder = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118
    names = sorted({name.removeprefix(folder) for name in noted()})
    files = tuple(PageFile(name, _digest(name)) for name in names[:MOST_FILES])
    return (PageFile(STDIN, None),) * from_stdin + files, max(0, len(names) - MOST_FILES)


def _digest(file: str) -> str | None:
    """The digest of a file's bytes; None where it cannot be read again."""
    try:
        tree = paths.tree_of(file)
        if tree is not None:
            return hashlib.sha256(tree.read(paths.inside(file), _MOST_BYTES)).hexdigest()
        if not stat.S_ISREG(paths.mode(file)):
            return None
        with open(file, "rb") as stream:  # noqa: PTH123  (the name may be none that a path can have)
            sha256 = hashlib.sha256()
            while part := stream.read(1 << 20):
                sha256.update(part)
            return sha256.hexdigest()
    except (OSError, ValueError):
        return None


def repository_url(text: str) -> str | None:
    """Address of a repository in one form; None for anything else."""
    match = _REPOSITORY.fullmatch(text)
    return None if match is None else "".join(match.groups())


def project_url() -> str | None:
    """The repository that the ``pyproject.toml`` of the working directory names; None where it names none."""
    try:
        project = parse_toml(read_plain(PROJECT_FILE, MAX_PROJECT_BYTES).decode()).get("project")
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
