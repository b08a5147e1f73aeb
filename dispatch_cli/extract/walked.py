"""Files found in a look through the paths of a run."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.extract.ignore import IgnoreList
from dispatch_cli.extract.left_out import WhyLeftOut
from dispatch_cli.model.extracted import SourceKind


class LeftOut(NamedTuple):
    """A file or folder that is not read. detail: more than the reason, for people."""

    path: str
    reason: WhyLeftOut
    is_folder: bool = False
    detail: str = ""


class Walked(NamedTuple):
    """Files that a run reads.

    files: by kind; in each, sorted below each path that was named. headers: all C++ files, by which an ``#include`` is
    looked for. digests: of the content of the files. left_out: what is not read. named: the files that were named.
    templates: files of which sources are made, and which are not read. naming: files that may name the backend at
    PrivateUse1. builds: files of CMake.
    """

    files: dict[SourceKind, list[str]]
    headers: frozenset[str]
    digests: dict[str, str]
    left_out: tuple[LeftOut, ...]
    named: frozenset[str]
    templates: tuple[str, ...]
    naming: tuple[str, ...]
    builds: tuple[str, ...]


class Exclusion(NamedTuple):
    """Globs of ``--exclude`` or of a project.

    folder: where they are from, absolute; None for the working directory. of_named: also for named files.
    """

    folder: str | None
    rules: IgnoreList
    of_named: bool
