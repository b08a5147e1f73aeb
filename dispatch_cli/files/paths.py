"""Functions of ``os.path`` and ``os.scandir`` for files of the working tree and for those of a revision, ``REV:PATH``.

A path at a revision leads to nothing else than files of that revision: whatever is joined to it, the result begins with
``REV:``. A name of the working tree never begins like one: ``./`` is put before it.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeAlias

from dispatch_cli.files import RevisionError as RevisionError

if TYPE_CHECKING:
    from dispatch_cli.files.revision import RevisionTree, TreeEntry


FolderEntry: TypeAlias = "os.DirEntry[str] | TreeEntry"
"""A file or folder in a folder."""
_TREES: ContextVar[tuple[RevisionTree, ...]] = ContextVar("trees", default=())


def trees() -> tuple[RevisionTree, ...]:
    """The revisions that are open."""
    return _TREES.get()


def add_tree(tree: RevisionTree) -> None:
    """Open a revision: names with its prefix mean its files from now on."""
    _TREES.set((*_TREES.get(), tree))


def close_trees() -> None:
    """Close all revisions."""
    for tree in _TREES.get():
        tree.close()
    _TREES.set(())


def tree_of(name: str) -> RevisionTree | None:
    """The revision that a file is in; None for one of the working tree."""
    for tree in _TREES.get():
        if name.startswith(tree.prefix):
            return tree
    return None


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
    return tree.prefix + posixpath.join(folder[len(tree.prefix) :], name)


def folder_of(name: str) -> str:
    """As ``os.path.dirname``."""
    tree = tree_of(name)
    if tree is None:
        return os.path.dirname(name)  # noqa: PTH120
    return tree.prefix + posixpath.dirname(name[len(tree.prefix) :])


def normal(name: str) -> str:
    """As ``os.path.normpath``."""
    tree = tree_of(name)
    if tree is None:
        return of_working_tree(os.path.normpath(name))
    path = posixpath.normpath(name[len(tree.prefix) :])
    return tree.prefix + ("" if path == posixpath.curdir else path)


def absolute(name: str) -> str:
    """As ``os.path.abspath``."""
    return os.path.abspath(name) if tree_of(name) is None else normal(name)  # noqa: PTH100


def real(name: str) -> str:
    """As ``os.path.realpath``; the root of the file system for what leads out of a tree."""
    tree = tree_of(name)
    if tree is None:
        return os.path.realpath(name)
    path = tree.real(name[len(tree.prefix) :])
    return os.path.abspath(os.sep) if path is None else tree.prefix + path  # noqa: PTH100


def here(name: str = "") -> str:
    """The working directory, absolute; for a file at a revision, that folder of the revision."""
    tree = tree_of(name)
    return os.getcwd() if tree is None else tree.prefix + tree.here  # noqa: PTH109


def relative(name: str, folder: str | None = None) -> str:
    """As ``os.path.relpath``. folder: None for `here`."""
    tree = tree_of(name)
    if tree is None:
        return os.path.relpath(name, folder)
    start = tree.here if folder is None or tree_of(folder) is not tree else inside(folder)
    return posixpath.relpath(f"/{name[len(tree.prefix) :]}", f"/{start}")


def parts(name: str, folder: str | None = None) -> tuple[str, ...]:
    """The parts of `relative`."""
    return tuple(relative(name, folder).split(os.sep if tree_of(name) is None else posixpath.sep))


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
        path = path.removeprefix(tree.prefix) if path.startswith(tree.prefix) else posixpath.sep
        start = folder[len(tree.prefix) :]
        is_inside = path.partition(posixpath.sep)[0] not in ("", posixpath.pardir)
        return is_inside and (not start or path.startswith(start + posixpath.sep))
    if folder == os.path.dirname(folder):  # noqa: PTH120
        return os.path.dirname(path) == folder  # noqa: PTH120 (of the root of the file system its own files alone)
    return path.startswith(os.path.join(folder, ""))  # noqa: PTH118


def mode(name: str) -> int:
    """The mode of a file, links followed. Errors: OSError, ValueError."""
    tree = tree_of(name)
    return os.stat(name).st_mode if tree is None else tree.mode(name[len(tree.prefix) :])  # noqa: PTH116


def is_folder(name: str) -> bool:
    """As ``os.path.isdir``."""
    return os.path.isdir(name) if tree_of(name) is None else _has_mode(name, 0o040000)  # noqa: PTH112


def is_file(name: str) -> bool:
    """As ``os.path.isfile``."""
    return os.path.isfile(name) if tree_of(name) is None else _has_mode(name, 0o100000)  # noqa: PTH113


def is_link(name: str) -> bool:
    """As ``os.path.islink``."""
    return os.path.islink(name) if tree_of(name) is None else _has_mode(name, 0o120000, False)  # noqa: PTH114


def exists(name: str) -> bool:
    """As ``os.path.lexists``."""
    return os.path.lexists(name) if tree_of(name) is None else _has_mode(name, None, False)


def _has_mode(name: str, kind: int | None, follow: bool = True) -> bool:
    tree = tree_of(name)
    assert tree is not None, "only a file at a revision is asked for here"
    try:
        mode = tree.mode(name[len(tree.prefix) :], follow)
    except OSError:
        return False
    return kind is None or mode & 0o170000 == kind


def target(name: str) -> str:
    """Target of a link, as written in it. Errors: OSError."""
    tree = tree_of(name)
    return os.readlink(name) if tree is None else tree.target(name[len(tree.prefix) :])  # noqa: PTH115


def each_entry(name: str) -> Iterator[FolderEntry]:
    """Entries of a folder, in no order. Errors: OSError."""
    tree = tree_of(name)
    if tree is not None:
        yield from tree.entries(name[len(tree.prefix) :])
        return
    with os.scandir(name or os.curdir) as entries:
        yield from entries
