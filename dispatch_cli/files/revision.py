"""The files of a repository at a revision: git lists them, and gives the contents of objects. Nothing is checked out.

They are as in a checkout: links are followed, but only to files of the same revision; the top and each submodule have a
``.git``; what is in a submodule is not there, since it is in another repository.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from typing import NamedTuple

from dispatch_cli.files import Entry, RevisionError
from dispatch_cli.files.git import Objects

MAX_LINKS = 40
"""Links that are followed on the way to one file, as many as Linux follows."""
MAX_TARGET = 4096
"""Bytes of what a link says."""
TIMES = 20
"""Reads of each object, on the average: a few large files can be there under very many names."""
FREE_BYTES = 16 << 20
"""Bytes of files that may be read besides."""
BLOCK = 4096
"""Bytes that a file counts as besides its own."""
_GIT = ".git"
_NO_NAMES = frozenset({"", posixpath.curdir, posixpath.pardir, _GIT})
"""Names that no file of a checkout has."""


class GitFile(NamedTuple):
    """A file or folder. oid: its object; empty for one that git does not list."""

    mode: int
    oid: str


class RevisionTree:
    """The files of a revision. Paths are from its top and have ``/``. Errors are OSError, as of ``os``.

    revision: as the user wrote it. listed: the answer of ``ls-tree -r -t -z``. here: where the working directory is in
    it; empty for the top.
    """

    def __init__(self, revision: str, listed: bytes, here: str) -> None:
        self.revision = revision
        self.prefix = f"{revision}:"
        self.here = here
        self._objects = Objects()
        self._files: dict[str, GitFile] = {"": GitFile(stat.S_IFDIR, "")}
        self._inside: dict[str, list[Entry]] = {}
        self._seen: set[str] = set()
        self._left = FREE_BYTES
        self._add(_GIT, stat.S_IFDIR, "")
        for line in listed.split(b"\0")[:-1]:
            head, _, path = os.fsdecode(line).partition("\t")
            mode, kind, oid = head.split(" ")
            if _NO_NAMES.isdisjoint(path.lower().split(posixpath.sep)):
                is_submodule = kind == "commit"
                self._add(path, stat.S_IFDIR if is_submodule else int(mode, 8), oid)
                if is_submodule:
                    self._add(posixpath.join(path, _GIT), stat.S_IFREG, "")

    def _add(self, path: str, mode: int, oid: str) -> None:
        folder, _, name = path.rpartition(posixpath.sep)
        self._files[path] = GitFile(mode, oid)
        self._inside.setdefault(folder, []).append(Entry(name, mode))

    def close(self) -> None:
        """End the process that reads it."""
        self._objects.close()

    def mode(self, path: str, follow: bool = True) -> int:
        """The mode of a file, as ``os.stat`` gives it, or ``os.lstat``. Errors: OSError."""
        return self._files[self.find(path, follow)].mode

    def entries(self, path: str) -> list[Entry]:
        """Entries of a folder; none of a file. Errors: OSError."""
        return self._inside.get(self.find(path), [])

    def read(self, path: str, count: int) -> bytes:
        """The first bytes of a regular file, at most *count*. Errors: OSError."""
        mode, oid = self._files[self.find(path)]
        if not stat.S_ISREG(mode) or not oid:
            raise RevisionError("not-a-file", f"{self.prefix}{path} is not a regular file")
        data = self._objects.content(oid)
        size = BLOCK + len(data)
        self._left += -size if oid in self._seen else (TIMES - 1) * size
        self._seen.add(oid)
        if self._left < 0:
            raise RevisionError("too-large", f"the files of {self.revision} repeat a few more than {TIMES} times")
        return data[:count]

    def find(self, path: str, follow: bool = True) -> str:
        """The path of a file without links. follow: whether the file itself may be a link. Errors: OSError."""
        place, links = "", 0
        waiting = path.split(posixpath.sep)[::-1]
        is_outside = path.startswith(posixpath.sep)
        while waiting and not is_outside:
            part = waiting.pop()
            if part in ("", posixpath.curdir):
                continue
            if part == posixpath.pardir:
                is_outside = not place
                place = posixpath.dirname(place)
                continue
            inner = posixpath.join(place, part)
            file = self._files.get(inner)
            if file is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            if not stat.S_ISLNK(file.mode) or not (follow or waiting):
                place = inner
                continue
            links += 1
            if links > MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            target = os.fsdecode(self._objects.content(file.oid, MAX_TARGET))
            is_outside = target.startswith(posixpath.sep)
            waiting += target.split(posixpath.sep)[::-1]
        if is_outside:
            hint = "a file at a revision can only lead to files of that revision"
            raise RevisionError("outside-project", f"{self.prefix}{path} leads out of the repository", hint)
        return place
