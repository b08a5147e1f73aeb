"""Source files of a run, and the settings with which each is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

from dispatch_cli.declarations import source
from dispatch_cli.declarations.source import MAX_SOURCE_BYTES
from dispatch_cli.extract.work import WorkBudget
from dispatch_cli.files import paths
from dispatch_cli.files.ignore_rules import IgnoreList
from dispatch_cli.model.conditions.condition import Condition
from dispatch_cli.model.sources.extracted import SourceKind
from dispatch_cli.model.sources.source_settings import FileSettings, SourceSettings

MAX_ALIKE = 100
"""Headers with the same name that are compared."""


def settings_of_files(places: Sequence[SourceSettings]) -> Callable[[str], ReadSettings]:
    """Make the function from a file's name to its settings. places: the weaker settings first."""
    steps = [
        (None if step is place.every else IgnoreList(step.globs), place.folder, step)
        for place in places
        for step in (place.every, *place.files)
    ]

    @cache  # it is asked for at each registration
    def read_settings(name: str) -> ReadSettings:
        chosen = [step for rules, folder, step in steps if rules is None or rules.covers(name, folder)]
        return _combined(chosen)

    return read_settings


def _combined(steps: Sequence[FileSettings]) -> ReadSettings:
    defines: dict[str, tuple[str, str]] = {}
    undefines: dict[str, None] = {}
    values: dict[str, str] = {}
    for step in steps:
        for name in step.undefines:
            defines.pop(name, None)
            undefines[name] = None
        for macro, text in step.defines:
            name = macro.partition("(")[0]
            undefines.pop(name, None)
            defines[name] = macro, text
        values.update(step.values)
    when = dict.fromkeys(condition for step in steps for condition in step.when)
    return ReadSettings(tuple(defines.values()), frozenset(undefines), tuple(values.items()), tuple(when))


class ReadSettings(NamedTuple):
    """Settings with which one file is read.

    defines: macros, with their parameters if they have some, and their values (``-D``).
    undefines: macros that are not defined (``-U``).
    values: what names of Python stand for (``--set``), such as ``current_platform.dispatch_key``.
    when: what holds where the file is in the build.
    """

    defines: tuple[tuple[str, str], ...] = ()
    undefines: frozenset[str] = frozenset()
    values: tuple[tuple[str, str], ...] = ()
    when: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Sources:
    """The files of a run.

    files: the files to extract from, by kind, in order. headers: files that may be included besides (their paths).
    include: the directories of ``-I``. settings: how a file is read, by its name.
    named: the files that the user names. progress: is told each file that is read.

    While a run reads: *opened* has the files that were read, *stand_ins* the names that stand for a
    ``TORCH_EXTENSION_NAME`` that is not known, with True for a guess, *work* what the readers may still do.
    """

    files: Mapping[SourceKind, Sequence[str]]
    headers: frozenset[str] = frozenset()
    include: tuple[str, ...] = ()
    settings: Callable[[str], ReadSettings] = lambda _: ReadSettings()
    named: frozenset[str] = frozenset()
    progress: Callable[[str], None] | None = field(default=None, repr=False)
    opened: set[str] = field(default_factory=set, repr=False)
    stand_ins: dict[str, bool] = field(default_factory=dict, repr=False)
    work: WorkBudget = field(default_factory=WorkBudget, repr=False, compare=False)

    def read(self, name: str) -> str:
        """The text of a file; bytes that are not UTF-8 are replaced. Errors: SourceError."""
        if self.progress is not None:
            self.progress(name)
        data = source.read_plain(name, MAX_SOURCE_BYTES)
        self.opened.add(name)
        return data.decode("utf-8-sig", "replace")

    def find(self, target: str, including: str, quoted: bool) -> str | None:
        """The file that ``#include`` means; None where it is not among the files of the run.

        Builds find headers in directories that are not known: so it is the nearest whose path ends with the target.
        """
        candidates = [paths.join(paths.folder_of(including), target)] if quoted else []
        candidates += [paths.join(directory, target) for directory in self.include]
        for candidate in map(paths.normal, candidates):
            inside = any(paths.is_in(paths.absolute(candidate), paths.absolute(folder)) for folder in self.include)
            if candidate in self.headers or (inside and paths.is_file(candidate)):
                return candidate
        return nearest(self._endings.get(os.path.normpath(target), ()), including)

    @cached_property
    def _endings(self) -> Mapping[str, Sequence[str]]:
        """The headers by the ends of their paths, such as ``native/Math.h`` and ``Math.h``; not too many of one."""
        endings: dict[str, list[str]] = {}
        for path in sorted(self.headers):
            ending = paths.inside(path)
            while ending:
                alike = endings.setdefault(ending, [])
                if len(alike) < MAX_ALIKE:
                    alike.append(path)
                ending = ending.partition(os.sep)[2]
        return endings


def nearest(candidates: Iterable[str], file: str) -> str | None:
    """The first of the candidates that have most directories in common with a file."""

    def shared_folders(path: str) -> int:
        return os.path.commonprefix((path, file)).count(os.sep)  # noqa: RUF071 (separators are counted)

    return max(candidates, key=shared_folders, default=None)
