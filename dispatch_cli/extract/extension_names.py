"""Names for ``TORCH_EXTENSION_NAME``, the macro by which a build tells C++ sources the name of their extension.

Sources register in the namespace of that name. Where no definition of it is known, a name stands in: one for each
package, so that extensions in one tree stay apart, and the same one in C++ and in Python.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Set
from functools import cached_property

from dispatch_cli.declarations.project_folder import project_folder
from dispatch_cli.declarations.source import SourceError, check_inside
from dispatch_cli.extract.sources import Sources
from dispatch_cli.files import paths
from dispatch_cli.model.extracted import SourceKind

EXTENSION_NAME = "TORCH_EXTENSION_NAME"
_PACKAGE_FILES = ("build.toml", "setup.py", "pyproject.toml")
_KERNEL_BUILDER_NAME = re.compile(
    r"""^\[general\][^\n]*\n(?:(?!\[)[^\n]*\n)*?name[ \t]*=[ \t]*["']([^"'\n]+)["']""", re.M
)
_EXTENSION = re.compile(r"""\b\w*Extension\(\s*(?:name\s*=\s*)?["']([\w.]+)["']""")
_REGISTERED = re.compile(r'\.\s*(?:def|impl)\s*\(\s*(?:\w+\s*\(\s*)?"(\w+)')
_USED = re.compile(r"""\btorch\.ops\.(\w+)\.(\w+)|["'](\w+)::(\w+)["'.(]""")
_PYTORCH = frozenset({"aten", "prim", "prims", "quantized", "torch", "c10d"})


class ExtensionNames:
    """The names that stand for ``TORCH_EXTENSION_NAME``. Those that were asked for are noted in the run's sources."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._kernel_builder: dict[str, str | None] = {}
        self._names: dict[str, str] = {}
        self._texts: dict[str, Mapping[str, str]] = {}

    def of_cpp_file(self, file: str) -> str:
        """The namespace in which a C++ file registers.

        Its package's name for kernel-builder; else the namespace by which Python calls the operators of the file, the
        extension of setup.py if there is one, or the folder of the package.
        """
        if file not in self._names:
            package, text = self._package(file)
            name = _kernel_builder_name(text) or self._used_namespace(file, package) or _only_extension(text)
            self._names[file] = _identifier(name or os.path.basename(paths.inside(package)) or "extension")  # noqa: PTH119
        self._sources.stand_ins[self._names[file]] = None
        return self._names[file]

    def of_generated_module(self, file: str) -> str | None:
        """The namespace in the module ``_ops`` that kernel-builder makes for the package of a Python file; None for
        other packages."""
        folder = paths.folder_of(file)
        if folder not in self._kernel_builder:
            self._kernel_builder[folder] = _kernel_builder_name(self._package(file)[1])
        name = self._kernel_builder[folder]
        if name is None:
            return None
        settings = self._sources.settings(file)
        if EXTENSION_NAME in settings.undefines:
            return None
        if (defined := dict(settings.defines).get(EXTENSION_NAME)) is not None:
            return defined
        self._sources.stand_ins[_identifier(name)] = None
        return _identifier(name)

    def _package(self, file: str) -> tuple[str, Mapping[str, str]]:
        """The nearest folder above a file that is a package, with the texts of the files that say so; without any,
        the folder that all files of the run are in."""
        for folder in paths.above(paths.folder_of(file)):
            if folder not in self._texts:
                files = {name: paths.join(folder, name) for name in _PACKAGE_FILES}
                there = {name: self._package_text(file) for name, file in files.items() if self._sources.is_there(file)}
                self._texts[folder] = there
            if self._texts[folder]:
                return folder, self._texts[folder]
        return self._top, {}

    def _package_text(self, file: str) -> str:
        """The text of a file that no one named; nothing where it leads out of its project."""
        try:
            check_inside(file, project_folder(file))
        except SourceError:
            return ""
        return self._text(file)

    def _text(self, file: str) -> str:
        try:
            return self._sources.read(file)
        except SourceError:
            return ""

    @cached_property
    def _top(self) -> str:
        files = {*self._sources.headers, *(name for names in self._sources.files.values() for name in names)}
        folders = sorted({paths.absolute(paths.folder_of(file)) for file in files})
        try:
            return os.path.commonpath(folders)
        except ValueError:  # on several drives, or in several trees
            return folders[0]

    def _used_namespace(self, file: str, package: str) -> str | None:
        """The namespace that Python files of the package name most operators of a C++ file in."""
        namespaces: Counter[str] = Counter()
        for operator in set(_REGISTERED.findall(self._text(file))):
            named = self._uses.get((operator, package), ())
            self._sources.work.spend(1 + len(named))
            namespaces.update(named)
        return max(sorted(namespaces), key=namespaces.__getitem__, default=None)

    @cached_property
    def _uses(self) -> Mapping[tuple[str, str], Set[str]]:
        """The namespaces in which Python files below a folder, which is absolute, name an operator."""
        uses: dict[tuple[str, str], set[str]] = {}
        for file in self._sources.files.get(SourceKind.PYTHON, ()):
            folders = list(paths.above(paths.folder_of(file)))
            for match in _USED.finditer(self._text(file)):
                namespace = match[1] or match[3]
                if namespace not in _PYTORCH:
                    for folder in folders:
                        uses.setdefault((match[2] or match[4], folder), set()).add(namespace)
        return uses


def _kernel_builder_name(texts: Mapping[str, str]) -> str | None:
    match = _KERNEL_BUILDER_NAME.search(texts.get("build.toml", ""))
    return match[1] if match else None


def _only_extension(texts: Mapping[str, str]) -> str | None:
    """The last part of the name of the extension that setup.py builds; None where it is not one."""
    names = {name.rpartition(".")[2] for name in _EXTENSION.findall(texts.get("setup.py", ""))}
    return names.pop() if len(names) == 1 else None


def _identifier(name: str) -> str:
    identifier = re.sub(r"\W", "_", name, flags=re.ASCII)
    return identifier if identifier[:1].isalpha() or identifier.startswith("_") else f"_{identifier}"
