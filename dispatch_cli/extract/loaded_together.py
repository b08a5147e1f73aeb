"""Files of which it is known that one program loads both."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.declarations.source import SourceError
from dispatch_cli.extract.python.modules import ModuleIndex
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
MAX_PARTS = 50
"""Parts of the dotted name of a module."""
_EXTENSION = re.compile(
    r"""\b\w*[Ee]xtension\(\s*(?:name\s*=\s*)?f?["']([^"'\n]+)["']\s*,\s*(?:sources\s*=\s*)?"""
    r"""(?:\[((?:\s|,|["'][^"'\n]+["'])*)\](?=\s*[,)])|\w)"""
)
"""The name of an extension in a ``setup.py``, and its sources where they are a list of literals."""
_COMMENT = re.compile(r"#[^\n]*")
_LITERAL = re.compile(r"""["']([^"'\n]+)["']""")


def _imports(index: ModuleIndex, file: str) -> Iterator[tuple[int, str]]:
    """The modules that a module may import when it is loaded: the dots before the name, and the name."""
    text = index.text(file)
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


class _Extension(NamedTuple):
    """An extension that a ``setup.py`` builds. files: those that may be sources of it. listed: all of them are."""

    name: str
    files: frozenset[str]
    listed: bool


class LoadedTogether:
    """Knowledge of which files are loaded together.

    So are two that the user names, two sources that ``setup.py`` lists for one extension, two modules that a third one
    imports, or that import each other, and a module and a source of an extension that the module, or one that loads it,
    imports. Where ``setup.py`` does not list the sources of its only extension, any C++ file below it may be one.
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
        return any({file, other} <= extension.files for extension in self._extensions if extension.listed)

    def are_named(self, file: str, other: str) -> bool:
        """True if the user names both files."""
        return file in self._sources.named and other in self._sources.named

    def _loaded_as(self, file: str) -> Collection[str]:
        """The names by which Python imports a file: its own, or those of the extensions that it is a source of."""
        if file in self._python:
            return (file,)
        return {extension.name for extension in self._extensions if file in extension.files}

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
        names = {extension.name for extension in self._extensions}
        importers: dict[str, set[str]] = {}
        for file in self._python:
            for dots, name in ((1, ""), (2, ""), *_imports(self._index, file)):
                target = self._index.relative(file, dots, name) if dots else self._index.absolute(name, file)
                targets = {target} - {None, file}
                if not (target or "").endswith(".py"):
                    is_own = dots > 0 or name.partition(".")[0] == self._index.dotted(file).partition(".")[0]
                    last = f".{name.rpartition('.')[2]}"
                    targets |= {each for each in names if each == name or (is_own and each.endswith(last))}
                for each in targets:
                    importers.setdefault(str(each), set()).add(file)
        return importers

    @cached_property
    def _extensions(self) -> list[_Extension]:
        """The extensions of each ``setup.py``."""
        scripts = [file for file in sorted(self._python) if os.path.basename(file) == "setup.py"]  # noqa: PTH119
        below = self._files_below(scripts) if scripts else {}
        return [extension for script in scripts for extension in self._extensions_of(script, below[script])]

    def _files_below(self, scripts: Collection[str]) -> Mapping[str, set[str]]:
        """The C++ files in the folder of each script and below it, but not below another script there."""
        by_folder = {paths.absolute(paths.folder_of(script)): script for script in scripts}
        below: dict[str, set[str]] = {script: set() for script in scripts}
        for file in self._sources.headers:
            folder = next((folder for folder in paths.above(paths.folder_of(file)) if folder in by_folder), None)
            if folder is not None:
                below[by_folder[folder]].add(file)
        return below

    def _extensions_of(self, script: str, below: set[str]) -> Iterator[_Extension]:
        """The extensions of a script. below: the C++ files that may be sources where it does not list them."""
        calls = [call.groups() for call in _EXTENSION.finditer(_COMMENT.sub("", self._text_of(script)))]
        is_only = len({name for name, _ in calls}) == 1
        for name, listed in calls:
            if listed is None:
                files = below if is_only else set()
            else:
                files = {paths.normal(paths.join(paths.folder_of(script), file)) for file in _LITERAL.findall(listed)}
            yield _Extension(name, frozenset(files), listed is not None)

    def _text_of(self, script: str) -> str:
        """The text of a script; empty where it cannot be read."""
        try:
            return self._sources.read(script)
        except SourceError:
            return ""
