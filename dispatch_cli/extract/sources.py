"""The files of a run that can be read, and how: everything that reads a source file does it through `Sources`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from dispatch_cli.declarations import source
from dispatch_cli.extract.settings import ReadSettings
from dispatch_cli.model.extracted import SourceKind

MAX_SOURCE_BYTES = 32 << 20
"""Bytes of one source file. The largest of PyTorch's has 3 MB."""


@dataclass(frozen=True)
class Sources:
    """The files of a run.

    files: the files to extract from, by kind, in order. headers: files that may be included besides (their paths).
    include: the directories of ``-I``. settings: how a file is read, by its name.
    within: the directory that all files have to be in; None for any.
    """

    files: Mapping[SourceKind, Sequence[str]]
    headers: frozenset[str] = frozenset()
    include: tuple[str, ...] = ()
    settings: Callable[[str], ReadSettings] = lambda _: ReadSettings()
    within: str | None = None
    _texts: dict[str, str] = field(default_factory=dict, repr=False)

    def read(self, name: str) -> str:
        """The text of a file; bytes that are not UTF-8 are replaced. Errors: SourceError."""
        data = source.read_plain(name, MAX_SOURCE_BYTES, self.within)
        return data.decode("utf-8", "replace")

    def find(self, target: str, including: str, quoted: bool) -> str | None:
        """The file that ``#include`` means; None where it is not among the files of the run."""
        # os.path: there are thousands of includes
        candidates = [os.path.join(os.path.dirname(including), target)] if quoted else []  # noqa: PTH118, PTH120
        candidates += [os.path.join(directory, target) for directory in self.include]  # noqa: PTH118
        for candidate in map(os.path.normpath, candidates):
            if candidate in self.headers or (self._in_include(candidate) and os.path.isfile(candidate)):  # noqa: PTH113
                return candidate
        return None

    def _in_include(self, path: str) -> bool:
        return any(path.startswith(os.path.join(directory, "")) for directory in self.include)  # noqa: PTH118
