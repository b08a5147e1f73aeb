"""Lists of sources in a build file: what is compiled into one library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import translate
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from dispatch_cli.files import paths

MAX_ITEMS = 5_000
"""Entries of one list that are looked at."""
BRANCHED = 6
"""Units of work of an entry whose branches are worked out anew."""
MAX_BRANCHES = 40
"""Branches that nest, and those of one list that a file is in."""
MAX_PATH = 4_096
"""Characters of a path."""
MAX_ALIKE = 100
"""Files whose paths end alike that are compared."""
UNKNOWN = "\0"
"""Stands for a part of a path that is not known."""
HERE = "\1"
"""Stands for the folder of the build file at the beginning of a whole path."""
_GLOB = re.compile(r"\*|\?|\[!?[^\]/]+\]")

Branch = tuple[tuple[int, int], ...]
"""The branches of a build file that a statement is in: the number of the ``if``, and which of its branches."""


class SourceItem(NamedTuple):
    """An entry of a list. path: from the folder of the build file; a glob has signs, `UNKNOWN` parts may be in it."""

    path: str
    branch: Branch = ()


SourceList = tuple[SourceItem, ...]


def within(items: Iterable[SourceItem], branch: Branch) -> SourceList:
    """The entries, as they are in a list that is made in a branch."""
    if not branch:
        return tuple(items)[:MAX_ITEMS]
    added = [(item, tuple(step for step in branch if step not in item.branch)) for item in items]
    return tuple(SourceItem(item.path, (*item.branch, *steps)) for item, steps in added)[:MAX_ITEMS]


def otherwise(items: Iterable[SourceItem], branch: Branch) -> SourceList:
    """The entries that a name keeps where the branch, in which it gets others, is not taken."""
    if not branch:
        return ()
    number, taken = branch[-1]
    kept = [item for item in items if branch[-1] not in item.branch]
    return within(kept, ((number, 1 - taken if taken < 2 else 0),))


def _go_together(branch: Branch, other: Branch) -> bool:
    """True if both branches can be taken in one build."""
    taken = dict(branch)
    return all(taken.get(number, step) == step for number, step in other)


class FileLists:
    """Lists of sources, of files that are asked for.

    files: of the run, by which ends of paths are completed. spend: is told the units of work.
    """

    def __init__(self, wanted: Sequence[str], files: Iterable[str], spend: Callable[[int], None]) -> None:
        self._spend = spend
        self._wanted = {paths.normal(file): file for file in wanted}
        self._parts = {name: tuple(name.split("/")) for name in self._wanted}
        self._by_ending: dict[str, list[str]] = {}
        for file in map(paths.normal, files):
            ending = file
            while ending:
                alike = self._by_ending.setdefault(ending, [])
                if len(alike) < MAX_ALIKE:
                    alike.append(file)
                ending = ending.partition("/")[2]
        self._numbers = count()
        self._branches: dict[str, dict[int, tuple[Branch, ...]]] = {}
        self._found: dict[tuple[str, str], tuple[str, ...]] = {}

    def add(self, folder: str, lists: Iterable[SourceList]) -> None:
        """Note the lists of a build file. folder: in which it is. Errors: OverWork."""
        for entries in lists:
            branches: dict[str, tuple[Branch, ...]] = {}
            self._spend(1 + len(entries))
            for item in entries[:MAX_ITEMS]:
                if (folder, item.path) not in self._found:
                    self._spend(10)
                    self._found[folder, item.path] = tuple(self._named(folder, item.path))
                for file in self._found[folder, item.path]:
                    before = branches.get(file, ())
                    if len(before) < MAX_BRANCHES and item.branch not in before:
                        branches[file] = (*before, item.branch)
            self._spend(len(branches))
            if len(branches) < 2:
                continue
            number = next(self._numbers)
            for file, several in branches.items():
                self._branches.setdefault(file, {})[number] = several

    def has_both(self, file: str, other: str) -> bool:
        """True if a list has both files."""
        left, right = self._branches.get(file, {}), self._branches.get(other, {})
        return any(
            _go_together(branch, of_other)
            for number in left.keys() & right.keys()
            for branch in left[number]
            for of_other in right[number]
        )

    def _named(self, folder: str, path: str) -> Iterator[str]:
        """The wanted files that an entry names."""
        _before, unknown, tail = path.rpartition(UNKNOWN)
        if unknown:
            tail = tail.removeprefix("/")
            if _GLOB.search(tail) is None and (file := self._ending(folder, tail)) in self._wanted:
                yield self._wanted[file]
            return
        path = path.removeprefix(HERE).removeprefix("/")
        whole = paths.normal(paths.join(folder, path))
        if _GLOB.search(path) is None:
            file = whole if whole in self._wanted else self._ending(folder, path)
            if file in self._wanted:
                yield self._wanted[file]
            return
        yield from self._matching(whole)

    def _matching(self, glob: str) -> Iterator[str]:
        """The wanted files that a glob over whole paths names."""
        start = glob[: _GLOB.search(glob).start()].rpartition("/")[0]  # type: ignore[union-attr]
        matches = _glob_matcher(glob)
        self._spend(100 + 2 * len(self._wanted))
        yield from (
            file for name, file in self._wanted.items() if name.startswith(start) and matches(self._parts[name])
        )

    def _ending(self, folder: str, tail: str) -> str:
        """The file of the run whose path ends so; of several, the one in the folder of the build file, or none."""
        ending = self._by_ending.get(re.sub(r"^(?:\.{1,2}/)+", "", tail), [])
        if 1 < len(ending) < MAX_ALIKE:
            ending = [file for file in ending if paths.is_in(file, paths.normal(folder))]
        return ending[0] if len(ending) == 1 else ""


def _glob_matcher(glob: str) -> Callable[[Sequence[str]], bool]:
    """A test of the parts of paths; ``**`` stands for any number of folders, and at the end for any file in them.

    The steps are those of a text of the length of the path for each part of the glob, whatever the glob is.
    """
    runs: list[list[Callable[[str], object]]] = [[]]
    for part in glob.split("/"):
        if part == "**":
            runs.append([])
        else:
            runs[-1].append(_part_matcher(part))
    first, *others = runs
    if not others:
        return lambda parts: len(parts) == len(first) and _match_at(first, parts, 0)
    *middle, last = others

    def matches(parts: Sequence[str]) -> bool:
        if len(parts) < sum(map(len, runs)) or not _match_at(first, parts, 0):
            return False
        place = len(first)
        for run in filter(None, middle):
            start = next((at for at in range(place, len(parts) - len(run) + 1) if _match_at(run, parts, at)), None)
            if start is None:
                return False
            place = start + len(run)
        return place + len(last) <= len(parts) and _match_at(last, parts, len(parts) - len(last))

    return matches


def _match_at(run: Sequence[Callable[[str], object]], parts: Sequence[str], start: int) -> bool:
    return start + len(run) <= len(parts) and all(
        matches(part) for matches, part in zip(run, parts[start : start + len(run)], strict=True)
    )


@lru_cache(maxsize=1000)
def _part_matcher(part: str) -> Callable[[str], object]:
    """A test of the name of a file or folder. Stars are matched in linear steps, and a range may be upside down."""
    return re.compile(translate(part)).match if _GLOB.search(part) is not None else part.__eq__


def joined(left: str, right: str) -> str:
    """A path of two parts."""
    if right.startswith(("/", HERE)) or left in ("", "."):
        return right
    return f"{left.rstrip('/')}/{right}"
