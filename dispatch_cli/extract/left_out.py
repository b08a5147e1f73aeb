"""Parts of a tree that are left out: what git ignores, what others wrote, tests, what ``--exclude`` says.

Patterns are lines of ``.gitignore``, and globs of options, which are read the same way. The meaning is that of git
(``gitignore(5)``, ``wildmatch.c``). No pattern takes more than the product of its length and that of a path.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Container, Iterable, Sequence
from enum import Enum
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.declarations.source import SourceError, read_plain
from dispatch_cli.files import paths
from dispatch_cli.model.sources.extracted import SourceKind

MAX_PATTERN = 4096
"""Characters of one pattern; a longer one matches nothing."""
_NEVER = re.compile(r"(?!)")
_SIGNS = re.compile(r"[*?\[\\]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
MAX_RULES = 2_000
"""Rules of one file."""
Matcher = Callable[[str], object]
"""A test of one part of a path."""
MAX_IGNORE_BYTES = 1 << 20
"""Bytes of a ``.gitignore``."""
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


class IgnoreRule(NamedTuple):
    """A pattern of an ignore file.

    parts: for each part of a path what it must match, None for ``**``. negated: what matches is not left out.
    folders_only: it is about folders.
    """

    parts: tuple[Matcher | None, ...]
    negated: bool
    folders_only: bool

    def matches(self, path: Sequence[str], is_folder: bool) -> bool:
        """True if it is about a path, which is given by its parts below the pattern's own folder."""
        last = self.parts[-1]
        if not path or (self.folders_only and not is_folder) or not (last is None or last(path[-1])):
            return False  # of most paths, that is all there is to do
        return _match(self.parts, path)


def _match(parts: Sequence[Matcher | None], path: Sequence[str]) -> bool:
    """True if all parts match. All places that a part can end at are kept, so nothing is tried twice."""
    places = {0}
    for number, part in enumerate(parts, 1):
        if part is None and places:
            least = min(places) + (number == len(parts))  # ``a/**`` is about what is in a, not about a
            places = set(range(least, len(path) + 1))
        elif part is not None:
            places = {place + 1 for place in places if place < len(path) and part(path[place])}
    return len(path) in places


def parse_rule(line: str) -> IgnoreRule | None:
    """The rule of a line of ``.gitignore``; None for one that says nothing."""
    text = line.removesuffix("\r").rstrip(" ")
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[1:] if negated else text
    folders_only = text.endswith("/")
    text = text[:-1] if folders_only else text
    if not text or len(text) > MAX_PATTERN:
        return None
    parts = text.removeprefix("/").split("/") if "/" in text else ["**", text]
    matchers = tuple(None if part == "**" and len(parts) > 1 else _matcher(part) for part in parts)
    return IgnoreRule(matchers, negated, folders_only)


@lru_cache(maxsize=4096)
def _matcher(part: str) -> Matcher:
    """A test of one part of a path; named sets of characters, such as ``[:alpha:]``, are not known."""
    if _SIGNS.search(part) is None:
        return part.__eq__
    glob = _ESCAPED.sub(lambda match: f"[{match[1]}]" if match[1] in "*?[" else match[1], part).replace("[^", "[!")
    return _NEVER.match if part.endswith("\\") else re.compile(translate(glob)).match


class IgnoreList:
    """The rules of one file, the later the stronger; none where there are too many.

    folder: where they hold, by the parts of its path.
    """

    def __init__(self, lines: Iterable[str], folder: tuple[str, ...] = ()) -> None:
        self.folder = folder
        rules = [rule for line in lines if (rule := parse_rule(line)) is not None]
        self._rules = rules[::-1] if len(rules) <= MAX_RULES else []

    def __bool__(self) -> bool:
        return bool(self._rules)

    def decides(self, path: Sequence[str], is_folder: bool) -> bool | None:
        """True if a path is left out; None where no rule is about it. path: by its parts, its folder's included."""
        below = path[len(self.folder) :]
        return next((not rule.negated for rule in self._rules if rule.matches(below, is_folder)), None)

    def covers(self, path: str, folder: str | None, is_folder: bool = False) -> bool:
        """True if a path, or a folder that it is in, is left out. folder: where the rules are from."""
        parts = paths.parts(path, folder)
        counts = range(1, len(parts) + 1)
        return any(self.decides(parts[:count], is_folder or count < len(parts)) for count in counts)


def is_left_out(lists: Sequence[IgnoreList], path: Sequence[str], is_folder: bool) -> bool:
    """True if a path is left out by rules, the stronger the later; the folders above it are not looked at."""
    decisions = (rules.decides(path, is_folder) for rules in reversed(lists))
    return next((decided for decided in decisions if decided is not None), False)


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

    def rules(self, folder: str) -> list[IgnoreList]:
        """The rules of a folder's own file."""
        text = _text(paths.join(folder, ".gitignore"))
        rules = IgnoreList(text.removeprefix("\ufeff").split("\n"), self.parts(folder))
        return [rules] if rules else []


def _text(file: str) -> str:
    """The text of a small file; empty where there is none, or it is a link, which git does not follow, either."""
    if paths.kind(file, follow=False) != stat.S_IFREG:
        return ""
    try:
        return read_plain(file, MAX_IGNORE_BYTES).decode("utf-8", "surrogateescape")
    except SourceError:
        return ""


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
