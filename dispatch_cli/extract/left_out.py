"""Parts of a tree that are left out: what git ignores, what others wrote, tests, what ``--exclude`` says."""

from __future__ import annotations

import re
from collections.abc import Container
from enum import Enum
from typing import NamedTuple

from dispatch_cli.declarations.source import SourceError, read_plain
from dispatch_cli.extract.ignore import IgnoreList, is_left_out
from dispatch_cli.files import paths
from dispatch_cli.model.extracted import SourceKind

MAX_IGNORE_BYTES = 1 << 20
"""Bytes of a ``.gitignore``."""
_VENDORED = frozenset(
    {
        "third_party", "third-party", "thirdparty", "3rdparty", "vendor", "vendored", "_vendor", "node_modules",
        "site-packages", "dist-packages", "submodules",
    }
)  # fmt: skip
_BUILT = frozenset({"build", "_build", "_skbuild", "dist", "CMakeFiles", ".eggs", ".tox", ".nox", "bazel-out"})
UNNAMED = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".ipynb_checkpoints"})
"""Folders that are not worth a word."""
_TESTS = re.compile(
    r"(?:unit|unit[-_])?tests?|benchmarks?|examples?|demos?|tutorials?|docs?|.+[-_](?:tests|benchmarks|examples)", re.I
)
"""Folders that no build installs. ``testing`` is none of them: libraries have helpers for their users' tests there."""
_TOOLS = UNNAMED | {".git", ".hg", ".svn"}
_MODULE_PATH = re.compile(r"^[ \t]*path[ \t]*=([^\n]*)", re.MULTILINE)


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
    NOT_BUILT = "not in the build that -D and -U describe"
    LINK = "a link that leads out of the given path, or nowhere"
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


def reason_of_folder(path: str, name: str, entries: Container[str], modules: frozenset[str]) -> WhyLeftOut | None:
    """The reason to leave a folder out by default. entries: its contents. modules: the submodules that are known."""
    if name in _TOOLS:
        return WhyLeftOut.TOOL
    if name in _VENDORED or name.endswith(".dist-info"):
        return WhyLeftOut.VENDORED
    if name in _BUILT or name.endswith(".egg-info") or name.startswith("cmake-build-"):
        return WhyLeftOut.BUILT
    if "pyvenv.cfg" in entries or "conda-meta" in entries:
        return WhyLeftOut.VENV
    return WhyLeftOut.REPOSITORY if ".git" in entries or path in modules else None


def submodules(folder: str) -> frozenset[str]:
    """The folders of the submodules that ``.gitmodules`` in a folder names."""
    text = _text(paths.join(folder, ".gitmodules")) or ""
    named = (match[1].strip() for match in _MODULE_PATH.finditer(text))
    return frozenset(paths.normal(paths.join(folder, name)) for name in named if name)


class Ignored:
    """The ``.gitignore`` files that hold in a folder that was named.

    above: the rules of the folder and of those above it.
    """

    def __init__(self, folder: str) -> None:
        self._lists: dict[str, IgnoreList] = {}
        self._too_large: list[str] = []
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
            lists += self._rules(folder)
        parts = self.parts(here)
        if any(is_left_out(lists, parts[:count], True) for count in range(1, len(parts) + 1)):
            lists = []  # it was named all the same
        self.above = tuple(lists)

    def parts(self, path: str) -> tuple[str, ...]:
        """The parts of a path below the repository's folder."""
        full_path = paths.absolute(path)
        return () if full_path == self._top else paths.parts(full_path, self._top)

    def within(self, folder: str, lists: tuple[IgnoreList, ...]) -> tuple[IgnoreList, ...]:
        """The rules that hold in a folder. lists: those that hold above it."""
        return (*lists, *self._rules(folder))

    def unread(self) -> list[str]:
        """The ``.gitignore`` files whose patterns are too many, or that are too large."""
        return [*self._too_large, *(file for file, rules in self._lists.items() if rules.over)]

    def _rules(self, folder: str) -> list[IgnoreList]:
        file = paths.join(folder, ".gitignore")
        text = _text(file)
        if text is None:
            self._too_large.append(file)
            return []
        rules = self._lists[file] = IgnoreList(text.removeprefix("\ufeff").split("\n"), self.parts(folder))
        return [rules] if rules else []


def _text(file: str) -> str | None:
    """The text of a small file; empty where there is none, or it is a link, which git does not follow, either.

    None where it is too large.
    """
    if not paths.is_file(file) or paths.is_link(file):
        return ""
    try:
        return read_plain(file, MAX_IGNORE_BYTES).decode("utf-8", "surrogateescape")
    except SourceError as error:
        return None if error.code == "too-large" else ""


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
