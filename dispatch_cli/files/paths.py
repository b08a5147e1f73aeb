"""Functions of ``os.path`` and ``os.scandir`` for files of the working tree and for those of a revision, ``REV:PATH``.

A path at a revision leads to nothing else than files of that revision: whatever is joined to it, the result begins with
``REV:``. A name of the working tree never begins like one: ``./`` is put before it.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dispatch_cli.files import Entry

if TYPE_CHECKING:
    from dispatch_cli.files.revision import RevisionTree

TREES: list[RevisionTree] = []
"""The revisions that are open: names with the prefix of one mean its files."""


def close_trees() -> None:
    """Close all revisions."""
    while TREES:
        TREES.pop().objects.close()


def tree_of(name: str) -> RevisionTree | None:
    """The revision that a file is in; None for one of the working tree."""
    return next((tree for tree in TREES if name.startswith(tree.prefix)), None)


def inside(name: str) -> str:
    """The path of a file without its revision."""
    tree = tree_of(name)
    return name if tree is None else name[len(tree.prefix) :]


def of_working_tree(name: str) -> str:
    """The name of a file of the working tree, as one that cannot be taken for another's."""
    return name if tree_of(name) is None else os.path.join(os.curdir, name)  # noqa: PTH118


def as_argument(name: str) -> str:
    """A file as an argument of a command that is no option; ``-`` is standard input."""
    return f"./{name}" if name.startswith("-") and name != "-" else name


def join(folder: str, name: str) -> str:
    """As ``os.path.join``; in a tree, what begins with ``/`` is not in it."""
    tree = tree_of(folder)
    if tree is None:
        return of_working_tree(os.path.join(folder, name))  # noqa: PTH118
    return tree.prefix + posixpath.join(inside(folder), name)


def folder_of(name: str) -> str:
    """As ``os.path.dirname``."""
    tree = tree_of(name)
    if tree is None:
        return os.path.dirname(name)  # noqa: PTH120
    return tree.prefix + posixpath.dirname(inside(name))


def normal(name: str) -> str:
    """As ``os.path.normpath``."""
    tree = tree_of(name)
    if tree is None:
        return of_working_tree(os.path.normpath(name))
    path = posixpath.normpath(inside(name))
    return tree.prefix + ("" if path == posixpath.curdir else path)


def absolute(name: str) -> str:
    """As ``os.path.abspath``."""
    return os.path.abspath(name) if tree_of(name) is None else normal(name)  # noqa: PTH100


def real(name: str) -> str:
    """As ``os.path.realpath``; a tree's links are not followed."""
    return os.path.realpath(name) if tree_of(name) is None else normal(name)


def here(name: str = "") -> str:
    """The working directory, absolute; for a file at a revision, that folder of the revision."""
    tree = tree_of(name)
    return os.getcwd() if tree is None else tree.prefix + tree.here  # noqa: PTH109


def parts(name: str, folder: str | None = None) -> tuple[str, ...]:
    """The parts of ``os.path.relpath``. folder: None for `here`."""
    tree = tree_of(name)
    if tree is None:
        return tuple(os.path.relpath(name, folder).split(os.sep))  # noqa: PTH206
    start = tree.here if folder is None or tree_of(folder) is not tree else inside(folder)
    return tuple(posixpath.relpath(f"/{inside(name)}", f"/{start}").split(posixpath.sep))


def shown(name: str) -> str:
    """A name for people: relative to the working directory, or that at a revision."""
    return os.path.relpath(name) if tree_of(name) is None else name


def above(folder: str) -> Iterator[str]:
    """A folder and those above it, absolute."""
    path, below = absolute(folder), None
    while path != below:
        yield path
        path, below = folder_of(path), path


def is_in(path: str, folder: str) -> bool:
    """True if a path is below a folder; both are absolute, with links resolved."""
    tree = tree_of(folder)
    if tree is not None:
        start = folder if folder == tree.prefix else f"{folder}/"
        return path != start and path.startswith(start) and not inside(path).startswith("../")
    if folder == os.path.dirname(folder):  # noqa: PTH120
        return os.path.dirname(path) == folder  # noqa: PTH120 (of the root of the file system its own files alone)
    return path.startswith(os.path.join(folder, ""))  # noqa: PTH118


def mode(name: str, follow: bool = True) -> int:
    """The mode of a file. follow: where a link of the working tree leads to. Errors: OSError, ValueError."""
    tree = tree_of(name)
    return os.stat(name, follow_symlinks=follow).st_mode if tree is None else tree.mode(inside(name))  # noqa: PTH116


def kind(name: str, follow: bool = True) -> int:
    """The kind of a file, as ``stat.S_IFMT`` has it; 0 where there is none. follow: as for `mode`."""
    try:
        return stat.S_IFMT(mode(name, follow))
    except (OSError, ValueError):
        return 0


def is_folder(name: str) -> bool:
    """As ``os.path.isdir``."""
    return kind(name) == stat.S_IFDIR


def is_file(name: str) -> bool:
    """As ``os.path.isfile``."""
    return kind(name) == stat.S_IFREG


def exists(name: str) -> bool:
    """As ``os.path.lexists``."""
    return kind(name, follow=False) != 0


def each_entry(name: str) -> Iterator[Entry]:
    """Entries of a folder, in no order. Errors: OSError."""
    tree = tree_of(name)
    if tree is not None:
        yield from tree.entries(inside(name))
        return
    with os.scandir(name or os.curdir) as entries:
        for entry in entries:
            yield Entry(entry.name, entry.stat(follow_symlinks=False).st_mode)
