"""The files of a repository at a revision, read from git's objects. Nothing is checked out.

They are as in a checkout: links are followed, but only to files of the same revision; the top and each submodule have a
``.git``; what is in a submodule is not there, since it is in another repository.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from dispatch_cli.files import RevisionError
from dispatch_cli.files.git import Objects

MAX_LINKS = 40
"""Links that are followed on the way to one file, as many as Linux follows."""
MAX_TARGET = 4096
"""Bytes of what a link says."""
MAX_TREE = 8 << 20
"""Bytes of the entries of one folder. No folder of a real repository comes near."""
MAX_NAME = 255
"""Bytes of the name of a file: no file system has longer ones."""
MAX_MODE = 6
"""Digits of a mode."""
TIMES = 20
"""Reads of each object, on the average: a few trees of each other can name very many files."""
FREE_ENTRIES, FREE_BYTES = 1_000, 16 << 20
"""Entries of folders, and bytes of files, that may be read besides."""
BLOCK = 4096
"""Bytes that a file counts as besides its own."""
OUTSIDE = "outside-project"
"""The code of errors for paths that lead out of the tree."""
_SUBMODULE = 0o160000
_POINTER = b"version https://git-lfs.github.com/spec/"
_GIT = ".git"


class TreeEntry(NamedTuple):
    """A file or folder. mode: as git has it. oid: its object."""

    name: str
    mode: int
    oid: str

    def is_dir(self, *, follow_symlinks: bool = False) -> bool:  # noqa: ARG002 (as of os.DirEntry)
        """True if it is a folder; so is a submodule."""
        return stat.S_ISDIR(self.mode) or self.mode == _SUBMODULE

    def is_file(self, *, follow_symlinks: bool = False) -> bool:  # noqa: ARG002
        """True if it is a regular file."""
        return stat.S_ISREG(self.mode)

    def is_symlink(self) -> bool:
        """True if it is a link."""
        return stat.S_ISLNK(self.mode)


class RevisionTree:
    """The files of a revision. Paths are from its top and have ``/``. Errors are OSError, as of ``os``.

    revision: as the user wrote it. oid: of its tree. here: where the working directory is in it; empty for the top.
    """

    def __init__(self, revision: str, oid: str, here: str, objects: Objects) -> None:
        self.revision = revision
        self.prefix = f"{revision}:"
        self.here = here
        self._objects = objects
        self._root = TreeEntry("", stat.S_IFDIR, oid)
        self._folders: dict[str, Mapping[str, TreeEntry]] = {}
        self._listed = Repeats(f"the folders of {revision}", FREE_ENTRIES)
        self._read = Repeats(f"the files of {revision}", FREE_BYTES)

    def close(self) -> None:
        """End the processes that read it."""
        self._objects.close()

    def mode(self, path: str, follow: bool = True) -> int:
        """The mode of a file, as ``os.stat`` gives it, or ``os.lstat``. Errors: OSError."""
        entry = self._find(path, follow)[1]
        return stat.S_IFDIR if entry.mode == _SUBMODULE else entry.mode

    def real(self, path: str) -> str | None:
        """The path with links resolved, if there is such a file; None where it leads out of the tree."""
        try:
            return self._find(path, True)[0]
        except RevisionError as error:
            return None if error.code == OUTSIDE else path
        except OSError:
            return path

    def entries(self, path: str) -> list[TreeEntry]:
        """Entries of a folder. Errors: OSError."""
        entry = self._find(path, True)[1]
        if not entry.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        folder = self._folder(entry)
        self._listed.note(entry.oid, len(folder))
        return list(folder.values())

    def read(self, path: str, count: int) -> bytes:
        """The first bytes of a regular file, at most *count*. Errors: OSError."""
        entry = self._find(path, True)[1]
        if not entry.is_file() or not entry.oid:
            raise RevisionError("not-a-file", f"{self.prefix}{path} is not a regular file")
        data = self._objects.content(entry.oid)
        if data.startswith(_POINTER):
            message = f"{self.prefix}{path} is a pointer of Git LFS: its content is not in the repository"
            raise RevisionError("lfs-pointer", message, "only the file in the working tree has it")
        self._read.note(entry.oid, BLOCK + len(data))
        return data[:count]

    def _find(self, path: str, follow: bool) -> tuple[str, TreeEntry]:
        """A file and its path without links. follow: whether the file itself may be a link. Errors: OSError."""
        outside = RevisionError(
            OUTSIDE,
            f"{self.prefix}{path} leads out of the repository",
            "a file at a revision can only lead to files of that revision",
        )
        way = [self._root]
        waiting = path.split(posixpath.sep)[::-1]
        links = 0
        if path.startswith(posixpath.sep):
            raise outside
        while waiting:
            part = waiting.pop()
            if part in ("", posixpath.curdir):
                continue
            if part == posixpath.pardir:
                way.pop()
                if not way:
                    raise outside
                continue
            entry = self._folder(way[-1]).get(part)
            if entry is None and way[-1].mode == _SUBMODULE:
                message = f"{self.prefix}{_path(way)} is a submodule: its files are in a repository of their own"
                raise RevisionError("submodule", message)
            if entry is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            if entry.is_symlink() and (follow or waiting):
                links += 1
                if links > MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                target = os.fsdecode(self._objects.content(entry.oid, MAX_TARGET, "target of the link"))
                if target.startswith(posixpath.sep):
                    raise outside
                waiting += target.split(posixpath.sep)[::-1]
            else:
                way.append(entry)
        return _path(way), way[-1]

    def _folder(self, folder: TreeEntry) -> Mapping[str, TreeEntry]:
        """The entries of a folder by name; none of what is no folder."""
        if folder.mode == _SUBMODULE:
            return {_GIT: TreeEntry(_GIT, stat.S_IFREG, "")}
        if not folder.is_dir() or not folder.oid:
            return {}
        entries = self._folders.get(folder.oid)
        if entries is None:
            data = self._objects.content(folder.oid, MAX_TREE, "list of files in the folder")
            entries = {entry.name: entry for entry in _entries(data, len(folder.oid) // 2)}
            if folder is self._root:
                entries[_GIT] = TreeEntry(_GIT, stat.S_IFDIR, "")
            self._folders[folder.oid] = entries
        return entries


class Repeats:
    """Reads of objects, of which few may be read very often. free: what may be read however few they are."""

    def __init__(self, objects: str, free: int) -> None:
        self._objects = objects
        self._left = free
        self._seen: set[str] = set()

    def note(self, oid: str, size: int) -> None:
        """Count a read of an object. Errors: RevisionError where the same few are read too often."""
        if oid not in self._seen:
            self._seen.add(oid)
            self._left += TIMES * size
        self._left -= size
        if self._left < 0:
            raise RevisionError("too-large", f"{self._objects} repeat a few others more than {TIMES} times")


def _path(way: Sequence[TreeEntry]) -> str:
    return posixpath.sep.join(entry.name for entry in way[1:])


def _entries(data: bytes, width: int) -> Iterator[TreeEntry]:
    """The entries of a tree object. width: bytes of an id. What no checkout can have is left out."""
    at = 0
    while at < len(data):
        space = data.find(b" ", at)
        end = data.find(b"\0", space)
        if space < 0 or end < 0:
            return
        name, oid = data[space + 1 : end], data[end + 1 : end + 1 + width]
        mode = data[at:space]
        at = end + 1 + width
        is_whole = len(mode) <= MAX_MODE and not mode.strip(b"01234567") and mode and len(oid) == width
        if is_whole and len(name) <= MAX_NAME and b"/" not in name and name.lower() not in (b"", b".", b"..", b".git"):
            yield TreeEntry(os.fsdecode(name), int(mode, 8), oid.hex())
