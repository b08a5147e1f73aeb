"""Files of which it is known that one program loads both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from dispatch_cli.declarations.source import SourceError
from dispatch_cli.extract import kinds
from dispatch_cli.extract.builds.imports import ModuleImports
from dispatch_cli.extract.sources import Sources
from dispatch_cli.files import paths
from dispatch_cli.model.extracted import SourceKind

_COMMENT = re.compile(r"#[^\n]*")
_CMAKE_LIST = re.compile(r"\b(?:set|\w*(?:library|executable|module|sources|extension|target))[ \t]*\(([^()]*)\)")
_CMAKE_NAME = re.compile(r"(?:\$\{CMAKE_CURRENT_(?:SOURCE|LIST)_DIR\}/)?([^\s\"]+)")
_PYTHON_LIST = re.compile(r"\[((?:(?!\bif\b)[^\[\]])*)\]")
_PYTHON_NAME = re.compile(r"[\"']([^\"'\n]*)[\"']")
_REMOVES = re.compile(r"\bREMOVE_ITEM\b|\bFILTER\b|\.remove\(")
"""Signs that something named in a list is taken out of it."""


class LoadedTogether:
    """Knowledge of which files are loaded together.

    So are two that the user names, two of one list of names in a build file, and two modules that a third one imports,
    or that import each other.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._python = frozenset(sources.files.get(SourceKind.PYTHON, ()))
        self._imports = ModuleImports(sources)

    def is_known(self, file: str, other: str) -> bool:
        """True if one program is known to load both files."""
        if file in self._sources.named and other in self._sources.named:
            return True
        if not {file, other} <= self._python | self._sources.headers:
            return True  # what torchgen makes of its YAML is part of the build
        if file in self._python and other in self._python:
            return self._imports.load_both(file, other)
        return not self._lists.get(file, frozenset()).isdisjoint(self._lists.get(other, ()))

    @cached_property
    def _lists(self) -> dict[str, frozenset[tuple[str, int]]]:
        """The lists that name each C++ file: the build file, and the number of the list in it."""
        lists: dict[str, set[tuple[str, int]]] = {}
        scripts = [name for name in sorted(self._python) if kinds.is_build_script(name)]
        for name in (*self._sources.builds, *scripts):
            for number, files in enumerate(self._named(name)):
                for file in files:
                    lists.setdefault(file, set()).add((name, number))
        return {file: frozenset(places) for file, places in lists.items()}

    def _named(self, build_file: str) -> Iterator[set[str]]:
        """The C++ files that each list names in words; variables, globs and conditions are not followed."""
        try:
            text = _COMMENT.sub("", self._sources.read(build_file))
        except SourceError:
            return
        listed, named = (_PYTHON_LIST, _PYTHON_NAME) if build_file in self._python else (_CMAKE_LIST, _CMAKE_NAME)
        folder = paths.folder_of(build_file)
        for names in () if _REMOVES.search(text) else listed.finditer(text):
            yield {paths.normal(paths.join(folder, name)) for name in named.findall(names[1])} & self._sources.headers
