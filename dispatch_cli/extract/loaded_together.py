"""Files of which it is known that one program loads both, and files that no build lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch, fnmatchcase
from functools import cached_property
from pathlib import PurePath

from dispatch_cli.declarations.source import MAX_SOURCE_BYTES, SourceError, read_plain
from dispatch_cli.extract import kinds
from dispatch_cli.extract.extensions import Extension, extensions_of
from dispatch_cli.extract.left_out import Walked
from dispatch_cli.extract.python.modules import ModuleIndex, UnreadablePython
from dispatch_cli.extract.sources import Sources
from dispatch_cli.files import paths
from dispatch_cli.files.paths import inside
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
_COMMENT = re.compile(r"#[^\n]*")
_CMAKE_LIST = re.compile(
    r"\b(?!\w*custom_target\b)(set|\w*(?:library|executable|module|sources|extension|target))[ \t]*\(([^()]*)\)"
)
_CMAKE_VARIABLE = re.compile(r"\$\{(\w+)\}")
_CMAKE_NAME = re.compile(r"(?:\$\{CMAKE_CURRENT_(?:SOURCE|LIST)_DIR\}/)?([^\s\"]+)")
_SOURCE_NAME = re.compile(r"[\w./+*-]+\.(?:c|cc|cpp|cxx|cu|hip|mm|mu|mlu|sycl|\w{1,2}\*)(?![\w.])")
_REMOVES = re.compile(r"\bREMOVE_ITEM\b|\bFILTER\b")
"""Signs that something named in a list is taken out of it."""


class ModuleImports:
    """The imports of all modules of a run; they are read when they are first asked for."""

    def __init__(self, sources: Sources) -> None:
        self._files: Sequence[str] = sources.files.get(SourceKind.PYTHON, ())
        self._sources = sources
        self._index = ModuleIndex(self._files, sources)
        self._loading: dict[str, frozenset[str]] = {}

    def load_both(self, file: str, other: str) -> bool:
        """True if there is a module that loads both, itself among them."""
        return not self._modules_that_load(file).isdisjoint(self._modules_that_load(other))

    def load_extension(self, file: str, name: str) -> bool:
        """True if a Python file, or a module that loads it, imports the extension module of this name.

        A Python module of that name may stand in for one that is not built, so that it is not known which is loaded.
        """
        return any(
            name == (_absolute(self._index.dotted(module), module, dots, imported) if dots else imported)
            and not self._is_python(module, dots, imported)
            for module in self._modules_that_load(file)
            for dots, imported in _imports(self._index, module)
        )

    def _is_python(self, module: str, dots: int, name: str) -> bool:
        file = self._index.relative(module, dots, name) if dots else self._index.absolute(name, module)
        return file is not None and file.endswith(".py")

    def _modules_that_load(self, file: str) -> frozenset[str]:
        if file not in self._loading:
            seen, waiting = {file}, [file]
            while waiting:
                new = self._importers.get(waiting.pop(), set()) - seen
                seen |= new
                waiting += new
            self._loading[file] = frozenset(seen)
        return self._loading[file]

    @cached_property
    def _importers(self) -> dict[str, set[str]]:
        """The modules that import each module directly."""
        importers: dict[str, set[str]] = {}
        for file in self._files:
            for target in (*_packages(self._index, file), *_imported(self._index, file)):
                if target is not None and target != file:
                    importers.setdefault(target, set()).add(file)
        return importers


def _packages(index: ModuleIndex, file: str) -> Iterator[str]:
    """The packages that a module is in: they are loaded before it."""
    for folder in PurePath(inside(file)).parents:
        package = index.files.get(str(folder / "__init__.py"))
        if package is None and PurePath(inside(file)).parent != folder:
            return
        if package is not None:
            yield package


def _imported(index: ModuleIndex, file: str) -> Iterator[str | None]:
    for dots, name in _imports(index, file):
        yield index.relative(file, dots, name) if dots else index.absolute(name, file)


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


def _absolute(importer: str, file: str, dots: int, name: str) -> str:
    """The dotted name of a relative import in a module, which has a dotted name itself."""
    parts = importer.split(".")
    above = dots - (PurePath(inside(file)).stem == "__init__")
    return ".".join((*parts[: max(0, len(parts) - above)], name))


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
        self._imports = ModuleImports(sources)

    def is_known(self, file: str, other: str) -> bool:
        """True if one program is known to load both files."""
        if self.are_named(file, other):
            return True
        if not {file, other} <= self._python | self._sources.headers:
            return True  # what torchgen makes of its YAML is part of the build
        if file in self._python and other in self._python:
            return self._imports.load_both(file, other)
        if file in self._python or other in self._python:
            module, source = (file, other) if file in self._python else (other, file)
            return any(self._imports.load_extension(module, name) for name in self._extensions(source, module))
        return not self._lists.get(file, frozenset()).isdisjoint(self._lists.get(other, ()))

    def are_named(self, file: str, other: str) -> bool:
        """True if the user names both files."""
        return file in self._sources.named and other in self._sources.named

    @cached_property
    def _scripts(self) -> list[str]:
        return [name for name in sorted(self._python) if kinds.is_build_script(name)]

    def _extensions(self, source: str, module: str) -> Iterator[str]:
        """The names of the extension modules that a C++ file is a source of, in build scripts above a Python file."""
        folders = set(paths.above(paths.absolute(paths.folder_of(module))))
        for script in self._scripts:
            if paths.absolute(paths.folder_of(script)) in folders:
                for extension, files in self._built[script]:
                    if extension.name is not None and source in files:
                        yield extension.name

    @cached_property
    def _built(self) -> dict[str, list[tuple[Extension, set[str]]]]:
        """The extensions of each build script, with C++ files that each surely has."""
        built = {script: extensions_of(self._text_of(script)) for script in self._scripts}
        return {script: [(each, self._sources_of(each, script)) for each in those] for script, those in built.items()}

    def _sources_of(self, extension: Extension, script: str) -> set[str]:
        folder = paths.folder_of(script)
        files = {paths.normal(paths.join(folder, name)) for name in extension.sources}
        patterns = [PurePath(file) for file in files if "*" in file]
        known = files & self._sources.headers
        for pattern in patterns[:MAX_PATTERNS]:
            known |= {file for file in self._in_folder.get(pattern.parent, ()) if fnmatchcase(file, str(pattern))}
        return known

    @cached_property
    def _in_folder(self) -> dict[PurePath, list[str]]:
        folders: dict[PurePath, list[str]] = {}
        for file in self._sources.headers:
            folders.setdefault(PurePath(file).parent, []).append(file)
        return folders

    @cached_property
    def _lists(self) -> dict[str, frozenset[tuple[str, int]]]:
        """The lists that name each C++ file: the build file, and the number of the list in it."""
        lists: dict[str, set[tuple[str, int]]] = {}
        for name in (*self._sources.builds, *self._scripts):
            for number, files in enumerate(self._named(name)):
                for file in files:
                    lists.setdefault(file, set()).add((name, number))
        return {file: frozenset(places) for file, places in lists.items()}

    def _named(self, build_file: str) -> Iterator[set[str]]:
        """The C++ files of each extension, or that each list of CMake names in words."""
        if build_file in self._python:
            yield from (files for _, files in self._built[build_file])
            return
        folder = paths.folder_of(build_file)
        for command, names in self._commands.get(build_file, ()):
            if command != "set" or not self._built_variables.isdisjoint(names.split(maxsplit=1)[:1]):
                named = {paths.normal(paths.join(folder, name)) for name in _CMAKE_NAME.findall(names)}
                yield named & self._sources.headers

    @cached_property
    def _commands(self) -> dict[str, list[tuple[str, str]]]:
        """The commands of CMake files that may list sources; of none that takes something out of a list."""
        texts = {name: _COMMENT.sub("", self._text_of(name)) for name in self._sources.builds}
        return {name: _CMAKE_LIST.findall(text) for name, text in texts.items() if not _REMOVES.search(text)}

    @cached_property
    def _built_variables(self) -> frozenset[str]:
        """The variables whose files are sources of something that is built."""
        set_from: dict[str, set[str]] = {}
        waiting: list[str] = []
        for command, names in (command for those in self._commands.values() for command in those):
            variables = _CMAKE_VARIABLE.findall(names)
            if command == "set":
                set_from.setdefault("".join(names.split(maxsplit=1)[:1]), set()).update(variables)
            else:
                waiting += variables
        built: set[str] = set()
        while waiting:
            variable = waiting.pop()
            if variable not in built:
                built.add(variable)
                waiting += set_from.get(variable, ())
        return frozenset(built)

    def _text_of(self, build_file: str) -> str:
        """The text of a build file; empty where it cannot be read."""
        try:
            return self._sources.read(build_file)
        except SourceError:
            return ""


def unlisted(walked: Walked) -> list[str]:
    """The files that register in the namespace of an extension, and that no build has, as its lists of sources say.

    No build file names such a file or has a pattern for it, nor does a Python file, which could build it when it runs;
    and a build file in a folder above names others of them.
    """
    python = walked.files.get(SourceKind.PYTHON, ())
    words = {name: _source_names(name) for name in (*walked.builds, *filter(kinds.is_build_script, python))}
    naming = {file: [name for name, those in words.items() if _has_file(those, file)] for file in walked.extensions}
    folders = {paths.absolute(paths.folder_of(name)) for names in naming.values() for name in names}
    unnamed = [
        file
        for file, names in naming.items()
        if not (names or file in walked.named or folders.isdisjoint(paths.above(paths.folder_of(file))))
    ]
    others = frozenset(name for file in python if unnamed for name in _source_names(file))
    return [file for file in unnamed if not _has_file(others, file)]


def _source_names(file: str) -> frozenset[str]:
    """The names of C++ files in a text, as they end the paths of these; with ``*`` for any text."""
    try:
        text = _COMMENT.sub("", read_plain(file, MAX_SOURCE_BYTES).decode("utf-8", "replace"))
    except SourceError:
        return frozenset()
    return frozenset(word.lstrip("./") for word in _SOURCE_NAME.findall(text))


def _has_file(names: frozenset[str], file: str) -> bool:
    parts = inside(file).split("/")
    return any("/".join(parts[start:]) in names for start in range(len(parts))) or any(
        fnmatch(file, f"*{name}") for name in names if "*" in name
    )
