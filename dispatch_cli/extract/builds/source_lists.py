"""Lists of sources in a build file: what is compiled into one library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.files import paths

MAX_ITEMS = 5_000
"""Entries of one list that are looked at."""
MAX_LISTS = 2_000
"""Lists of one build file that are looked at."""
UNKNOWN = "\0"
"""Stands for a part of a path that is not known."""
HERE = "\1"
"""Stands for the folder of the build file at the beginning of a whole path."""
_GLOB = re.compile(r"\*\*/?|\*|\?|\[!?[^\]/]+\]")

Branch = tuple[tuple[int, int], ...]
"""The branches of a build file that a statement is in: the number of the ``if``, and which of its branches."""


class SourceItem(NamedTuple):
    """An entry of a list. path: from the folder of the build file; a glob has signs, `UNKNOWN` parts may be in it."""

    path: str
    branch: Branch = ()


SourceList = tuple[SourceItem, ...]


def within(items: Iterable[SourceItem], branch: Branch) -> SourceList:
    """The entries, as they are in a list that is made in a branch."""
    added = [(item, tuple(step for step in branch if step not in item.branch)) for item in items]
    return tuple(item._replace(branch=(*item.branch, *steps)) for item, steps in added)[:MAX_ITEMS]


def otherwise(items: Iterable[SourceItem], branch: Branch) -> SourceList:
    """The entries that a name keeps where the branch, in which it gets others, is not taken."""
    if not branch:
        return ()
    number, taken = branch[-1]
    kept = [item for item in items if branch[-1] not in item.branch]
    return within(kept, ((number, 1 - taken if taken < 2 else 0),))


def _go_together(one: Branch, other: Branch) -> bool:
    """Whether both branches can be taken in one build."""
    taken = dict(one)
    return all(taken.get(number, step) == step for number, step in other)


class FileLists:
    """Lists of sources, of files that are asked for. files: of the run, by which ends of paths are completed."""

    def __init__(self, wanted: Sequence[str], files: Iterable[str]) -> None:
        self._wanted = {paths.normal(file): file for file in wanted}
        self._by_name: dict[str, list[str]] = {}
        for file in files:
            self._by_name.setdefault(file.rpartition("/")[2], []).append(paths.normal(file))
        self._together: set[tuple[str, str]] = set()

    def add(self, folder: str, lists: Iterable[SourceList]) -> None:
        """Note the lists of a build file. folder: in which it is."""
        for entries in lists:
            branches: dict[str, set[Branch]] = {}
            for item in entries[:MAX_ITEMS]:
                for file in self._named(folder, item.path):
                    branches.setdefault(file, set()).add(item.branch)
            several = sorted(branches)
            for position, one in enumerate(several):
                for other in several[position + 1 :]:
                    if any(_go_together(left, right) for left in branches[one] for right in branches[other]):
                        self._together.add((one, other))

    def has_both(self, one: str, other: str) -> bool:
        """Whether a list has both files."""
        return (one, other) in self._together or (other, one) in self._together

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
        matches = _pattern(whole).fullmatch
        yield from (file for name, file in self._wanted.items() if matches(name))

    def _ending(self, folder: str, tail: str) -> str:
        """The file of the run whose path ends so; of several, the one in the folder of the build file, or none."""
        tail = re.sub(r"^(?:\.{1,2}/)+", "", tail)
        alike = self._by_name.get(tail.rpartition("/")[2], ())
        ending = [file for file in alike if file == tail or file.endswith(f"/{tail}")]
        if len(ending) > 1:
            ending = [file for file in ending if paths.is_in(file, paths.normal(folder))]
        return ending[0] if len(ending) == 1 else ""


def _pattern(glob: str) -> re.Pattern[str]:
    """A glob over whole paths; ``**`` stands for any number of folders."""
    parts, end = [], 0
    for match in _GLOB.finditer(glob):
        parts.append(re.escape(glob[end : match.start()]))
        sign = match[0]
        if sign.startswith("**"):
            parts.append(r"(?:.*/)?" if sign.endswith("/") else ".*")
        elif sign == "*":
            parts.append("[^/]*")
        else:
            parts.append("[^/]" if sign == "?" else sign.replace("[!", "[^").replace("\\", r"\\"))
        end = match.end()
    return re.compile("".join((*parts, re.escape(glob[end:]))))


def joined(left: str, right: str) -> str:
    """A path of two parts."""
    if right.startswith(("/", HERE)) or left in ("", "."):
        return right
    return f"{left.rstrip('/')}/{right}"
