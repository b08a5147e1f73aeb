"""Parts of a tree that are left out: what git ignores, what others wrote, tests, what ``--exclude`` says."""

from __future__ import annotations

import re
import stat
from collections.abc import Container
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.declarations.source import SourceError, read_plain
from dispatch_cli.files import paths
from dispatch_cli.files.ignore_rules import IgnoreList, is_left_out, tracked_files
from dispatch_cli.model.sources.extracted import SourceKind

MAX_IGNORE_BYTES = 1 << 20
"""Bytes of a ``.gitignore``."""
MAX_INDEX_BYTES = 32 << 20
"""Bytes of git's index."""
_VENDORED = frozenset(
    {"third_party", "third-party", "thirdparty", "3rdparty", "vendor", "vendored", "_vendor", "node_modules"}
    | {"site-packages", "dist-packages", "submodules"}
)
_BUILT = frozenset({"build", "_build", "_skbuild", "dist", "CMakeFiles", ".eggs", ".tox", ".nox", "bazel-out"})
UNNAMED = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".ipynb_checkpoints"})
"""Folders that are not worth a word."""
_TESTS = re.compile(
    r"(?:unit|unit[-_])?tests?|benchmarks?|examples?|demos?|tutorials?|docs?|.+[-_](?:tests|benchmarks|examples)", re.I
)
"""Folders that no build installs. ``testing`` is none of them: libraries have helpers for their users' tests there."""
_TOOLS = UNNAMED | {".git", ".hg", ".svn"}


class WhyLeftOut(Enum):
    """The reason for which something is left out, in words."""

    IGNORED = ".gitignore"
    VENDORED = "others' code"
    BUILT = "made by a build"
    TESTS = "tests, benchmarks and examples; `tests = true` in [tool.dispatch-cli.extract] reads them"
    TOOL = "of a tool"
    VENV = "a Python environment"
    REPOSITORY = "a repository of its own"
    EXCLUDED = "excluded"
    LINK = "a link that leads out of the given path or nowhere, or is at a revision"
    NOT_A_FILE = "not a regular file"
    UNREADABLE = "cannot be read"
    BINARY = "binary"
    TOO_LARGE = "too large"
    TOO_DEEP = "folders nest too deeply"
    BROKEN = "broken"
    NAME = "a name with characters that are not for printing"
    EXTRACTED = "written by extract"


BOUNDS = frozenset({WhyLeftOut.TOO_LARGE, WhyLeftOut.TOO_DEEP})
"""Bounds of this program, which leave out what a build may have."""


def is_of_tests(name: str) -> bool:
    """True if a folder of that name has tests, benchmarks or examples of a project."""
    return _TESTS.fullmatch(name) is not None


def reason_of_folder(name: str, entries: Container[str]) -> WhyLeftOut | None:
    """The reason to leave a folder out by default. entries: its contents; a submodule has ``.git``."""
    if name in _TOOLS:
        return WhyLeftOut.TOOL
    if name in _VENDORED or name.endswith(".dist-info"):
        return WhyLeftOut.VENDORED
    if name in _BUILT or name.endswith(".egg-info") or name.startswith("cmake-build-"):
        return WhyLeftOut.BUILT
    if "pyvenv.cfg" in entries or "conda-meta" in entries:
        return WhyLeftOut.VENV
    return WhyLeftOut.REPOSITORY if ".git" in entries else None


class Ignored:
    """The ``.gitignore`` files that hold in a folder that was named.

    above: the rules of the folder and of those above it.
    """

    def __init__(self, folder: str) -> None:
        here = paths.absolute(folder)
        above = [here]
        while not paths.exists(paths.join(above[-1], ".git")):
            parent = paths.folder_of(above[-1])
            if parent == above[-1]:
                above = [here]  # no repository: what lies above says nothing
                break
            above.append(parent)
        self._top = above[-1]
        lists: list[IgnoreList] = []
        for folder in reversed(above[1:]):
            lists += self.rules(folder)
        parts = self.parts(here)
        if any(is_left_out(lists, parts[:count], True) for count in range(1, len(parts) + 1)):
            lists = []  # it was named all the same
        self.above = tuple(lists)

    def parts(self, path: str) -> tuple[str, ...]:
        """The parts of a path below the repository's folder."""
        full_path = paths.absolute(path)
        return () if full_path == self._top else paths.parts(full_path, self._top)

    @cached_property
    def tracked(self) -> frozenset[bytes]:
        """The paths of the files that git tracks, below the repository's folder: rules for files do not leave them out.

        Empty where there is no plain index in ``.git``, as in a worktree, or it is not of version 2.
        """
        return tracked_files(_content(paths.join(self._top, ".git/index"), MAX_INDEX_BYTES))

    def rules(self, folder: str) -> list[IgnoreList]:
        """The rules of a folder's own file."""
        text = _content(paths.join(folder, ".gitignore"), MAX_IGNORE_BYTES).decode("utf-8", "surrogateescape")
        rules = IgnoreList(text.removeprefix("\ufeff").split("\n"), self.parts(folder))
        return [rules] if rules else []


def _content(file: str, most: int) -> bytes:
    """The content of a file; empty where there is none, or it is a link, which git does not follow, either."""
    if paths.kind(file, follow=False) != stat.S_IFREG:
        return b""
    try:
        return read_plain(file, most)
    except SourceError:
        return b""


class LeftOut(NamedTuple):
    """A file or folder that is not read. detail: more than the reason, for people."""

    path: str
    reason: WhyLeftOut
    is_folder: bool = False
    detail: str = ""


class Walked(NamedTuple):
    """Files that a run reads.

    files: by kind; in each, sorted below each path that was named. headers: all C++ files, by which an ``#include`` is
    looked for. left_out: what is not read. named: the files that were named. templates: files of which sources are
    made, and which are not read. naming: files that may name the backend at PrivateUse1.
    """

    files: dict[SourceKind, list[str]]
    headers: frozenset[str]
    left_out: tuple[LeftOut, ...]
    named: frozenset[str]
    templates: tuple[str, ...]
    naming: tuple[str, ...]


class Exclusion(NamedTuple):
    """Globs of ``--exclude`` or of a project; those of a project are not about files that are named.

    folder: where they are from, absolute; None for the working directory.
    """

    folder: str | None
    rules: IgnoreList
