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
FREE_ENTRIES, FREE_BYTES = 1_000, 16 << 20
"""Entries of folders, and bytes of files, that a revision may have however few objects they are made of."""
BLOCK = 4096
"""Bytes that a file counts as besides its own."""
TIMES = 20
"""Reads of each object, on the average: a few trees of each other can name very many files."""
MAX_MODE = 6
"""Digits of a mode."""
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
        self._read: set[str] = set()
        self._listed = Repeats(FREE_ENTRIES)
        self._read_bytes = Repeats(FREE_BYTES)

    def close(self) -> None:
        """End the processes that read it."""
        self._objects.close()

    def mode(self, path: str, follow: bool = True) -> int:
        """The mode of a file, as ``os.stat`` gives it, or ``os.lstat``. Errors: OSError."""
        entry = self._find(path, follow)[1]
        return stat.S_IFDIR if entry.mode == _SUBMODULE else entry.mode

    def real(self, path: str) -> str | None:
        """The path with links resolved, as far as there is one; None where it leads out of the tree."""
        try:
            return self._find(path, True, lenient=True)[0]
        except RevisionError as error:
            return None if error.code == OUTSIDE else path
        except OSError:
            return path

    def entries(self, path: str) -> list[TreeEntry]:
        """Entries of a folder. Errors: OSError."""
        entry = self._find(path, True)[1]
        if entry.mode == _SUBMODULE:
            return [TreeEntry(_GIT, stat.S_IFREG, "")]
        if not entry.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        folder = self._folder(entry.oid)
        self._listed.note(len(folder), f"the folders of {self.revision} repeat a few others too often")
        return list(folder.values())

    def read(self, path: str, count: int) -> bytes:
        """The first bytes of a regular file, at most *count*. Errors: OSError."""
        entry = self._find(path, True)[1]
        if not entry.is_file() or not entry.oid:
            raise RevisionError("not-a-file", f"{self.prefix}{path} is not a regular file")
        data = self._objects.content(entry.oid)
        if entry.oid not in self._read:
            self._read.add(entry.oid)
            self._read_bytes.different += BLOCK + len(data)
        if data.startswith(_POINTER):
            message = f"{self.prefix}{path} is a pointer of Git LFS: its content is not in the repository"
            raise RevisionError("lfs-pointer", message, "only the file in the working tree has it")
        self._read_bytes.note(BLOCK + len(data), f"the files of {self.revision} repeat a few others too often")
        return data[:count]

    def _find(self, path: str, follow: bool, lenient: bool = False) -> tuple[str, TreeEntry]:
        """A file and its path without links.

        follow: whether the file itself may be a link. lenient: what is not there is taken as it is named.
        Errors: OSError.
        """
        if path.startswith(posixpath.sep):
            raise self._outside(path)
        way = [self._root]
        waiting = path.split(posixpath.sep)[::-1]
        links = 0
        while waiting:
            part = waiting.pop()
            if part in ("", posixpath.curdir):
                continue
            if part == posixpath.pardir:
                way.pop()
                if not way:
                    raise self._outside(path)
                continue
            is_closed = lenient and way[-1].mode == _SUBMODULE
            entry = None if is_closed else self._in(way, part)
            if entry is None:
                if not lenient:
                    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
                entry = TreeEntry(part, 0, "")
            if entry.is_symlink() and (follow or waiting):
                links += 1
                if links > MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                target = os.fsdecode(self._objects.content(entry.oid, MAX_TARGET, "target of the link"))
                if target.startswith(posixpath.sep):
                    raise self._outside(path)
                waiting += target.split(posixpath.sep)[::-1]
            else:
                way.append(entry)
        return posixpath.sep.join(entry.name for entry in way[1:]), way[-1]

    def _in(self, way: Sequence[TreeEntry], name: str) -> TreeEntry | None:
        """Entry with that name in the folder at the end of a way; None where there is none."""
        folder = way[-1]
        if folder.mode == _SUBMODULE:
            if name == _GIT:
                return TreeEntry(_GIT, stat.S_IFREG, "")
            path = posixpath.sep.join(entry.name for entry in way[1:])
            message = f"{self.prefix}{path} is a submodule: its files are in a repository of their own"
            raise RevisionError("submodule", message)
        if not folder.is_dir():
            return None
        if name == _GIT and len(way) == 1:
            return TreeEntry(_GIT, stat.S_IFDIR, "")
        return self._folder(folder.oid).get(name)

    def _outside(self, path: str) -> RevisionError:
        message = f"{self.prefix}{path} leads out of the repository"
        return RevisionError(OUTSIDE, message, "a file at a revision can only lead to files of that revision")

    def _folder(self, oid: str) -> Mapping[str, TreeEntry]:
        entries = self._folders.get(oid)
        if entries is None:
            data = self._objects.content(oid, MAX_TREE, "list of files in the folder") if oid else b""
            entries = {entry.name: entry for entry in _entries(data, len(oid) // 2)}
            self._listed.different += len(entries)
            self._folders[oid] = entries
        return entries


class Repeats:
    """Bytes read, the same object counted each time. different: each counted once. free: what may be read anyway."""

    def __init__(self, free: int) -> None:
        self.different = 0
        self._free = free
        self._all = 0

    def note(self, count: int, message: str) -> None:
        """Count what is read. Errors: RevisionError where it is the same too often."""
        self._all += count
        if self._all > self._free + TIMES * self.different:
            raise RevisionError("too-large", message)


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
