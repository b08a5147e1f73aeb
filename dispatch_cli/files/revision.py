"""The files of a repository at a revision: git lists them, and gives the contents of objects. Nothing is checked out.

They are as in a checkout, but that links are not followed: the top and each submodule have a ``.git``, and what is in a
submodule is not there, since it is in another repository.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat

from dispatch_cli.files import Entry, RevisionError
from dispatch_cli.files.git import Objects

TIMES = 20
"""Reads of each object, on the average: a few large files can be there under very many names."""
FREE_BYTES = 16 << 20
"""Bytes of files that may be read besides."""
BLOCK = 4096
"""Bytes that a file counts as besides its own."""
_GIT = ".git"
_NO_NAMES = frozenset({"", posixpath.curdir, posixpath.pardir, _GIT})
"""Names that no file of a checkout has."""


class RevisionTree:
    """The files of a revision. Paths are from its top and have ``/``. Errors are OSError, as of ``os``.

    revision: as the user wrote it. listed: the answer of ``ls-tree -r -t -z``. here: where the working directory is in
    it; empty for the top.
    """

    def __init__(self, revision: str, listed: bytes, here: str) -> None:
        self.revision = revision
        self.prefix = f"{revision}:"
        self.here = here
        self.objects = Objects()
        self._files: dict[str, tuple[int, str]] = {posixpath.curdir: (stat.S_IFDIR, "")}
        self._inside: dict[str, list[Entry]] = {}
        self._seen: set[str] = set()
        self._left = FREE_BYTES
        self._add(_GIT, stat.S_IFDIR, "")
        for line in listed.split(b"\0")[:-1]:
            head, _, path = os.fsdecode(line).partition("\t")
            mode, kind, oid = head.split(" ")
            if _NO_NAMES.isdisjoint(path.lower().split(posixpath.sep)):
                self._add(path, stat.S_IFDIR if kind == "commit" else int(mode, 8), oid)
                if kind == "commit":  # a submodule
                    self._add(posixpath.join(path, _GIT), stat.S_IFREG, "")

    def _add(self, path: str, mode: int, oid: str) -> None:
        folder, _, name = path.rpartition(posixpath.sep)
        self._files[path] = mode, oid
        self._inside.setdefault(folder or posixpath.curdir, []).append(Entry(name, mode))

    def mode(self, path: str) -> int:
        """The mode of a file, as ``os.lstat`` gives it. Errors: OSError."""
        return self._file(path)[0]

    def entries(self, path: str) -> list[Entry]:
        """Entries of a folder; none of a file. Errors: OSError."""
        self._file(path)
        return self._inside.get(posixpath.normpath(path), [])

    def read(self, path: str, count: int) -> bytes:
        """The first bytes of a regular file, at most *count*. Errors: OSError."""
        mode, oid = self._file(path)
        if not stat.S_ISREG(mode) or not oid:
            raise RevisionError("not-a-file", f"{self.prefix}{path} is not a regular file")
        data = self.objects.content(oid)
        size = BLOCK + len(data)
        self._left += -size if oid in self._seen else (TIMES - 1) * size
        self._seen.add(oid)
        if self._left < 0:
            raise RevisionError("too-large", f"the files of {self.revision} repeat a few more than {TIMES} times")
        return data[:count]

    def _file(self, path: str) -> tuple[int, str]:
        """Mode and object of a file. Errors: OSError where there is none."""
        path = posixpath.normpath(path)
        if path.startswith((posixpath.sep, posixpath.pardir + posixpath.sep)) or path == posixpath.pardir:
            hint = "a file at a revision can only lead to files of that revision"
            raise RevisionError("outside-project", f"{self.prefix}{path} leads out of the repository", hint)
        if path not in self._files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return self._files[path]
