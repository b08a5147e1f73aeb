"""Files of which it is known that one program loads both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from dispatch_cli.declarations.source import SourceError
from dispatch_cli.extract import kinds
from dispatch_cli.extract.builds.imports import ModuleImports
from dispatch_cli.extract.builds.source_lists import FileLists, SourceList
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.work import OverWork
from dispatch_cli.files import paths
from dispatch_cli.model.extracted import NotUnderstood, SourceKind
from dispatch_cli.model.span import Span

_Reader = Callable[[str, str, Callable[[int], None]], list[SourceList]]
"""Reads a build file: its text, its name, and what is told the units of work."""


class LoadedTogether:
    """Knowledge of which files are loaded together.

    So are two that the user names, two of one list of sources of a build file, and two modules that a third one
    imports, or that import each other. not_understood: build files whose reading ended at a bound.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._python = frozenset(sources.files.get(SourceKind.PYTHON, ()))
        self._imports = ModuleImports(sources)
        self.not_understood: list[NotUnderstood] = []

    def is_known(self, file: str, other: str) -> bool:
        """True if one program is known to load both files."""
        if file in self._sources.named and other in self._sources.named:
            return True
        if not {file, other} <= self._python | self._sources.headers:
            return True  # what torchgen makes of its YAML is part of the build
        if file in self._python and other in self._python:
            return self._imports.load_both(file, other)
        return file not in self._python and other not in self._python and self._lists.has_both(file, other)

    @cached_property
    def _lists(self) -> FileLists:
        """The lists of all build files."""
        from dispatch_cli.extract.builds.cmake import cmake_lists
        from dispatch_cli.extract.builds.setup_py import setup_lists

        files = self._sources.files.get(SourceKind.CPP, ())
        lists = FileLists(files, self._sources.headers, self._sources.work.spend)
        scripts = [name for name in sorted(self._python) if kinds.is_build_script(name)]
        self._add(lists, self._sources.builds, cmake_lists)
        self._add(lists, scripts, setup_lists)
        return lists

    def _add(self, lists: FileLists, names: Sequence[str], read: _Reader) -> None:
        work = self._sources.work
        for name in names:
            try:
                text = self._sources.read(name)
                with work.file(name):
                    lists.add(paths.folder_of(name), read(text, name, work.spend))
            except SourceError:  # noqa: PERF203
                continue
            except OverWork as error:
                at = error.at or Span(name, 1, 1)
                self.not_understood.append(NotUnderstood(at, "", error.why, bound=True))
