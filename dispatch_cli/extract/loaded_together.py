"""Files of which it is known that one program loads both."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import PurePath

from dispatch_cli.declarations.source import SourceError
from dispatch_cli.extract import kinds
from dispatch_cli.extract.python.modules import ModuleIndex, UnreadablePython
from dispatch_cli.extract.source_lists import cmake_lists, setup_lists
from dispatch_cli.extract.sources import Sources
from dispatch_cli.files import paths
from dispatch_cli.model.sources.extracted import SourceKind

_IMPORT = re.compile(
    r"^(?:from[ \t]+(?=[.\w])(\.*)(\w[\w.]*)?[ \t]+import[ \t]+(\([^)]*(?:\)|\Z)|[^\n#;]*)|import[ \t]+([^\n#;]*))",
    re.MULTILINE,
)
_LONG_TEXT = re.compile(r"""#[^\n]*|('{3}|"{3})(?:\\.|[^\\])*?\1|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
"""A comment or a string; of one in three quotes, a line can look like an import."""
_AS = re.compile(r"\bas\s+\w+|#[^\n]*")
MAX_PATTERNS = 20
"""Patterns of an extension that are looked for."""
MAX_PARTS = 50
"""Parts of the dotted name of a module."""


def _imports(index: ModuleIndex, file: str) -> Iterator[tuple[int, str]]:
    """The modules that a module may import when it is loaded: the dots before the name, and the name."""
    try:
        text = index.text(file)
    except UnreadablePython:
        return
    if '"""' in text or "'''" in text:
        text = _LONG_TEXT.sub(lambda match: "''" if match[1] else match[0], text)
    for match in _IMPORT.finditer(text):
        dots, module, names, modules = match.groups()
        if modules is not None:
            yield from ((0, name) for whole in _names(modules) for name in _with_packages(whole))
        elif dots:
            inner = [f"{module}.{name}" if module else name for name in _names(names)]
            yield from ((min(len(dots), MAX_PARTS), name) for name in (module or "", *inner))
        else:
            yield from (
                (0, name) for name in (*_with_packages(module), *(f"{module}.{name}" for name in _names(names)))
            )


def _names(text: str) -> list[str]:
    return [name for part in _AS.sub("", text).strip("() \t\n").split(",") if (name := part.strip())]


def _with_packages(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[: count + 1]) for count in range(min(len(parts), MAX_PARTS)))


class LoadedTogether:
    """Knowledge of which files are loaded together.

    So are two that the user names, two sources of one extension of ``setup.py``, two of one list of names in a CMake
    file, two modules that a third one imports, or that import each other, and a module and a source of an extension
    that the module, or one that loads it, imports.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._python = frozenset(sources.files.get(SourceKind.PYTHON, ()))
        self._index = ModuleIndex(sorted(self._python), sources)
        self._loading: dict[str, set[str]] = {}

    def is_known(self, file: str, other: str) -> bool:
        """True if one program is known to load both files."""
        if self.are_named(file, other):
            return True
        if not {file, other} <= self._python | self._sources.headers:
            return True  # what torchgen makes of its YAML is part of the build
        if file in self._python or other in self._python:
            return any(
                not self._modules_that_load(first).isdisjoint(self._modules_that_load(second))
                for first in self._loaded_as(file)
                for second in self._loaded_as(other)
            )
        return any(file in names and other in names for _, names in self._lists)

    def are_named(self, file: str, other: str) -> bool:
        """True if the user names both files."""
        return file in self._sources.named and other in self._sources.named

    def _loaded_as(self, file: str) -> Collection[str]:
        """The names by which Python imports a file: its own, or those of the extensions that it is a source of."""
        return (file,) if file in self._python else {name for name, files in self._lists if name and file in files}

    def _modules_that_load(self, file: str) -> set[str]:
        """The modules that load a module, itself among them."""
        if file not in self._loading:
            loading = self._loading[file] = {file}
            waiting = [file]
            while waiting:
                new = self._importers.get(waiting.pop(), set()) - loading
                loading |= new
                waiting += new
        return self._loading[file]

    @cached_property
    def _importers(self) -> dict[str, set[str]]:
        """The modules that import each module, or extension, directly. The packages that a module is in count, too.

        A Python module with the name of an extension may stand in for one that is not built, and counts alone.
        """
        extensions = {name for name, _ in self._lists if name}
        importers: dict[str, set[str]] = {}
        for file in self._python:
            for dots, name in ((1, ""), (2, ""), *_imports(self._index, file)):
                target = self._index.relative(file, dots, name) if dots else self._index.absolute(name, file)
                targets = {target} - {None, file}
                if not (target or "").endswith(".py"):
                    targets |= {each for each in extensions if each == name or (dots and each.endswith(f".{name}"))}
                for each in targets:
                    importers.setdefault(str(each), set()).add(file)
        return importers

    @cached_property
    def _lists(self) -> list[tuple[str, set[str]]]:
        """The C++ files of each list of a build file, with the name of the extension that is made of them."""
        lists: list[tuple[str, set[str]]] = []
        for script in filter(kinds.is_build_script, sorted(self._python)):
            folder = paths.folder_of(script)
            lists += ((name, self._files(those, folder)) for name, those in setup_lists(self._text_of(script)))
        builds = self._sources.builds
        for build_file, of_file in zip(builds, cmake_lists([*map(self._text_of, builds)]), strict=True):
            lists += (("", self._files(those, paths.folder_of(build_file))) for those in of_file)
        return lists

    def _files(self, names: set[str], folder: str) -> set[str]:
        """The C++ files that a list names; ``*`` is only in the last part of a name."""
        those = {paths.normal(paths.join(folder, name)) for name in names}
        files = those & self._sources.headers
        for pattern in [name for name in those if "*" in name][:MAX_PATTERNS]:
            there = self._by_folder.get(PurePath(pattern).parent, ())
            files |= {file for file in there if fnmatchcase(file, pattern)}
        return files

    @cached_property
    def _by_folder(self) -> Mapping[PurePath, Sequence[str]]:
        """The C++ files in each folder."""
        folders: dict[PurePath, list[str]] = {}
        for file in self._sources.headers:
            folders.setdefault(PurePath(file).parent, []).append(file)
        return folders

    def _text_of(self, build_file: str) -> str:
        """The text of a build file; empty where it cannot be read."""
        try:
            return self._sources.read(build_file)
        except SourceError:
            return ""
