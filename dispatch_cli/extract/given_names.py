"""Names that a build gives: of extension modules, and of the backend at PrivateUse1."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property
from typing import TypeVar

from dispatch_cli.declarations.project import project_folder
from dispatch_cli.declarations.source import SourceError, check_inside
from dispatch_cli.declarations.universe_file import is_free_backend_name
from dispatch_cli.extract.readable import key_of
from dispatch_cli.extract.sources import Sources
from dispatch_cli.files import paths
from dispatch_cli.model.declarations import LibraryKind
from dispatch_cli.model.sources.extracted import (
    CustomOperator,
    Extracted,
    ExtractedBlock,
    ExtractedDefinition,
    ExtractedFallback,
    ExtractedKernel,
    Extraction,
    SourceKind,
    Unknown,
)
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import PRIVATE_USE1

EXTENSION_NAME = "TORCH_EXTENSION_NAME"
_PACKAGE_FILES = ("build.toml", "setup.py", "pyproject.toml")
_KERNEL_BUILDER_NAME = re.compile(
    r"""^\[general\][^\n]*\n(?:(?!\[)[^\n]*\n)*?name[ \t]*=[ \t]*["']([^"'\n]+)["']""", re.M
)
_REGISTERED = re.compile(r'\.\s*(?:def|impl)\s*\(\s*(?:\w+\s*\(\s*)?"(\w+)')
_SUFFIX = re.compile(rf"\b{EXTENSION_NAME}\s*,\s*(_\w+)\s*\)")
"""The rest of a namespace, behind the name of the extension, as in ``CONCAT(TORCH_EXTENSION_NAME, _cache_ops)``."""
_USED = re.compile(r"""\btorch\.ops\.(\w+)\.(\w+)|["'](\w+)::(\w+)["'.(]""")
PYTORCH_NAMESPACES = frozenset({"aten", "prim", "prims", "quantized", "torch", "c10d"})
MARK = b"privateuse1_backend"
"""Part of the names of the functions that give it, by which files with calls of them are found."""
_CALL = re.compile(r"(?:register|rename)_privateuse1_backend\s{0,20}\(\s{0,99}[\"']([a-z_]{1,40})[\"']\s*\)")
_NAME_IN_KEY = re.compile(r"(?:^|[a-z])([A-Z]{2,40})$")
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+torch_([a-z]{2,40})\b", re.MULTILINE)
_Key = TypeVar("_Key", bound="str | Unknown | None")
_COMMENTS = ("#", "//", "*", "/*")


class ExtensionNames:
    """The names that stand for ``TORCH_EXTENSION_NAME``. Those that were asked for are noted in the run's sources.

    Sources register in the namespace of that name. Where no definition of it is known, a name stands in: one for each
    package, so that extensions in one tree stay apart, and the same one in C++ and in Python.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._names: dict[str, str] = {}
        self._packages: dict[str, tuple[bool, str | None]] = {}

    def of_cpp_file(self, file: str) -> str:
        """The namespace in which a C++ file registers.

        Its package's name for kernel-builder; else the namespace by which Python calls the operators of the file, or
        the folder of the package.
        """
        if file not in self._names:
            package, own_name = self._package(file)
            name = own_name or self._used_namespace(file, package)
            chosen = name or os.path.basename(paths.inside(package)) or "extension"  # noqa: PTH119
            self._names[file] = _identifier(chosen)
            self._sources.stand_ins.setdefault(self._names[file], name is None)
        return self._names[file]

    def of_generated_module(self, file: str) -> str | None:
        """The namespace in the module ``_ops`` that kernel-builder makes for the package of a Python file; None for
        other packages."""
        _, name = self._package(file)
        if name is None:
            return None
        defined = dict(self._sources.settings(file).defines).get(EXTENSION_NAME)
        if defined is None:
            self._sources.stand_ins[_identifier(name)] = False
        return _identifier(name) if defined is None else defined

    def _package(self, file: str) -> tuple[str, str | None]:
        """The nearest folder above a file that is a package, or the topmost, and its name for kernel-builder."""
        folder = ""
        for folder in paths.above(paths.folder_of(file)):
            if folder not in self._packages:
                toml = paths.join(folder, "build.toml")
                build = _KERNEL_BUILDER_NAME.search(self._text(toml, project_folder(toml)))
                is_package = any(paths.is_file(paths.join(folder, name)) for name in _PACKAGE_FILES)
                self._packages[folder] = is_package, None if build is None else build[1]
            is_package, name = self._packages[folder]
            if is_package:
                return folder, name
        return folder, None

    def _text(self, file: str, within: str | None = None) -> str:
        """The text of a file; nothing where it cannot be read, or leads out of a folder."""
        try:
            check_inside(file, within)
            return self._sources.read(file)
        except SourceError:
            return ""

    def _used_namespace(self, file: str, package: str) -> str | None:
        """The namespace that Python files of the package name most operators of a C++ file in."""
        namespaces: Counter[str] = Counter()
        text = self._text(file)
        suffixes = tuple(dict.fromkeys(_SUFFIX.findall(text)))
        for operator in set(_REGISTERED.findall(text)):
            named = self._uses.get((operator, package), ())
            self._sources.work.spend(1 + len(named) * (1 + len(suffixes)))
            for name in named:
                suffix = next((suffix for suffix in suffixes if name.endswith(suffix)), "")
                namespaces[name.removesuffix(suffix)] += 1
        return max(sorted(namespaces), key=namespaces.__getitem__, default=None)

    @cached_property
    def _uses(self) -> Mapping[tuple[str, str], Set[str]]:
        """The namespaces in which Python files below a folder, which is absolute, name an operator."""
        uses: dict[tuple[str, str], set[str]] = {}
        for file in self._sources.files.get(SourceKind.PYTHON, ()):
            folders = list(paths.above(paths.folder_of(file)))
            for match in _USED.finditer(self._text(file)):
                namespace = match[1] or match[3]
                if namespace not in PYTORCH_NAMESPACES:
                    for folder in folders:
                        uses.setdefault((match[2] or match[4], folder), set()).add(namespace)
        return uses


def without_guesses(
    extractions: Iterable[Extraction], guessed: Collection[str], read: Callable[[str], str]
) -> list[Extraction]:
    """The extractions, in which the operator of a kernel is unknown if its namespace is a guess and does not define it.

    guessed: the namespaces that are guesses. Files that do not name ``TORCH_EXTENSION_NAME`` have none.
    """
    those = list(extractions)
    if not guessed:
        return those
    definitions = (ExtractedDefinition, CustomOperator)
    defined = {str(item.name) for part in those for item in part.items if isinstance(item, definitions)}

    def decided(item: Extracted) -> Extracted:
        if not isinstance(item, ExtractedKernel) or not isinstance(item.operator, str) or item.operator in defined:
            return item
        namespace, _, name = item.operator.partition("::")
        is_guess = namespace in guessed and EXTENSION_NAME in read(item.at.file)
        return item._replace(operator=Unknown(f"{EXTENSION_NAME}::{name}")) if is_guess else item

    return [part._replace(items=tuple(map(decided, part.items))) for part in those]


def _identifier(name: str) -> str:
    identifier = re.sub(r"\W", "_", name, flags=re.ASCII)
    return identifier if identifier[:1].isalpha() or identifier.startswith("_") else f"_{identifier}"


def backend_names(
    files: Iterable[str], read: Callable[[str], str], pattern: re.Pattern[str] = _CALL
) -> list[tuple[str, Span]]:
    """The names in calls that name the backend, each with the place of its first call.

    Such a call is ``torch.utils.rename_privateuse1_backend("npu")`` or ``c10::register_privateuse1_backend("npu")``.
    pattern: finds a name in something else than a call.
    """
    names: dict[str, Span] = {}
    for file in files:
        with suppress(SourceError):  # a file that cannot be read is reported elsewhere
            text = read(file)
            for match in pattern.finditer(text):
                before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
                if not before.lstrip().startswith(_COMMENTS):
                    line = text.count("\n", 0, match.start()) + 1
                    names.setdefault(match[1], Span(file, line, len(before) + 1))
    return list(names.items())


def imported_names(
    items: Sequence[Extracted], files: Iterable[str], read: Callable[[str], str]
) -> list[tuple[str, Span]]:
    """The names of backends whose keys or devices are used, and whose package is imported: ``"AutogradNPU"`` and
    ``torch_npu``.

    Such a package gives the backend its name. Each with the place of the first import.
    """
    names = set(filter(is_free_backend_name, _used_names(items)))
    return [(name, at) for name, at in backend_names(files if names else (), read, _IMPORT) if name in names]


def of_package(name: str, at: Span) -> Iterator[Extracted]:
    """Kernels that the imported package of a backend registers: no more is known than that there are some."""
    block = ExtractedBlock(LibraryKind.IMPL, "aten", None, at)
    kernels = Unknown(f"one of those that torch_{name} registers")
    yield block
    yield ExtractedKernel(block, kernels, kernels, "kernel", at)


def without_names(items: Iterable[Extracted], names: Collection[str]) -> Iterator[Extracted]:
    """Yield the registrations; those for one of several backends at PrivateUse1 have the key that all of them share."""

    def shared(key: _Key) -> _Key | str:
        match = _NAME_IN_KEY.search(key) if isinstance(key, str) else None
        return key if match is None or match[1].lower() not in names else match.string[: match.start(1)] + PRIVATE_USE1

    for item in items:
        if isinstance(item, ExtractedBlock):
            item = item._replace(dispatch_key=shared(item.dispatch_key))
        elif isinstance(item, ExtractedDefinition | ExtractedKernel | ExtractedFallback):
            item = item._replace(block=item.block._replace(dispatch_key=shared(item.block.dispatch_key)))
        if isinstance(item, ExtractedKernel):
            item = item._replace(key=shared(item.key))
        if isinstance(item, ExtractedFallback):
            item = item._replace(key=shared(item.key))
        yield item


def _used_names(items: Iterable[Extracted]) -> Iterator[str]:
    """The names of backends in the keys of registrations, and the devices that these are for."""
    for item in items:
        key = key_of(item)
        if isinstance(key, str) and (in_key := _NAME_IN_KEY.search(key)) is not None:
            yield in_key[1].lower()
        devices = (*getattr(item, "devices", ()), *(getattr(item, "device_types", None) or ()))
        yield from (device for device in devices if isinstance(device, str))
