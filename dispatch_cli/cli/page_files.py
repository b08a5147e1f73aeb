"""The files that a page was made from, with their digests."""

from __future__ import annotations

import hashlib
import os
import stat

from dispatch_cli.declarations.project import FILE as PROJECT_FILE
from dispatch_cli.files import paths
from dispatch_cli.model.read_files import noted
from dispatch_cli.page.data import PageFile

MOST_FILES = 500
"""Files that a page names; a tree of sources can have many thousands."""
_MOST_BYTES = 1 << 28
STDIN = "-"


def files_read(from_stdin: bool, settings: frozenset[str]) -> tuple[tuple[PageFile, ...], int]:
    """The files that were read, by name, and how many there are beyond `MOST_FILES`.

    settings: those of the checks. Every project file has settings.
    """
    folder = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118
    names = sorted({name.removeprefix(folder) for name in noted()})
    own = {name.removeprefix(folder) for name in settings}
    files = tuple(
        PageFile(name, _digest(name), name in own or os.path.basename(name) == PROJECT_FILE)  # noqa: PTH119
        for name in names[:MOST_FILES]
    )
    return (PageFile(STDIN, None),) * from_stdin + files, max(0, len(names) - MOST_FILES)


def _digest(file: str) -> str | None:
    """The digest of a file's bytes; None where it cannot be read again."""
    try:
        tree = paths.tree_of(file)
        if tree is not None:
            return hashlib.sha256(tree.read(paths.inside(file), _MOST_BYTES)).hexdigest()
        if not stat.S_ISREG(paths.mode(file)):
            return None
        sha256 = hashlib.sha256()
        with open(file, "rb") as stream:  # noqa: PTH123  (the name may be none that a path can have)
            while part := stream.read(1 << 20):
                sha256.update(part)
        return sha256.hexdigest()
    except (OSError, ValueError):
        return None
